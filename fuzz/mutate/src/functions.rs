//! Defects of function table entries and of attributes.

use sframe_validator::Version;
use sframe_validator::section::FdeType;

use crate::{Defect, Seeded, any_function, when};
use sframe_validator::write::{StoredFunction, StoredSection};

/// Whether the function's rows occupy bytes.
fn has_block(parts: &StoredSection, function: &StoredFunction) -> bool {
    parts.version == Version::V3 || !function.rows.is_empty()
}

/// Two non-empty functions, the first of which starts earlier.
fn two(parts: &StoredSection, random: &mut Seeded) -> Option<(usize, usize)> {
    let mut places: Vec<usize> =
        (0..parts.functions.len()).filter(|place| parts.functions[*place].size > 0).collect();
    places.sort_by_key(|place| parts.functions[*place].start);
    let first = random.below(places.len().checked_sub(1).filter(|rest| *rest > 0)?);
    let second = first + 1 + random.below(places.len() - first - 1);
    Some((places[first], places[second]))
}

pub(super) const DEFECTS: &[Defect] = &[
    Defect {
        name: "rows that start after all rows",
        noticed_by: &["rows-offset-outside"],
        apply: |parts, random| {
            let length = parts.rows().0.len() as u32;
            let function = any_function(parts, random, |f| !f.rows.is_empty())?;
            let room = u32::MAX - length;
            let far = random.next() as u32 % room;
            function.fre_offset = Some(length + if random.below(2) == 0 { 0 } else { far });
            Some(())
        },
    },
    Defect {
        name: "rows that are another function's",
        // If it is read with start fields of another width, the first row may have no known length.
        noticed_by: &["rows-overlap", "word-size-reserved", "row-truncated"],
        apply: |parts, random| {
            let with_blocks: Vec<usize> = (0..parts.functions.len())
                .filter(|place| has_block(parts, &parts.functions[*place]))
                .collect();
            when(with_blocks.len() > 1)?;
            let first = random.below(with_blocks.len());
            let second = (first + 1 + random.below(with_blocks.len() - 1)) % with_blocks.len();
            let offset = parts.rows().1[with_blocks[first]];
            parts.functions[with_blocks[second]].fre_offset = Some(offset);
            Some(())
        },
    },
    Defect {
        name: "more rows than the function has",
        noticed_by: &["rows-overlap", "row-truncated", "word-size-reserved", "rows-offset-outside"],
        apply: |parts, random| {
            let most = if parts.version == Version::V3 { 0xffff } else { u32::MAX };
            let function = any_function(parts, random, |_| true)?;
            let count = function.rows.len() as u32;
            let more = 1 + random.next() as u32 % if random.below(2) == 0 { 2 } else { 0xff00 };
            function.num_fres = Some(count.saturating_add(more).min(most));
            Some(())
        },
    },
    Defect {
        name: "fewer rows than the function has",
        noticed_by: &["rows-unused"],
        apply: |parts, random| {
            let function = any_function(parts, random, |f| !f.rows.is_empty())?;
            function.num_fres = Some(random.below(function.rows.len()) as u32);
            Some(())
        },
    },
    Defect {
        name: "an FRE type that does not exist",
        noticed_by: &["fre-type"],
        apply: |parts, random| {
            let function = any_function(parts, random, |_| true)?;
            function.info = function.info & 0xf0 | (3 + random.below(13)) as u8;
            Some(())
        },
    },
    Defect {
        name: "an unused bit of the info byte",
        noticed_by: &["function-info-reserved"],
        apply: |parts, random| {
            let bit = if parts.version < Version::V3 { 0x40 << random.below(2) } else { 0x40 };
            any_function(parts, random, |_| true)?.info |= bit;
            Some(())
        },
    },
    Defect {
        name: "a key for return addresses on a machine without keys",
        noticed_by: &["pauth-key"],
        apply: |parts, random| {
            when(!parts.abi.is_aarch64())?;
            any_function(parts, random, |_| true)?.info |= 0x20;
            Some(())
        },
    },
    Defect {
        name: "an FDE type that does not exist",
        noticed_by: &["fde-type"],
        apply: |parts, random| {
            when(parts.version == Version::V3)?;
            let function = any_function(parts, random, |_| true)?;
            function.info2 = function.info2 & 0xe0 | (2 + random.below(30)) as u8;
            Some(())
        },
    },
    Defect {
        name: "an unused bit of the second info byte",
        noticed_by: &["function-info2-reserved"],
        apply: |parts, random| {
            when(parts.version == Version::V3)?;
            any_function(parts, random, |_| true)?.info2 |= 0x20 << random.below(3);
            Some(())
        },
    },
    Defect {
        name: "padding that is not zero",
        noticed_by: &["function-padding"],
        apply: |parts, random| {
            when(parts.version == Version::V2)?;
            let padding = random.next() as u16;
            any_function(parts, random, |_| true)?.padding = padding;
            when(padding != 0)
        },
    },
    Defect {
        name: "rows that repeat with block size 0",
        noticed_by: &["repeat-size-zero"],
        apply: |parts, random| {
            when(parts.version > Version::V1)?;
            let function = any_function(parts, random, |_| true)?;
            function.info |= 0x10;
            function.rep_size = 0;
            Some(())
        },
    },
    Defect {
        name: "a truncated last block",
        noticed_by: &["repeat-size-multiple"],
        apply: |parts, random| {
            when(parts.version > Version::V1)?;
            let function = any_function(parts, random, |f| f.size > 1)?;
            function.info |= 0x10;
            function.rep_size = 2 + random.below(254) as u8;
            when(!function.size.is_multiple_of(function.rep_size.into()))
        },
    },
    Defect {
        name: "a function of no bytes",
        noticed_by: &["function-size-zero"],
        apply: |parts, random| {
            any_function(parts, random, |_| true)?.size = 0;
            Some(())
        },
    },
    Defect {
        name: "two exchanged entries",
        noticed_by: &["function-order"],
        apply: |parts, random| {
            when(parts.header.flags & 1 != 0)?;
            let (first, second) = two(parts, random)?;
            parts.functions.swap(first, second);
            Some(())
        },
    },
    Defect {
        name: "a function that overlaps the next",
        noticed_by: &["function-overlap"],
        apply: |parts, random| {
            let (first, second) = two(parts, random)?;
            let distance = parts.functions[second].start - parts.functions[first].start;
            parts.functions[first].size = u32::try_from(distance.checked_add(1)?).ok()?;
            Some(())
        },
    },
    Defect {
        name: "two entries for the same code",
        noticed_by: &["function-duplicate"],
        apply: |parts, random| {
            let (first, second) = two(parts, random)?;
            parts.functions[second].start = parts.functions[first].start;
            parts.functions[second].size = parts.functions[first].size;
            Some(())
        },
    },
    Defect {
        name: "a function that starts inside an instruction",
        noticed_by: &["function-alignment"],
        apply: |parts, random| {
            when(parts.abi.instruction_alignment() > 1)?;
            any_function(parts, random, |_| true)?.start |= 1;
            Some(())
        },
    },
    Defect {
        name: "a function that ends past the last address",
        noticed_by: &["function-past-code"],
        apply: |parts, random| {
            when(parts.version == Version::V3)?;
            let function = any_function(parts, random, |f| f.size > 0)?;
            function.start = u64::MAX - random.below(function.size as usize) as u64;
            Some(())
        },
    },
    Defect {
        name: "a function without rows that requires them",
        noticed_by: &["function-without-rows", "no-rows", "flexible-without-rows"],
        apply: |parts, random| {
            let version = parts.version;
            let needs = |f: &StoredFunction| version < Version::V3 || f.fde_type() == FdeType::Flex;
            any_function(parts, random, needs)?.rows.clear();
            Some(())
        },
    },
];
