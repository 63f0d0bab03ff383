//! Benchmarks of rows per second in the oracle's evaluation, compared with gimli's instruction iterator and table.
//!
//! `cargo bench -p sframe-oracle`. The file is the large library from `corpus/build big`, or the one that SFRAME_BENCH
//! names. All three count the same rows: those of gimli's table, before equal adjacent rows are merged.

#![allow(missing_docs, reason = "a benchmark: nothing uses it")]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use gimli::{
    BaseAddresses, CallFrameInstruction, CieOrFde, EhFrame, EndianSlice, LittleEndian,
    UnwindContext, UnwindSection,
};
use sframe_oracle::cfi::{Cfi, Kind, RowContext};
use sframe_validator::elf::Elf;

fn main() {
    divan::main();
}

const BIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/real/2.47.50/x86_64/big.so");

/// The file; empty if there is none, and then nothing is measured.
fn file() -> Vec<u8> {
    let path = std::env::var("SFRAME_BENCH").unwrap_or(BIG.to_owned());
    let data = std::fs::read(&path).unwrap_or_default();
    if data.is_empty() {
        println!("skipped: {path} is not there");
    }
    data
}

/// `.eh_frame` and its address.
fn eh_frame(data: &[u8]) -> (&[u8], u64) {
    let Ok(elf) = Elf::parse(data) else { return (&[], 0) };
    let found = elf.sections().iter().find(|section| section.name == b".eh_frame");
    found.map_or((&[], 0), |s| (elf.section_data(s).unwrap_or_default(), s.address))
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Fdes<'a> = Vec<gimli::FrameDescriptionEntry<Slice<'a>>>;

fn fdes<'a>(section: &EhFrame<Slice<'a>>, bases: &BaseAddresses) -> Fdes<'a> {
    let mut fdes = Vec::new();
    let mut entries = section.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        if let CieOrFde::Fde(partial) = entry {
            fdes.extend(partial.parse(EhFrame::cie_from_offset));
        }
    }
    fdes
}

/// The number of rows in gimli's table, which every benchmark uses as its count.
fn rows(section: &EhFrame<Slice<'_>>, bases: &BaseAddresses) -> usize {
    let mut count = 0;
    let mut context = UnwindContext::new();
    for fde in fdes(section, bases) {
        let Ok(mut table) = fde.rows(section, bases, &mut context) else { continue };
        while let Ok(Some(_)) = table.next_row() {
            count += 1;
        }
    }
    count
}

fn prepared<'a>(data: &'a [u8]) -> (EhFrame<Slice<'a>>, BaseAddresses, usize) {
    let (bytes, address) = eh_frame(data);
    let section = EhFrame::new(bytes, LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(address);
    let count = rows(&section, &bases);
    (section, bases, count)
}

/// Reads all entries, without rows.
#[divan::bench]
fn ours_entries(bencher: Bencher<'_, '_>) {
    let data = file();
    let (_, _, count) = prepared(&data);
    let (bytes, address) = eh_frame(&data);
    bencher.counter(ItemsCount::new(count)).bench(|| {
        Cfi::from_bytes(black_box(bytes), Kind::EhFrame, address, sframe_validator::Abi::Amd64)
    });
}

/// Evaluates all rows of all functions, whose entries have already been read.
#[divan::bench]
fn ours_rows(bencher: Bencher<'_, '_>) {
    let data = file();
    let (_, _, count) = prepared(&data);
    let (bytes, address) = eh_frame(&data);
    let cfi = Cfi::from_bytes(bytes, Kind::EhFrame, address, sframe_validator::Abi::Amd64);
    bencher.counter(ItemsCount::new(count)).bench(|| {
        let mut context = RowContext::new(&cfi);
        let mut sum = 0_u64;
        for function in cfi.functions() {
            let mut rows = function.rows(&mut context);
            while let Ok(Some(row)) = rows.next_row() {
                sum = sum.wrapping_add(black_box(row).start);
            }
        }
        sum
    });
}

/// Reads all entries with gimli.
#[divan::bench]
fn gimli_entries(bencher: Bencher<'_, '_>) {
    let data = file();
    let (section, bases, count) = prepared(&data);
    bencher.counter(ItemsCount::new(count)).bench(|| fdes(black_box(&section), &bases).len());
}

/// A plain loop over gimli's instruction iterator that tracks the location. The entries have already been read.
#[divan::bench]
fn gimli_instructions(bencher: Bencher<'_, '_>) {
    let data = file();
    let (section, bases, count) = prepared(&data);
    let fdes = fdes(&section, &bases);
    bencher.counter(ItemsCount::new(count)).bench(|| {
        let mut sum = 0_u64;
        for fde in &fdes {
            let mut instructions = fde.instructions(&section, &bases);
            let mut location = fde.initial_address();
            while let Ok(Some(instruction)) = instructions.next() {
                match black_box(instruction) {
                    CallFrameInstruction::AdvanceLoc { delta } => location += u64::from(delta),
                    CallFrameInstruction::DefCfaOffset { offset } => sum = sum.wrapping_add(offset),
                    _ => {}
                }
            }
            sum = sum.wrapping_add(location);
        }
        sum
    });
}

/// gimli's table, which tracks every register. The entries have already been read.
#[divan::bench]
fn gimli_table(bencher: Bencher<'_, '_>) {
    let data = file();
    let (section, bases, count) = prepared(&data);
    let fdes = fdes(&section, &bases);
    bencher.counter(ItemsCount::new(count)).bench(|| {
        let mut context = UnwindContext::new();
        let mut sum = 0_u64;
        for fde in &fdes {
            let Ok(mut table) = fde.rows(&section, &bases, &mut context) else { continue };
            while let Ok(Some(row)) = table.next_row() {
                sum = sum.wrapping_add(black_box(row).start_address());
            }
        }
        sum
    });
}
