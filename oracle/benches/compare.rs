//! Benchmarks of the comparison of a whole file and of its parts: `cargo bench -p sframe-oracle --bench compare`.
//!
//! The file is the large library from `corpus/build big`, or the one that SFRAME_BENCH names. Items are rows of both
//! sides, where equal adjacent rows count as one. The comparison with machine code takes SQLite, from `corpus/build real`; its
//! bytes are those of the code that CFI describes.

#![allow(missing_docs, reason = "a benchmark: nothing uses it")]

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use sframe_oracle::cfi::{Cfi, RowContext};
use sframe_oracle::code::Program;
use sframe_oracle::compare::{compare, prove};
use sframe_validator::Section;
use sframe_validator::elf::Elf;

fn main() {
    divan::main();
}

const BIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/real/2.47.50/x86_64/big.so");

fn file() -> Vec<u8> {
    let path = std::env::var("SFRAME_BENCH").unwrap_or(BIG.to_owned());
    std::fs::read(path).unwrap_or_default()
}

/// Calls `with` with the parts of the file and the number of rows.
fn open(data: &[u8], with: impl FnOnce(&Elf<'_>, &[Section<'_>], usize)) {
    let Ok(elf) = Elf::parse(data) else {
        println!("skipped: no big file, `corpus/build big` makes it");
        return;
    };
    let contents: Vec<_> = elf.sframe_contents().collect();
    let sections: Vec<_> = contents
        .iter()
        .filter_map(|sframe| Section::parse(sframe.data.ok()?, sframe.placement().ok()?).ok())
        .collect();
    let mut rows = 0;
    for section in &sections {
        let mut budget = section.row_budget();
        for function in section.functions().flatten() {
            rows += function.rows_within(&mut budget).map_or(0, |rows| rows.flatten().count());
        }
    }
    for cfi in Cfi::load_all(&elf).unwrap_or_default() {
        let mut context = RowContext::new(&cfi);
        for function in cfi.functions() {
            let mut walk = function.rows(&mut context);
            while let Ok(Some(_)) = walk.next_row() {
                rows += 1;
            }
        }
    }
    with(&elf, &sections, rows);
}

/// Computes the sums from the file's bytes.
#[divan::bench]
fn whole_file(bencher: Bencher<'_, '_>) {
    let data = file();
    open(&data, |elf, sections, rows| {
        bencher.counter(ItemsCount::new(rows)).bench(|| {
            let cfi = Cfi::load_all(black_box(elf)).unwrap_or_default();
            compare(elf, sections, &cfi, |range| {
                black_box(range);
            })
        });
    });
}

/// Only the sweep.
#[divan::bench]
fn sweep(bencher: Bencher<'_, '_>) {
    let data = file();
    open(&data, |elf, sections, rows| {
        let cfi = Cfi::load_all(elf).unwrap_or_default();
        bencher.counter(ItemsCount::new(rows)).bench(|| {
            compare(black_box(elf), sections, &cfi, |range| {
                black_box(range);
            })
        });
    });
}

/// Only the sweep, with one thread and with two.
#[divan::bench(args = [1, 2])]
fn sweep_with_threads(bencher: Bencher<'_, '_>, threads: usize) {
    let data = file();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let Ok(pool) = pool else { return println!("skipped: no threads") };
    open(&data, |elf, sections, rows| {
        let cfi = Cfi::load_all(elf).unwrap_or_default();
        bencher.counter(ItemsCount::new(rows)).bench(|| {
            pool.install(|| {
                compare(black_box(elf), sections, &cfi, |range| {
                    black_box(range);
                })
            })
        });
    });
}

/// The comparison of rows with the machine code of SQLite, for one machine, with one thread: the look over all code, and the
/// proof for each function.
#[divan::bench(args = ["x86_64", "aarch64"])]
fn machine_code(bencher: Bencher<'_, '_>, machine: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/real/2.47.50");
    let path = format!("{folder}/{machine}/sqlite3.so");
    let data = std::fs::read(std::env::var("SFRAME_BENCH").unwrap_or(path)).unwrap_or_default();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let Ok(pool) = pool else { return println!("skipped: no threads") };
    open(&data, |elf, sections, _| {
        let cfi = Cfi::load_all(elf).unwrap_or_default();
        let proofs = || {
            let code = Program::of(black_box(elf), sections, &cfi)?;
            Some(prove(&code, elf, sections, &cfi, |found| {
                black_box(found);
            }))
        };
        let bytes = pool.install(proofs).map_or(0, |proofs| proofs.cfi.total());
        bencher.counter(BytesCount::new(bytes)).bench(|| pool.install(proofs));
    });
}
