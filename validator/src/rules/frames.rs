//! What rows say: where the CFA is, and where the slots of RA and FP are, by ABI.
//!
//! Checks of kinds `RowContent` and `RowValues` look at the info byte and the data words alone: see
//! [`Check::RowContent`].

use super::context::{Check, RowContext, WordCount};
use super::{Abis, Group, Rule, Severity, Versions};
use crate::abi::Abi;
use crate::unwind::{Cfa, Recovery};

/// The row's SP-based CFA offset, where it has one.
fn sp_based(row: &RowContext<'_>) -> Option<i64> {
    match row.frame.ok()?.cfa {
        Cfa::RegisterOffset { register, offset } if register == row.layout.abi.sp() => Some(offset),
        _ => None,
    }
}

/// The stack slots of RA and FP that have a data word: name, index of the word, offset from CFA.
pub(super) fn slots(row: &RowContext<'_>) -> impl Iterator<Item = (&'static str, usize, i64)> {
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
    check: Check::RowValues(|row, report| {
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
    check: Check::RowValues(|row, report| {
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
    check: Check::RowValues(|row, report| {
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
    check: Check::RowValues(|row, report| {
        let (most, red_zone) = match row.layout.abi {
            Abi::Amd64 => (-16, 128),
            Abi::S390x | Abi::Aarch64Big | Abi::Aarch64Little => (-8, 0),
        };
        let least = match row.layout.abi {
            // The caller provides the save area, 160 bytes above the callee's SP at its entry; the
            // callee's own frame lies below it.
            Abi::S390x => sp_based(row).map(|offset| -offset.max(160)),
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
    check: Check::RowValues(|row, report| {
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

pub(super) static CONFIRMED_ODDITY: Rule = Rule {
    name: "confirmed-oddity",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a row has ordinary values, also where the CFI has the same ones",
    consequence: "None for a reader that takes the row as it is: the CFI says the same at every PC of \
                  the row, so the code does what the row says. Readers that refuse odd values lose \
                  the frame. The message names the rule that the row would break.",
    remedy: "None; or change the code or its CFI, where both were written by hand.",
    source: "observed: code that moves SP by an odd amount, that stores above its frame, or that \
             restores SP by other means than FP (nonlocal goto)",
    example: "an AMD64 row that says CFA = SP + 12, as the CFI does",
    check: Check::Confirmed,
};
