//! Defects of counts and offsets in the header, and of the parts that fill the section.

use sframe_validator::section::HEADER_SIZE;

use crate::{Defect, Seeded, when};
use sframe_validator::write::StoredSection;

/// Rules that report a wrong place or size of the function table.
const TABLE: &[&str] = &[
    "function-table-outside",
    "subsection-overlap",
    "subsection-gap",
    "version-entry-size",
    "function-table-offset",
];

/// A number to add, often small, but possibly of any size.
fn amount(random: &mut Seeded) -> u32 {
    match random.below(4) {
        0 => 1,
        1 | 2 => 1 + random.below(64) as u32,
        _ => 1 + (random.next() as u32 >> 1),
    }
}

fn count(parts: &StoredSection) -> u32 {
    parts.functions.len() as u32
}

fn rows(parts: &StoredSection) -> u32 {
    parts.functions.iter().map(|function| function.rows.len() as u32).sum()
}

/// The offsets that the header has without a defect.
fn offsets(parts: &StoredSection) -> (u32, u32, u32) {
    let fdeoff = parts.gap_before_functions.len() as u32;
    let table = count(parts) * parts.version.entry_size() as u32;
    (fdeoff, fdeoff + table + parts.gap_before_rows.len() as u32, parts.rows().0.len() as u32)
}

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        name: "an auxiliary header longer than the section",
        noticed_by: &["auxiliary-header-outside"],
        apply: |parts, random| {
            let room = parts.bytes().len().checked_sub(HEADER_SIZE as usize)?;
            let length = u8::try_from(room + 1 + random.below(255)).ok()?;
            parts.header.auxhdr_len = Some(length);
            Some(())
        },
    },
    Defect {
        name: "a count of more functions than exist",
        noticed_by: TABLE,
        apply: |parts, random| {
            parts.header.num_fdes = Some(count(parts).saturating_add(amount(random)));
            Some(())
        },
    },
    Defect {
        name: "a count of fewer functions than exist",
        noticed_by: TABLE,
        apply: |parts, random| {
            parts.header.num_fdes = Some(count(parts).checked_sub(amount(random))?);
            Some(())
        },
    },
    Defect {
        name: "another number of rows",
        noticed_by: &["row-count-total", "no-rows"],
        apply: |parts, random| {
            let (rows, by) = (rows(parts), amount(random));
            let less = rows.checked_sub(by).filter(|_| by % 2 == 0);
            parts.header.num_fres = Some(less.unwrap_or(rows.saturating_add(by)));
            Some(())
        },
    },
    Defect {
        name: "rows longer than the section",
        noticed_by: &["rows-outside"],
        apply: |parts, random| {
            when(parts.trailing.is_empty())?;
            parts.header.fre_len = Some(offsets(parts).2.saturating_add(amount(random)));
            Some(())
        },
    },
    Defect {
        name: "rows shorter than they are",
        noticed_by: &["row-truncated", "rows-offset-outside"],
        apply: |parts, random| {
            parts.header.fre_len = Some(offsets(parts).2.checked_sub(amount(random))?);
            Some(())
        },
    },
    Defect {
        name: "a function table further on",
        noticed_by: TABLE,
        apply: |parts, random| {
            parts.header.fdeoff = Some(offsets(parts).0.saturating_add(amount(random)));
            Some(())
        },
    },
    Defect {
        name: "rows further on",
        noticed_by: &["rows-outside", "subsection-gap", "version-entry-size"],
        apply: |parts, random| {
            parts.header.freoff = Some(offsets(parts).1.saturating_add(amount(random)));
            Some(())
        },
    },
    Defect {
        name: "rows inside the function table",
        noticed_by: &["subsection-overlap", "version-entry-size"],
        apply: |parts, random| {
            parts.header.freoff = Some(offsets(parts).1.checked_sub(amount(random))?);
            Some(())
        },
    },
    Defect {
        name: "a truncated section",
        noticed_by: &[
            "section-empty",
            "section-truncated",
            "function-table-outside",
            "rows-outside",
        ],
        apply: |parts, random| {
            when(parts.trailing.is_empty())?;
            parts.cut = 1 + random.below(parts.bytes().len().max(1));
            Some(())
        },
    },
    Defect {
        name: "a second section after the first",
        noticed_by: &["concatenated-section"],
        apply: |parts, random| {
            when(parts.trailing.is_empty())?;
            let mut second = parts.bytes();
            let padding = second.len().next_multiple_of(8) - second.len();
            let padding = if random.below(2) == 0 { 0 } else { padding };
            second.splice(..0, vec![0; padding]);
            parts.trailing = second;
            Some(())
        },
    },
    Defect {
        name: "bytes after the section",
        noticed_by: &["trailing-bytes"],
        apply: |parts, random| {
            let length = 1 + random.below(16);
            // No magic number starts with this byte.
            parts.trailing = vec![0x55; length];
            Some(())
        },
    },
    Defect {
        name: "bytes between rows",
        noticed_by: &["rows-unused"],
        apply: |parts, random| {
            let length = 1 + random.below(8);
            let hole = random.bytes(length);
            match parts.functions.len() {
                0 => parts.unused_rows = hole,
                some => parts.functions[random.below(some)].hole = hole,
            }
            Some(())
        },
    },
];
