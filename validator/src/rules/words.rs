//! The info byte and the data words of rows: how many, how wide, what they may hold.
//!
//! Checks of kind `RowContent` look at the info byte and the data words alone: see
//! [`Check::RowContent`].

use super::context::{Check, WordCount};
use super::frames::slots;
use super::{Abis, Group, Rule, Severity, Versions};
use crate::section::Version;
use crate::unwind::Recovery;

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
