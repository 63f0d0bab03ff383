//! Other ways to store the same rows.

use sframe_validator::section::{FdeType, Flags, FreType};
use sframe_validator::{Abi, Endian, Version};

use crate::{Seeded, Variation, any_function, any_row, when};
use sframe_validator::write::{StoredFunction, StoredRow, StoredSection};

fn shuffle<T>(items: &mut [T], random: &mut Seeded) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
}

fn filler(random: &mut Seeded) -> Vec<u8> {
    // No magic number starts with this byte.
    vec![0x55; 1 + random.below(16)]
}

/// Converts the words of a default row to those of a flexible row.
fn flexible_words(row: &StoredRow, abi: Abi) -> Vec<u32> {
    let base = if row.base_sp { abi.sp() } else { abi.fp() };
    let control = base.0 << 3 | 1;
    let tracked = abi != Abi::Amd64;
    match row.words[..] {
        [cfa] => vec![control, cfa],
        [cfa, fp] if !tracked => vec![control, cfa, 0, 2, fp],
        [cfa, ra] => vec![control, cfa, 2, ra],
        [cfa, 0, fp] if abi == Abi::S390x => vec![control, cfa, 0, 2, fp],
        [cfa, ra, fp] => vec![control, cfa, 2, ra, 2, fp],
        _ => Vec::new(),
    }
}

/// Clears the sorted flag of a table that is no longer sorted.
fn unsort(parts: &mut StoredSection) {
    parts.header.flags &= !Flags::SORTED;
}

pub(super) const VARIATIONS: &[Variation] = &[
    Variation {
        name: "functions' rows in another order",
        apply: |parts, random| {
            shuffle(&mut parts.row_order, random);
            Some(())
        },
    },
    Variation {
        name: "functions in another order",
        apply: |parts, random| {
            unsort(parts);
            let mut order: Vec<usize> = (0..parts.functions.len()).collect();
            shuffle(&mut order, random);
            parts.functions = order.iter().map(|place| parts.functions[*place].clone()).collect();
            for block in &mut parts.row_order {
                *block = order.iter().position(|place| place == block)?;
            }
            Some(())
        },
    },
    Variation {
        name: "a row split in two equal ones",
        apply: |parts, random| {
            let unit = parts.abi.instruction_alignment();
            let function = any_function(parts, random, |f| !f.rows.is_empty())?;
            let place = random.below(function.rows.len());
            let row = function.rows[place].clone();
            let next = function.rows.get(place + 1).map_or(function.length(), |next| next.start);
            let room = next.checked_sub(row.start + unit)? / unit;
            when(room > 0)?;
            let start = row.start + unit + random.below(room as usize) as u32 * unit;
            when(start <= function.largest_start())?;
            function.rows.insert(place + 1, StoredRow { start, ..row });
            Some(())
        },
    },
    Variation {
        name: "a row that the next one replaces",
        apply: |parts, random| {
            let function = any_function(parts, random, |f| !f.rows.is_empty())?;
            let place = random.below(function.rows.len());
            let other = function.rows[random.below(function.rows.len())].clone();
            let start = function.rows[place].start;
            function.rows.insert(place, StoredRow { start, ..other });
            Some(())
        },
    },
    Variation {
        name: "a row at the function's end",
        apply: |parts, random| {
            let fits = |f: &StoredFunction| {
                !f.repeats() && !f.rows.is_empty() && f.size <= f.largest_start()
            };
            let function = any_function(parts, random, fits)?;
            let row = function.rows[random.below(function.rows.len())].clone();
            function.rows.push(StoredRow { start: function.size, ..row });
            Some(())
        },
    },
    Variation {
        name: "wider words",
        apply: |parts, random| {
            let (row, fde_type) = any_row(parts, random, |_, r| r.width < 4)?;
            let width = if random.below(2) == 0 { 2 } else { 4 };
            row.widen(fde_type, width);
            Some(())
        },
    },
    Variation {
        name: "wider start fields",
        apply: |parts, random| {
            let function = any_function(parts, random, |f| f.fre_type < FreType::Addr4)?;
            function.fre_type = match (function.fre_type, random.below(2)) {
                (FreType::Addr1, 0) => FreType::Addr2,
                _ => FreType::Addr4,
            };
            function.info = function.info & 0xf0 | function.fre_type.code();
            Some(())
        },
    },
    Variation {
        name: "flexible rows instead of default ones",
        apply: |parts, random| {
            let abi = parts.abi;
            when(parts.version == Version::V3)?;
            let function = any_function(parts, random, |f| {
                f.fde_type() == FdeType::Default && !f.rows.is_empty()
            })?;
            for row in &mut function.rows {
                // A control word for SP on AArch64 needs more than 7 bits, unsigned.
                row.words = flexible_words(row, abi);
                row.base_sp = false;
            }
            function.info2 |= 1;
            Some(())
        },
    },
    Variation {
        name: "an auxiliary header",
        apply: |parts, random| {
            parts.auxiliary = filler(random);
            Some(())
        },
    },
    Variation {
        name: "a gap before the functions",
        apply: |parts, random| {
            parts.gap_before_functions = filler(random);
            Some(())
        },
    },
    Variation {
        name: "a gap before the rows",
        apply: |parts, random| {
            parts.gap_before_rows = filler(random);
            Some(())
        },
    },
    Variation {
        name: "a gap between rows",
        apply: |parts, random| {
            any_function(parts, random, |_| true)?.hole = filler(random);
            Some(())
        },
    },
    Variation {
        name: "bytes after the section",
        apply: |parts, random| {
            parts.trailing = filler(random);
            Some(())
        },
    },
    Variation {
        name: "start fields with another base",
        apply: |parts, _| {
            when(parts.version == Version::V2)?;
            parts.pcrel = !parts.pcrel;
            parts.header.flags ^= Flags::PCREL;
            Some(())
        },
    },
    Variation {
        name: "the other byte order",
        apply: |parts, _| {
            parts.endian = match parts.endian {
                Endian::Little => Endian::Big,
                Endian::Big => Endian::Little,
            };
            Some(())
        },
    },
];
