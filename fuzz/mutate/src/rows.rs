//! Defects of the places of rows.

use crate::{Defect, any_function, any_row, when};
use sframe_validator::write::StoredFunction;

fn plain(function: &StoredFunction) -> bool {
    !function.repeats() && !function.rows.is_empty()
}

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        name: "a row of unknown length",
        noticed_by: &["word-size-reserved"],
        apply: |parts, random| {
            let (row, _) = any_row(parts, random, |_, _| true)?;
            row.info = Some(row.stored_info() | 0x60);
            Some(())
        },
    },
    Defect {
        name: "two exchanged rows",
        noticed_by: &["row-order"],
        apply: |parts, random| {
            let function = any_function(parts, random, |f| f.rows.len() > 1)?;
            let first = random.below(function.rows.len() - 1);
            let starts = (function.rows[first].start, function.rows[first + 1].start);
            function.rows[first].start = starts.1;
            function.rows[first + 1].start = starts.0;
            when(starts.0 != starts.1)
        },
    },
    Defect {
        name: "two rows at one place",
        noticed_by: &["row-duplicate-start"],
        apply: |parts, random| {
            let function = any_function(parts, random, |f| f.rows.len() > 1)?;
            let first = random.below(function.rows.len() - 1);
            function.rows[first + 1].start = function.rows[first].start;
            Some(())
        },
    },
    Defect {
        name: "a row past its function",
        noticed_by: &["row-past-end"],
        apply: |parts, random| {
            let fits = |f: &StoredFunction| plain(f) && f.size < f.largest_start();
            let function = any_function(parts, random, fits)?;
            let room = function.largest_start() - function.size;
            let start = function.size + 1 + random.next() as u32 % room;
            function.rows.last_mut()?.start = start;
            Some(())
        },
    },
    Defect {
        name: "a row at its function's end",
        noticed_by: &["row-at-end"],
        apply: |parts, random| {
            let fits = |f: &StoredFunction| plain(f) && f.size > 0 && f.size <= f.largest_start();
            let function = any_function(parts, random, fits)?;
            let size = function.size;
            function.rows.last_mut()?.start = size;
            Some(())
        },
    },
    Defect {
        name: "a function that starts without a row",
        noticed_by: &["first-row-offset"],
        apply: |parts, random| {
            let start = 1 + random.below(16) as u32;
            any_function(parts, random, |f| !f.rows.is_empty())?.rows[0].start = start;
            Some(())
        },
    },
    Defect {
        name: "a row past its block",
        noticed_by: &["row-outside-block"],
        apply: |parts, random| {
            let fits = |f: &StoredFunction| f.repeats() && f.rep_size > 0 && !f.rows.is_empty();
            let function = any_function(parts, random, fits)?;
            let block = u32::from(function.rep_size);
            let room = function.largest_start() - block + 1;
            let start = block + random.next() as u32 % room;
            function.rows.last_mut()?.start = start;
            Some(())
        },
    },
    Defect {
        name: "a row that starts inside an instruction",
        noticed_by: &["row-alignment"],
        apply: |parts, random| {
            when(parts.abi.instruction_alignment() > 1)?;
            any_row(parts, random, |_, _| true)?.0.start |= 1;
            Some(())
        },
    },
];
