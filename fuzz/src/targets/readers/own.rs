//! The validator's reading of a section, in libsframe's terms.

use std::fmt::Write;

use sframe_validator::Section;
use sframe_validator::section::{Error, FrameRowEntry, Function, RowBudget, RowLayout};
use sframe_validator::unwind::{Cfa, Frame, Recovery};

use crate::peer::{Meaning, Stored};

/// A row.
#[derive(Clone, Debug)]
pub(super) struct OwnRow {
    pub(super) stored: Stored,
    /// The meaning; `None` if the row is malformed.
    pub(super) meaning: Option<Meaning>,
}

/// The rows of a function that can be read, and whether these are all.
pub(super) fn rows(function: &Function<'_>, budget: &mut RowBudget) -> (Vec<OwnRow>, bool) {
    let mut rows = Vec::new();
    let Ok(entries) = function.frame_row_entries() else { return (rows, false) };
    for entry in entries {
        let Ok(entry) = entry else { return (rows, false) };
        if budget.charge(&entry).is_err() {
            return (rows, false);
        }
        rows.push(OwnRow { stored: stored(&entry), meaning: meaning(function, &entry) });
    }
    (rows, true)
}

/// The stored row that covers a PC, and its function; `Err` if it cannot be read.
pub(super) fn find<'a>(
    section: &'a Section<'a>,
    pc: u64,
) -> Result<Option<(Function<'a>, Stored)>, Error> {
    let Some((function, row)) = section.find(pc)? else { return Ok(None) };
    let start = row.start.wrapping_sub(function.start()?.address);
    let start = function.repeat_size()?.map_or(start, |block| start % u64::from(block));
    // The last of several rows with the same start is used. A function without rows has none, and is an outermost frame
    // as a whole.
    let entries = function.frame_row_entries()?.map_while(Result::ok);
    let row = entries.filter(|entry| u64::from(entry.start) == start).last();
    Ok(row.map(|row| (function, stored(&row))))
}

fn stored(row: &FrameRowEntry<'_>) -> Stored {
    let mut words = String::new();
    for word in (0..row.words.count()).filter_map(|index| row.words.unsigned(index)) {
        for byte in &word.to_le_bytes()[..usize::from(row.words.size())] {
            write!(words, "{byte:02x}").expect("to memory");
        }
    }
    Stored { start: row.start, info: row.info.0, words }
}

fn meaning(function: &Function<'_>, row: &FrameRowEntry<'_>) -> Option<Meaning> {
    let layout = RowLayout::of(function).ok()?;
    let Frame { cfa, ra, fp, ra_signed } = layout.interpret(row).ok()?;
    let (cfa, base) = match cfa {
        Cfa::RegisterOffset { register, offset } | Cfa::Dereference { register, offset } => {
            // libsframe's numbers have 32 bits, and s390x's may be larger.
            (
                Some(i64::from(offset as i32)),
                (!layout.flexible).then(|| i64::from(register == layout.abi.sp())),
            )
        }
        Cfa::DereferencePlus { .. } | Cfa::Expression(_) | Cfa::Undefined => (None, None),
    };
    let undefined = ra == Recovery::Undefined;
    let place = |recovery| place(recovery, &layout);
    Some(Meaning { base, cfa, fp: place(fp), ra: place(ra), mangled: ra_signed, undefined })
}

/// The offset of a rule. For a rule of version 2 that names a register, the corresponding word.
fn place(recovery: Recovery, layout: &RowLayout) -> Option<i64> {
    match recovery {
        Recovery::RegisterOffset { register, .. } if !layout.flexible => {
            Some(i64::from(register.0) * 2 + 1)
        }
        Recovery::AtCfa(offset)
        | Recovery::CfaOffset(offset)
        | Recovery::AtRegister { offset, .. }
        | Recovery::RegisterOffset { offset, .. } => Some(offset),
        _ => None,
    }
}
