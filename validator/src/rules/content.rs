//! What default rows say, by ABI: their words, bases and offsets.
//!
//! Checks of kind `RowContent` look at the info byte and the data words alone: see
//! [`Check::RowContent`].

use super::context::{Check, RowContext, WordCount};
use super::{Abis, Group, Rule, Severity, Versions};
use crate::abi::Abi;
use crate::section::Version;
use crate::unwind::{Cfa, Recovery};

/// The row's SP-based CFA offset, where it has one.
fn sp_based(row: &RowContext<'_>) -> Option<i64> {
    match row.frame.ok()?.cfa {
        Cfa::RegisterOffset { register, offset } if register == row.layout.abi.sp() => Some(offset),
        _ => None,
    }
}

/// The stack slots of RA and FP that have a data word: name, index of the word, offset from CFA.
fn slots(row: &RowContext<'_>) -> impl Iterator<Item = (&'static str, usize, i64)> {
    let tracked = row.layout.fixed_ra == 0;
    // The words that hold the offsets; in flexible rows they follow their control words.
    let (ra_word, fp_word) = match (row.layout.flexible, row.row.words.count()) {
        (false, _) => (tracked.then_some(1), Some(1 + usize::from(tracked))),
        (true, 4) => (Some(3), None),
        (true, 5) => (None, Some(4)),
        (true, 6) => (Some(3), Some(5)),
        (true, _) => (None, None),
    };
    let slot = |name, word: Option<usize>, recovery| match recovery {
        Recovery::AtCfa(offset) => Some((name, word?, offset)),
        _ => None,
    };
    let frame = row.frame.ok();
    let ra = frame.and_then(|frame| slot("RA", ra_word, frame.ra));
    let fp = frame.and_then(|frame| slot("FP", fp_word, frame.fp));
    ra.into_iter().chain(fp)
}

pub(super) static WORD_COUNT: Rule = Rule {
    name: "word-count",
    group: Group::Content,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a default row has as many data words as its version and ABI have a meaning for",
    consequence: "libsframe copies the words into a buffer for 3 (V3: 6) before it looks at their \
                  number: it overwrites memory or aborts. The kernel refuses the section.",
    remedy: "Write the CFA's offset, RA's unless it is fixed, and FP's.",
    source: "V3 2.4.1, 3.1; observed: libsframe 2.44 and 2.47, the kernel's patches",
    example: "an AMD64 row with 3 data words",
    check: Check::RowContent(|row, report| {
        let count = row.row.info.word_count();
        let most = row.layout.max_default_words();
        // Errata 2 of version 2 gave the absence of words a meaning.
        let least = u8::from(row.layout.version == Version::V1);
        if !row.layout.flexible && !(least..=most).contains(&count) {
            report.field(
                row.info(),
                WordCount(count),
                format_args!("{least} to {most}"),
                format_args!(
                    "row {} has {}, on {} a row has {least} to {most}",
                    row.index,
                    WordCount(count),
                    row.layout.abi
                ),
            );
        }
    }),
};

pub(super) static WORD_COUNT_ZERO: Rule = Rule {
    name: "word-count-zero",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::V2,
    abis: Abis::ALL,
    summary: "before errata 1 of version 2 a row has a data word",
    consequence: "Only errata 2 of version 2 gives its absence a meaning: the outermost frame. \
                  Readers from before do not know it, and the kernel's refuse the section.",
    remedy: "Write version 3, or leave the function out.",
    source: "V2 errata 2; observed: the kernel's version 2 reader",
    example: "a version 2 row with info byte 0, without the PC-relative flag",
    check: Check::RowContent(|row, report| {
        let early = !row.function.section().header().flags.pcrel();
        if row.row.info.word_count() == 0 && early {
            report.field(
                row.info(),
                WordCount(0),
                "at least 1",
                format_args!("row {} has no data words", row.index),
            );
        }
    }),
};

pub(super) static OUTERMOST_INFO: Rule = Rule {
    name: "outermost-info",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    summary: "the info byte of a row without data words is 0",
    consequence: "None: base, word size and signature have no meaning there.",
    remedy: "Write 0.",
    source: "observed: GNU as 2.47",
    example: "a version 3 row with info byte 1",
    check: Check::RowContent(|row, report| {
        let info = row.row.info;
        if info.word_count() == 0 && info.0 != 0 {
            report.field(
                row.info(),
                format_args!("{:#04x}", info.0),
                "0x00",
                format_args!("row {} has no data words, but bits that are about them", row.index),
            );
        }
    }),
};

pub(super) static WORD_SIZE_WIDE: Rule = Rule {
    name: "word-size-wide",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the data words are the narrowest that hold the row's values",
    consequence: "The row takes more bytes than it needs.",
    remedy: "Choose 1, 2 or 4 bytes by the largest value.",
    source: "observed: GNU as and LLVM choose the narrowest",
    example: "a row whose only word 8 takes 4 bytes",
    check: Check::RowContent(|row, report| {
        let words = &row.row.words;
        // In a flexible row the first word of a pair is unsigned; the padding word fits anything.
        let control = |index: usize| match (row.layout.flexible, words.count()) {
            (false, _) => false,
            (true, 5) => matches!(index, 0 | 2 | 3),
            (true, _) => index.is_multiple_of(2),
        };
        let width = |index: usize| {
            let (byte, half) = if control(index) {
                let word = words.unsigned(index).unwrap_or(0);
                (u8::try_from(word).is_ok(), u16::try_from(word).is_ok())
            } else {
                let word = words.signed(index).unwrap_or(0);
                (i8::try_from(word).is_ok(), i16::try_from(word).is_ok())
            };
            if byte {
                1
            } else if half {
                2
            } else {
                4
            }
        };
        let needed = (0..words.count()).map(width).max();
        if let Some(needed) = needed.filter(|&needed| needed < words.size()) {
            report.field(
                row.info(),
                format_args!("{} bytes a word", words.size()),
                format_args!("{needed}"),
                format_args!(
                    "row {}'s data words take {} bytes each, {needed} would do",
                    row.index,
                    words.size()
                ),
            );
        }
    }),
};

pub(super) static MANGLED_RA: Rule = Rule {
    name: "mangled-ra",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::AMD64.or(Abis::S390X),
    summary: "no return address is marked as signed on machines without pointer authentication",
    consequence: "None known; the bit is for AArch64.",
    remedy: "Clear bit 7 of the info byte.",
    source: "V3 2.4.1",
    example: "an AMD64 row with info byte 0x83",
    check: Check::RowContent(|row, report| {
        if row.row.info.mangled_ra() {
            report.field(
                row.info(),
                format_args!("{:#04x}", row.row.info.0),
                "bit 0x80 clear",
                format_args!("row {} says that the return address is signed", row.index),
            );
        }
    }),
};

pub(super) static CFA_OFFSET_LOW: Rule = Rule {
    name: "cfa-offset-low",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "an SP-based CFA is not below what SP can be: AMD64 SP + 8, AArch64 SP, s390x SP + 160",
    consequence: "The CFA lies below the stack pointer: the frame of the caller is misplaced.",
    remedy: "Check the CFI of hand-written code.",
    source: "the machines' ELF ABIs; observed: GNU as takes any offset from user CFI",
    example: "an AMD64 row that says CFA = SP - 8",
    check: Check::RowContent(|row, report| {
        let least = match row.layout.abi {
            // Once the return address is taken off the stack, SP may be the CFA.
            Abi::Amd64 if row.frame.is_ok_and(|frame| frame.ra == Recovery::AtCfa(-8)) => 8,
            Abi::S390x => 160,
            Abi::Amd64 | Abi::Aarch64Big | Abi::Aarch64Little => 0,
        };
        let Some(offset) = sp_based(row).filter(|&offset| offset < least) else { return };
        report.field(
            row.word(usize::from(row.layout.flexible)),
            offset,
            format_args!("at least {least}"),
            format_args!("row {} says CFA = SP{offset:+}, below the caller's frame", row.index),
        );
    }),
};

pub(super) static CFA_ALIGNMENT: Rule = Rule {
    name: "cfa-alignment",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::AMD64.or(Abis::AARCH64),
    summary: "an SP-based CFA offset is a multiple of 8 on AMD64, of 16 on AArch64",
    consequence: "The stack pointer is not aligned as the ABI asks, or the offset is wrong: then \
                  every frame from here on is.",
    remedy: "Check the CFI of hand-written code.",
    source: "the machines' ELF ABIs",
    example: "an AMD64 row that says CFA = SP + 12",
    check: Check::RowContent(|row, report| {
        let unit = if row.layout.abi == Abi::Amd64 { 8 } else { 16 };
        let Some(offset) = sp_based(row).filter(|offset| offset % unit != 0) else { return };
        report.field(
            row.word(usize::from(row.layout.flexible)),
            offset,
            format_args!("a multiple of {unit}"),
            format_args!("row {} says CFA = SP{offset:+}", row.index),
        );
    }),
};

pub(super) static CFA_OFFSET_HUGE: Rule = Rule {
    name: "cfa-offset-huge",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a CFA offset is below 16 MiB",
    consequence: "A frame of this size does not fit the usual stack of 8 MiB.",
    remedy: "Check the function's frame size.",
    source: "observed: binutils PR 33277",
    example: "a row that says CFA = SP + 33554432",
    check: Check::RowContent(|row, report| {
        const LIMIT: u64 = 16 << 20;
        let Ok(frame) = row.frame else { return };
        let (Cfa::RegisterOffset { offset, .. } | Cfa::Dereference { offset, .. }) = frame.cfa
        else {
            return;
        };
        if offset.unsigned_abs() >= LIMIT {
            report.field(
                row.word(usize::from(row.layout.flexible)),
                offset,
                format_args!("below {LIMIT}"),
                format_args!("row {} puts the CFA {offset} bytes from its base", row.index),
            );
        }
    }),
};

pub(super) static SLOT_ALIGNMENT: Rule = Rule {
    name: "slot-alignment",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the stack slots of RA and FP are multiples of 8 from the CFA",
    consequence: "A reader loads 8 bytes that straddle two slots, or faults.",
    remedy: "Check how the offset was computed.",
    source: "the machines' ELF ABIs; V2 errata 1 (s390x uses odd words for registers)",
    example: "an AMD64 row with FP at CFA - 20",
    check: Check::RowContent(|row, report| {
        for (name, index, offset) in slots(row) {
            // In version 3 an odd word on s390x has a rule of its own.
            let register = row.layout.abi == Abi::S390x && offset & 1 != 0;
            if offset % 8 != 0 && !register {
                report.field(
                    row.word(index),
                    offset,
                    "a multiple of 8",
                    format_args!("row {} puts {name} at CFA{offset:+}", row.index),
                );
            }
        }
    }),
};

pub(super) static SLOT_OUTSIDE_FRAME: Rule = Rule {
    name: "slot-outside-frame",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the stack slots of RA and FP lie in the function's own frame",
    consequence: "A reader loads a register from the caller's frame, from RA's own slot, or from \
                  below the stack pointer, where signal handlers write.",
    remedy: "Check the CFI of hand-written code.",
    source: "the machines' ELF ABIs: AMD64 has RA at CFA - 8 and a red zone of 128 bytes, s390x a \
             register save area of 160 bytes below the CFA",
    example: "an AMD64 row with FP at CFA + 16",
    check: Check::RowContent(|row, report| {
        let (most, red_zone) = match row.layout.abi {
            Abi::Amd64 => (-16, 128),
            Abi::S390x | Abi::Aarch64Big | Abi::Aarch64Little => (-8, 0),
        };
        let least = match row.layout.abi {
            // Callers give the save area: it is above the callee's SP from its entry on.
            Abi::S390x => Some(-160),
            _ => sp_based(row).map(|offset| -offset - red_zone),
        };
        for (name, index, offset) in slots(row) {
            let below = least.is_some_and(|least| offset < least);
            // On AMD64 RA has a slot of its own, right below the CFA.
            let most = if name == "RA" { -8 } else { most };
            // In version 3 an odd word on s390x has a rule of its own.
            let register = row.layout.abi == Abi::S390x && offset & 1 != 0;
            if (offset > most || below) && !register {
                report.field(
                    row.word(index),
                    offset,
                    match least {
                        Some(least) => alloc::format!("{least} to {most}"),
                        None => alloc::format!("at most {most}"),
                    },
                    format_args!(
                        "row {} puts {name} at CFA{offset:+}, outside of the frame",
                        row.index
                    ),
                );
            }
        }
    }),
};

pub(super) static FP_LOST: Rule = Rule {
    name: "fp-lost",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a row whose CFA is based on FP says where the caller's FP is",
    consequence: "FP holds this function's frame, and nothing says what the caller's was: the next \
                  frame that is based on FP is wrong.",
    remedy: "Check that the function saves FP before it changes it, and says so in its CFI.",
    source: "V3 3.1; the machines' ELF ABIs (FP is preserved across calls)",
    example: "an AMD64 row that says CFA = FP + 16 and nothing of FP",
    check: Check::RowContent(|row, report| {
        let Ok(frame) = row.frame else { return };
        let fp_based = match frame.cfa {
            Cfa::RegisterOffset { register, .. } => register == row.layout.abi.fp(),
            _ => false,
        };
        if fp_based && !row.layout.flexible && frame.fp == Recovery::Unchanged {
            report.field(
                row.info(),
                WordCount(row.row.info.word_count()),
                row.layout.max_default_words(),
                format_args!(
                    "row {}'s CFA is based on FP, but the caller's FP is not recovered",
                    row.index
                ),
            );
        }
    }),
};

pub(super) static FRAME_RECORD_SPLIT: Rule = Rule {
    name: "frame-record-split",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::AARCH64,
    summary: "FP and RA are saved side by side, FP first, as AArch64's frame record asks",
    consequence: "Tracers that follow frame records take another value for the return address.",
    remedy: "Check the function's CFI.",
    source: "AAPCS64, \"The Frame Pointer\"",
    example: "an AArch64 row with RA at CFA - 16 and FP at CFA - 8",
    check: Check::RowContent(|row, report| {
        let Ok(frame) = row.frame else { return };
        let (Recovery::AtCfa(ra), Recovery::AtCfa(fp)) = (frame.ra, frame.fp) else { return };
        if fp.checked_add(8) != Some(ra) {
            report.field(
                row.word(2),
                fp,
                ra.saturating_sub(8),
                format_args!("row {} puts RA at CFA{ra:+}, but FP at CFA{fp:+}", row.index),
            );
        }
    }),
};

pub(super) static RA_PADDING_UNNEEDED: Rule = Rule {
    name: "ra-padding-unneeded",
    group: Group::Content,
    severity: Severity::Warning,
    versions: Versions::SINCE_2,
    abis: Abis::S390X,
    summary: "RA's word is 0 (not saved) only where FP's word follows",
    consequence: "None for readers that know the padding; others take it for RA at CFA + 0.",
    remedy: "Leave the word out.",
    source: "V2 errata 1 (SFRAME_FRE_RA_OFFSET_INVALID), V3 3.1.3",
    example: "an s390x row with the words CFA and 0",
    check: Check::RowContent(|row, report| {
        let words = &row.row.words;
        if !row.layout.flexible && words.count() == 2 && words.signed(1) == Some(0) {
            report.field(
                row.word(1),
                0,
                "no second word",
                format_args!("row {} pads RA's word, but has no word for FP behind it", row.index),
            );
        }
    }),
};

pub(super) static REGISTER_IN_DEFAULT_ROW: Rule = Rule {
    name: "register-in-default-row",
    group: Group::Content,
    severity: Severity::Error,
    versions: Versions::V3,
    abis: Abis::S390X,
    summary: "version 3 does not store registers in the words of default rows",
    consequence: "Readers of version 3 load a stack slot at an odd address where version 2 meant a \
                  register.",
    remedy: "Write FDE type FLEX.",
    source: "V3 1.2 (last point)",
    example: "a version 3 s390x row with FP's word 33, which in version 2 meant register 16",
    check: Check::RowContent(|row, report| {
        for (name, index, offset) in slots(row) {
            if offset & 1 != 0 {
                report.field(
                    row.word(index),
                    offset,
                    "a multiple of 8",
                    format_args!(
                        "row {}'s word for {name} is odd: in version 2 that was register {}",
                        row.index,
                        offset >> 1
                    ),
                );
            }
        }
    }),
};

pub(super) static REGISTER_NUMBER: Rule = Rule {
    name: "register-number",
    group: Group::Content,
    severity: Severity::Error,
    versions: Versions::V2,
    abis: Abis::S390X,
    summary: "an odd word for RA or FP names one of the registers 0 to 31",
    consequence: "There is no such register: the frame cannot be recovered.",
    remedy: "Encode general and floating-point registers alone.",
    source: "V2 errata 1 (SFRAME_V2_S390X_OFFSET_ENCODE_REGNUM); the s390x ELF ABI's numbering",
    example: "a version 2 s390x row with FP's word 65, register 32",
    check: Check::RowContent(|row, report| {
        let Ok(frame) = row.frame else { return };
        if row.layout.version != Version::V2 {
            return;
        }
        for (name, index, recovery) in [("RA", 1, frame.ra), ("FP", 2, frame.fp)] {
            if let Recovery::RegisterOffset { register, .. } = recovery
                && register.0 > 31
            {
                report.field(
                    row.word(index),
                    register.0.cast_signed(),
                    "0 to 31",
                    format_args!(
                        "row {} says that {name} is in register {}, which does not exist",
                        row.index,
                        register.0.cast_signed()
                    ),
                );
            }
        }
    }),
};

pub(super) static RA_WITHOUT_FP: Rule = Rule {
    name: "ra-without-fp",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::AARCH64,
    summary: "an AArch64 row has 1 or 3 data words: RA is saved together with FP",
    consequence: "A reader that knows only 1 and 3 words refuses the row. In version 1 the second \
                  word may also be FP's: GNU as 2.40 writes that where RA is not saved.",
    remedy: "Compare with the function's CFI.",
    source: "V3 3.1.2 (\"either 1 or 3\"), V1 1.4; observed: GNU as writes 2 where RA is saved alone",
    example: "an AArch64 row with the words CFA and RA",
    check: Check::RowContent(|row, report| {
        if !row.layout.flexible && row.row.words.count() == 2 {
            report.field(
                row.info(),
                WordCount(2),
                "1 or 3",
                format_args!("row {} saves RA, but not FP", row.index),
            );
        }
    }),
};

pub(super) static FP_SLOT_ELSEWHERE: Rule = Rule {
    name: "fp-slot-elsewhere",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::AMD64.or(Abis::AARCH64),
    summary: "where the CFA is based on FP, the caller's FP is saved where FP points",
    consequence: "Tracers that follow frame pointers take another value for the next one; or the \
                  row's offsets are wrong.",
    remedy: "Compare with the function's prologue.",
    source: "AAPCS64, \"The Frame Pointer\"; System V ABI AMD64, 3.2.2",
    example: "an AMD64 row that says CFA = FP + 16 and FP at CFA - 24",
    check: Check::RowContent(|row, report| {
        let Ok(frame) = row.frame else { return };
        let Cfa::RegisterOffset { register, offset } = frame.cfa else { return };
        if register != row.layout.abi.fp() {
            return;
        }
        for (name, index, slot) in slots(row) {
            if name == "FP" && offset.checked_add(slot) != Some(0) {
                report.field(
                    row.word(index),
                    slot,
                    -offset,
                    format_args!(
                        "row {} says CFA = FP{offset:+}, but puts the caller's FP at CFA{slot:+}",
                        row.index
                    ),
                );
            }
        }
    }),
};
