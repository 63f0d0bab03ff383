//! Cases in which libsframe is known to be wrong, or gives an equivalent result in another form.

use sframe_validator::section::{FunctionEntry, FunctionInfo, Version};
use sframe_validator::{Abi, Endian};

use super::compare::{Difference, Kind};
use sframe_validator::write::StoredSection;

/// A known kind of difference.
struct Known {
    /// What libsframe does.
    reason: &'static str,
    /// The versions of libsframe's interface: 1 in binutils 2.40, 2 in 2.44, 3 in 2.47.50.
    apis: &'static [u8],
    holds: fn(&Difference<'_>) -> bool,
}

/// Whether a libsframe intends to read a version. 2.44 accepts version 1, but reads its entries of 17 bytes as if they
/// had 20. 2.40 and 2.47.50 refuse versions that they do not read.
pub(super) const fn reads(api: u8, version: Version) -> bool {
    matches!((api, version), (1, Version::V1) | (2 | 3, Version::V2) | (3, Version::V3))
}

/// The reason for a known difference.
pub(super) fn reason(difference: &Difference<'_>) -> Option<&'static str> {
    let mut known = KNOWN.iter().filter(|known| known.apis.contains(&difference.api));
    known.find(|known| (known.holds)(difference)).map(|known| known.reason)
}

const KNOWN: &[Known] = &[
    Known {
        reason: "sub-sections are read at the places where producers put them, even if they are elsewhere",
        apis: &[1, 2],
        holds: |difference| !is_packed(difference),
    },
    Known {
        reason: "a section of the other byte order is swapped in place, part by part; if there are gaps \
                 between the parts, it is refused or damaged",
        apis: &[1, 2, 3],
        holds: |difference| {
            difference.section.endian() == Endian::Big && !has_no_gaps_or_extras(difference)
        },
    },
    Known {
        reason: "flag 0x4 is not known",
        apis: &[2],
        holds: |difference| {
            difference.kind == Kind::Refused && difference.section.header().flags.pcrel()
        },
    },
    Known {
        reason: "s390x is not known",
        apis: &[2],
        holds: |difference| {
            matches!(difference.kind, Kind::Meaning(_))
                && difference.section.abi() == Ok(Abi::S390x)
        },
    },
    Known {
        reason: "a row without words has no meaning yet (errata 2 of version 2)",
        apis: &[2],
        holds: |difference| difference.kind == Kind::Meaning("undefined RA"),
    },
    Known {
        reason: "RA's padding is its offset 0 (SFRAME_FRE_RA_OFFSET_INVALID)",
        apis: &[3],
        holds: |difference| {
            difference.kind == Kind::Meaning("RA")
                && (is_flexible(difference) || difference.section.abi() == Ok(Abi::S390x))
        },
    },
    Known {
        reason: "the bit for signed return addresses is used on machines that do not sign them",
        apis: &[1, 2, 3],
        holds: |difference| {
            difference.kind == Kind::Meaning("signing")
                && difference.section.abi().is_ok_and(|abi| !abi.is_aarch64())
        },
    },
    Known {
        reason: "a fixed RA has no offset",
        apis: &[1],
        holds: |difference| {
            difference.kind == Kind::Meaning("RA")
                && difference.section.header().cfa_fixed_ra_offset != 0
        },
    },
    Known {
        reason: "a function table that is not sorted is not searched",
        apis: &[1, 2, 3],
        holds: |difference| {
            difference.kind == Kind::Lookup && !difference.section.header().flags.sorted()
        },
    },
    Known {
        reason: "a fixed FP has no offset",
        apis: &[1, 2, 3],
        holds: |difference| {
            difference.kind == Kind::Meaning("FP")
                && difference.section.header().cfa_fixed_fp_offset != 0
        },
    },
    Known {
        reason: "addresses are compared as signed distances from the section",
        apis: &[1, 2, 3],
        holds: |difference| difference.kind == Kind::Lookup && wraps(difference),
    },
    Known {
        reason: "a PC after the end of a function is found in it",
        apis: &[1, 2],
        holds: |difference| difference.kind == Kind::Lookup && difference.function.is_none(),
    },
    Known {
        reason: "a function around the section's start, or 2 GiB after it, is not searched to its end",
        apis: &[1, 2],
        holds: |difference| difference.kind == Kind::Lookup && wraps_32_bits(difference),
    },
    Known {
        reason: "rows of a repeated block are looked up by absolute addresses",
        apis: &[1, 2],
        holds: |difference| difference.kind == Kind::Lookup && repeats(difference),
    },
    Known {
        reason: "an empty function is found instead of the one in which it starts",
        apis: &[1, 2, 3],
        holds: |difference| difference.kind == Kind::Lookup && has_empty(difference),
    },
    Known {
        reason: "the row found is not the last of several with the same start",
        apis: &[3],
        holds: |difference| difference.kind == Kind::Lookup && has_double_start(difference),
    },
    Known {
        reason: "the distance from a function's start is truncated to 32 bits",
        apis: &[3],
        holds: |difference| {
            difference.kind == Kind::Lookup && matches_truncated_distance(difference)
        },
    },
    Known {
        reason: "PCs are looked up as if flag 0x4 were set",
        apis: &[3],
        holds: |difference| {
            difference.kind == Kind::Lookup && !difference.section.header().flags.pcrel()
        },
    },
    Known {
        reason: "PCs are looked up as if the function table directly followed the header",
        apis: &[3],
        holds: |difference| {
            difference.kind == Kind::Lookup && difference.section.header().fdeoff > 0
        },
    },
];

/// Whether the header, the function table and the rows follow each other without gaps.
fn is_packed(difference: &Difference<'_>) -> bool {
    let header = difference.section.header();
    header.auxhdr_len == 0 && header.fdeoff == 0 && header.fde_table_end() == header.fre_start()
}

/// Whether every byte belongs to exactly one part, and there is no auxiliary header.
fn has_no_gaps_or_extras(difference: &Difference<'_>) -> bool {
    let section = difference.section;
    let address = section.placement().address;
    let Some(parts) = StoredSection::read(section.data(), address) else { return false };
    let spaces =
        [&parts.auxiliary, &parts.gap_before_functions, &parts.gap_before_rows, &parts.unused_rows];
    let holes = parts.functions.iter().map(|function| &function.hole);
    spaces.into_iter().chain([&parts.trailing]).chain(holes).all(Vec::is_empty)
}

fn is_flexible(difference: &Difference<'_>) -> bool {
    difference.function.is_some_and(|function| function.is_flexible())
}

fn repeats(difference: &Difference<'_>) -> bool {
    let info = |function: sframe_validator::section::Function<'_>| function.attributes().info;
    difference.function.is_some_and(|f| info(f).0 & FunctionInfo::PC_MASK != 0)
}

/// Whether an empty function starts inside the function.
fn has_empty(difference: &Difference<'_>) -> bool {
    let place = |function: &FunctionEntry<'_>| function.start().map_or(0, |start| start.address);
    difference.function.is_some_and(|function| {
        let covers = |pc: u64| pc.wrapping_sub(place(function.entry())) < function.size().into();
        let mut empty = difference.section.entries().filter(|entry| entry.size() == 0);
        empty.any(|entry| covers(place(&entry)))
    })
}

/// Whether the path from the section to a function wraps around the end of the address space.
fn wraps(difference: &Difference<'_>) -> bool {
    let address = difference.section.placement().address;
    let start = |entry: FunctionEntry<'_>| entry.start().map_or(address, |start| start.address);
    let mut starts = difference.section.entries().map(start);
    starts.any(|start| {
        let distance = start.wrapping_sub(address).cast_signed();
        address.checked_add_signed(distance).is_none()
    })
}

/// Whether the PC would be in a function if the upper half of the distance were ignored.
fn matches_truncated_distance(difference: &Difference<'_>) -> bool {
    let Some(pc) = difference.pc else { return false };
    difference.section.entries().any(|entry| {
        let distance = pc.wrapping_sub(entry.start().map_or(pc, |start| start.address));
        distance > u64::from(u32::MAX) && (distance as u32) < entry.size()
    })
}

fn has_double_start(difference: &Difference<'_>) -> bool {
    let rows = difference.function.and_then(|function| function.frame_row_entries().ok());
    let starts = rows.into_iter().flatten().map_while(Result::ok).map(|row| row.start);
    let starts: Vec<_> = starts.collect();
    starts.windows(2).any(|pair| pair[0] == pair[1])
}

fn wraps_32_bits(difference: &Difference<'_>) -> bool {
    let address = difference.section.placement().address;
    difference.function.is_some_and(|function| {
        let start = function.start().map_or(0, |start| start.address);
        let distance = start.wrapping_sub(address).cast_signed();
        let end = distance.saturating_add(function.size().into());
        distance < 0 && end > 0 || end > i64::from(i32::MAX)
    })
}
