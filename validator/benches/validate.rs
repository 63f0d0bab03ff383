//! Benchmarks of rows per second in the reader and in full validation, and of sections designed to take long.
//!
//! `cargo bench -p sframe-validator`. `corpus/build big` makes the large library; without it, a section of the same
//! size is built. Each malicious section has about 262,144 bytes, and counts that promise up to billions of rows. The
//! work of validation must depend only on the bytes.

#![allow(missing_docs, reason = "a benchmark: nothing uses it")]

use divan::Bencher;
use divan::counter::ItemsCount;
use sframe_validator::check::Checker;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{Cfa, Frame, Recovery};
use sframe_validator::write::{FunctionBuilder, SectionBuilder};
use sframe_validator::{Abi, Placement, Section, Version};

fn main() {
    divan::main();
}

const BIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/real/2.47.50/x86_64/big.so");

fn frame(offset: i64, fp: Recovery) -> Frame {
    let cfa = Cfa::RegisterOffset { register: Abi::Amd64.sp(), offset };
    Frame { cfa, ra: Recovery::AtCfa(-8), fp, ra_signed: false }
}

/// 280,000 functions with 9 rows each.
fn built() -> Vec<u8> {
    let mut builder = SectionBuilder::new(Version::V3, Abi::Amd64);
    for index in 0..280_000_u64 {
        let mut function = FunctionBuilder::new(0x10_0000 + index * 64, 64);
        for row in 0..9_u32 {
            let fp = if row == 0 { Recovery::Unchanged } else { Recovery::AtCfa(-16) };
            function = function.row(row * 6, frame(8 + 8 * i64::from(row), fp));
        }
        builder.function(function);
    }
    builder.build().expect("fits").bytes
}

/// The real library or, without it, the built section.
fn real() -> Vec<u8> {
    std::fs::read(BIG).unwrap_or_default()
}

fn rows_of(section: &Section<'_>) -> u64 {
    let mut budget = section.row_budget();
    section
        .functions()
        .flatten()
        .map(|function| function.rows_within(&mut budget).map_or(0, |rows| rows.flatten().count()))
        .map(|rows| rows as u64)
        .sum()
}

#[divan::bench]
fn read_built(bencher: Bencher<'_, '_>) {
    let bytes = built();
    let section = Section::parse(&bytes, Placement::at(0)).expect("sound");
    bencher.counter(ItemsCount::new(rows_of(&section))).bench(|| rows_of(&section));
}

/// Rows by reference, as the comparison reads them.
#[divan::bench]
fn lend_built(bencher: Bencher<'_, '_>) {
    let bytes = built();
    let section = Section::parse(&bytes, Placement::at(0)).expect("sound");
    bencher.counter(ItemsCount::new(rows_of(&section))).bench(|| {
        let mut budget = section.row_budget();
        for function in section.functions().flatten() {
            let Ok(mut rows) = function.rows_within(&mut budget) else { continue };
            while let Ok(Some(row)) = rows.next_row() {
                divan::black_box(row);
            }
        }
    });
}

#[divan::bench]
fn validate_built(bencher: Bencher<'_, '_>) {
    let bytes = built();
    let section = Section::parse(&bytes, Placement::at(0)).expect("sound");
    bencher
        .counter(ItemsCount::new(rows_of(&section)))
        .bench(|| Checker::default().section(&bytes, Placement::at(0)));
}

#[divan::bench]
fn validate_real_library(bencher: Bencher<'_, '_>) {
    let bytes = real();
    let Ok(file) = Elf::parse(&bytes) else {
        println!("skipped: corpus/build big makes {BIG}");
        return;
    };
    let rows: u64 = Checker::default().elf(&file).sections.iter().map(|s| s.rows).sum();
    bencher.counter(ItemsCount::new(rows)).bench(|| Checker::default().elf(&file));
}

/// Sections whose counts would make a reader work very long.
#[divan::bench(args = ["shared block", "overlapping blocks", "huge count", "all rows broken"])]
fn validate_hostile(bencher: Bencher<'_, '_>, case: &str) {
    let bytes = hostile(case);
    bencher.bench(|| Checker::default().section(&bytes, Placement::at(0)));
}

fn hostile(case: &str) -> Vec<u8> {
    let mut builder = SectionBuilder::new(Version::V2, Abi::Amd64);
    let block = |function: FunctionBuilder| {
        (0..65_535).fold(function, |function, _| function.raw_row(0, 0x03, &[8]))
    };
    match case {
        // 3,200 functions, each of which has all 65,535 rows of the same block.
        "shared block" => {
            builder.function(block(FunctionBuilder::new(0x1000, 16)));
            for index in 1..3_200 {
                builder.function(FunctionBuilder::new(0x1000 + index * 16, 16).with(|f| {
                    (f.fre_offset, f.num_fres) = (Some(0), Some(65_535));
                }));
            }
        }
        // 3,200 functions with overlapping blocks of rows: each starts one row after the preceding one.
        "overlapping blocks" => {
            builder.function(block(FunctionBuilder::new(0x1000, 16)));
            for index in 1..3_200_u32 {
                let start = 0x1000 + u64::from(index) * 16;
                builder.function(FunctionBuilder::new(start, 16).with(|f| {
                    (f.fre_offset, f.num_fres) = (Some(index * 3), Some(60_000));
                }));
            }
        }
        // One function that claims to have 4,294,967,295 rows.
        "huge count" => {
            let function = block(FunctionBuilder::new(0x1000, 16));
            builder.function(function.with(|f| f.num_fres = Some(u32::MAX)));
        }
        // Each of 65,535 rows breaks several rules.
        _ => {
            let function = (0..65_535)
                .fold(FunctionBuilder::new(0x1000, 16), |f, _| f.raw_row(200, 0x85, &[3, 1]));
            builder.function(function);
        }
    }
    builder.build().expect("fits").bytes
}
