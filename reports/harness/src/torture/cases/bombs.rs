//! Sections that promise far more rows, functions or bytes than they have. A reader that trusts the promise runs
//! out of time or memory.

use sframe_validator::section::FunctionInfo;
use sframe_validator::write::{FunctionBuilder, SectionBuilder, StoredHeader};
use sframe_validator::{Abi, Version};

use super::file::{of_section, wrapped};
use super::sound::{self, at_entry, two_functions};
use crate::torture::case::{Case, Duty, Kind};

const ABI: Abi = Abi::Amd64;
/// The most rows that a function of version 3 can have.
const MOST_ROWS: u32 = 65_535;
/// Functions in a section with a block of that many rows, which has some 260 KB.
const FUNCTIONS: u32 = 3_200;

/// One case for each bomb and version.
pub(super) fn cases() -> Vec<Case> {
    [Version::V1, Version::V2, Version::V3].into_iter().flat_map(of_version).collect()
}

/// Name, what readers have to do, why, section.
type Bomb = (&'static str, Duty, &'static str, SectionBuilder);

fn of_version(version: Version) -> Vec<Case> {
    let mut bombs: Vec<Bomb> = with_rows(version).into_iter().chain(with_counts(version)).collect();
    bombs.extend(overlapping_rows(version).map(|bomb| {
        let reason =
            "The rows of 3,200 functions overlap in the same 196,605 bytes: 200 million rows.";
        ("overlapping-rows", Duty::Survive, reason, bomb)
    }));
    let name = |bomb: &str| format!("bombs/v{}-{bomb}", version.number());
    let mut cases: Vec<Case> = bombs
        .into_iter()
        .filter_map(|(bomb, duty, reason, builder)| {
            let section = builder.build().ok()?.bytes;
            let case = of_section(&name(bomb), Kind::Bomb, duty, &section)?;
            Some(Case { reason: Some(reason), ..case })
        })
        .collect();
    cases.extend(claimed_size(version, &name("section-size")));
    cases
}

/// A sound section whose header makes it end outside the file.
fn claimed_size(version: Version, name: &str) -> Option<Case> {
    let section = two_functions(version, ABI).build().ok()?.bytes;
    let case = of_section(name, Kind::Bomb, Duty::Refuse, &section)?;
    let reason = "The section header's sh_size is 1 TiB: the section ends outside the file.";
    Some(Case { bytes: wrapped(&section, Some(1 << 40))?, reason: Some(reason), ..case })
}

/// Sections with as many rows and functions as they promise, which share bytes or make no sense.
fn with_rows(version: Version) -> [Bomb; 7] {
    use Duty::Survive;
    [
        (
            "shared-rows",
            Survive,
            "3,200 functions share one block of 65,535 rows: 210 million rows in some 260 KB.",
            shared_rows(version, FUNCTIONS, MOST_ROWS),
        ),
        (
            "many-functions",
            Survive,
            "200,000 functions share one block of 1,000 rows: 200 million rows in some 4 MB.",
            shared_rows(version, 200_000, 1_000),
        ),
        (
            "broken-rows",
            Survive,
            "Each of 65,535 rows starts past the function's end, out of order, signed, with a word too many.",
            broken_rows(version),
        ),
        (
            "descending-functions",
            Survive,
            "32,000 functions are in descending order, the worst for a reader that sorts them.",
            descending_functions(version),
        ),
        (
            "widest-rows",
            Survive,
            "Each of 4,000 rows has 15 words of 4 bytes, the most that an info byte can count.",
            widest_rows(version),
        ),
        (
            "every-info-byte",
            Survive,
            "Each of 256 functions has another info byte in its row, defined or not.",
            every_info_byte(version),
        ),
        (
            "repeated-block",
            Survive,
            "One function of 4 GiB repeats a block of one byte, or in version 1 of no size.",
            repeated_block(version),
        ),
    ]
}

/// Sections whose counts and offsets lead outside of them.
fn with_counts(version: Version) -> [Bomb; 6] {
    use Duty::Refuse;
    let header = |change: fn(&mut StoredHeader)| {
        let mut builder = two_functions(version, ABI);
        builder.with(|section| change(&mut section.header));
        builder
    };
    [
        (
            "row-count",
            Refuse,
            "The function has as many rows as its field can count, and the FRE sub-section ends after 1,000 of them.",
            row_count(version),
        ),
        (
            "function-count",
            Refuse,
            "num_fdes is 2^32 - 1: the function table ends outside the section.",
            header(|o| o.num_fdes = Some(u32::MAX)),
        ),
        (
            "wrapping-function-count",
            Refuse,
            "num_fdes makes a function table of more than 4 GiB, whose size wraps in 32 bits: the table ends outside the section.",
            wrapping_function_count(version),
        ),
        (
            "row-bytes",
            Refuse,
            "fre_len is 2^32 - 1: the FRE sub-section ends outside the section.",
            header(|o| o.fre_len = Some(u32::MAX)),
        ),
        (
            "table-offset",
            Refuse,
            "fdeoff is 2^32 - 28: the function table starts outside the section.",
            header(|o| o.fdeoff = Some(u32::MAX - 27)),
        ),
        (
            "rows-offset",
            Refuse,
            "freoff is 2^32 - 28: the FRE sub-section starts outside the section.",
            header(|o| o.freoff = Some(u32::MAX - 27)),
        ),
    ]
}

/// The function with this number in the order of addresses.
fn function(number: u32) -> FunctionBuilder {
    FunctionBuilder::new(0x100_0000 + u64::from(number) * 16, 16)
}

/// A function with `rows` rows of 3 bytes.
pub(super) fn block(rows: u32) -> FunctionBuilder {
    (0..rows).fold(function(0), |function, _| function.raw_row(0, 0x03, &[8]))
}

/// Functions that all have the rows of one block.
fn shared_rows(version: Version, functions: u32, rows: u32) -> SectionBuilder {
    let mut builder = sound::builder(version, ABI);
    builder.function(block(rows));
    for number in 1..functions {
        builder.function(function(number).with(|f| {
            (f.fre_offset, f.num_fres) = (Some(0), Some(rows));
        }));
    }
    builder
}

/// Functions whose rows each start one row after those of the function before. Version 3 allows no such overlap, for
/// each function's rows follow its attributes.
fn overlapping_rows(version: Version) -> Option<SectionBuilder> {
    if version == Version::V3 {
        return None;
    }
    let mut builder = sound::builder(version, ABI);
    builder.function(block(MOST_ROWS));
    for number in 1..FUNCTIONS {
        builder.function(function(number).with(|f| {
            (f.fre_offset, f.num_fres) = (Some(number * 3), Some(MOST_ROWS - FUNCTIONS));
        }));
    }
    Some(builder)
}

/// Rows that each start past the function's end, out of order, signed, with a word too many.
fn broken_rows(version: Version) -> SectionBuilder {
    let row = |function: FunctionBuilder, _| function.raw_row(200, 0x85, &[3, 1]);
    let mut builder = sound::builder(version, ABI);
    builder.function((0..MOST_ROWS).fold(function(0), row));
    builder
}

/// A function table in descending order, the worst order for a reader that sorts it.
fn descending_functions(version: Version) -> SectionBuilder {
    let mut builder = sound::builder(version, ABI);
    builder.with(|s| s.header.flags = 0);
    for number in (0..FUNCTIONS * 10).rev() {
        builder.function(function(number).row(0, at_entry(ABI)));
    }
    builder
}

/// Rows of 15 words of 4 bytes.
fn widest_rows(version: Version) -> SectionBuilder {
    let row = |function: FunctionBuilder, _| function.raw_row(0, 0x5f, &[8; 60]);
    let mut builder = sound::builder(version, ABI);
    builder.function((0..4_000).fold(function(0), row));
    builder
}

/// A function for each value of a row's info byte, followed by as many bytes as any of them needs.
fn every_info_byte(version: Version) -> SectionBuilder {
    let mut builder = sound::builder(version, ABI);
    for info in 0..=u8::MAX {
        builder.function(function(info.into()).raw_row(0, info, &[8; 60]));
    }
    builder
}

/// A block that repeats for 4 GiB; in version 1 of no size.
fn repeated_block(version: Version) -> SectionBuilder {
    let stubs = FunctionBuilder::new(0x1000, u32::MAX).row(0, at_entry(ABI));
    let mut builder = sound::builder(version, ABI);
    builder.function(match version {
        Version::V1 => stubs.with(|f| f.info = FunctionInfo::PC_MASK),
        Version::V2 | Version::V3 => stubs.repeat(1),
    });
    builder
}

/// A function that states the largest possible number of rows, and has a thousand.
fn row_count(version: Version) -> SectionBuilder {
    let mut builder = sound::builder(version, ABI);
    builder.function(block(1_000).with(|f| f.num_fres = Some(version.max_rows())));
    builder
}

/// A number of functions with which the table's size wraps to a few bytes in 32 bits.
fn wrapping_function_count(version: Version) -> SectionBuilder {
    let count = (1_u64 << 32) / version.entry_size() + 1;
    let mut builder = two_functions(version, ABI);
    builder.with(|s| s.header.num_fdes = u32::try_from(count).ok());
    builder
}
