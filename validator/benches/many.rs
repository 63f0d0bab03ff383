//! Benchmarks of files with 300,000 sections or symbols, including malicious ones. The time must be proportional to the
//! file's size.
//!
//! `cargo bench -p sframe-validator --bench many`

#![allow(
    missing_docs,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a benchmark: nothing uses it"
)]

#[allow(unreachable_pub, reason = "shared with a test")]
#[path = "../tests/many/image.rs"]
mod image;

use divan::Bencher;
use divan::counter::BytesCount;
use image::{CASES, TEXT, file};
use sframe_validator::check::{Checker, Options};
use sframe_validator::elf::{Elf, SymbolTable};
use sframe_validator::unwind::CodeAddress;

fn main() {
    divan::main();
}

/// The number of items, which `SFRAME_MANY` overrides.
fn count() -> u64 {
    std::env::var("SFRAME_MANY").ok().and_then(|text| text.parse().ok()).unwrap_or(300_000)
}

/// Applies all rules, including lints.
#[divan::bench(args = CASES, sample_count = 3, sample_size = 1)]
fn check(bencher: Bencher<'_, '_>, case: &str) {
    let bytes = file(case, count());
    let options = Options { pedantic: true, ..Options::default() };
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench(|| Checker::new(&options).elf(&Elf::parse(&bytes).expect("readable")));
}

/// Looks up the symbols of as many places as there are symbols.
#[divan::bench(args = ["symbols", "symbols at one place"], sample_count = 3, sample_size = 1)]
fn find_symbols(bencher: Bencher<'_, '_>, case: &str) {
    let count = count();
    let bytes = file(case, count);
    let symbols = SymbolTable::load(&Elf::parse(&bytes).expect("readable")).expect("readable");
    bencher.bench(|| {
        let places = (0..count).map(|index| CodeAddress::absolute(TEXT + index * 16 + 8));
        places.filter(|place| symbols.find(*place).is_some()).count()
    });
}
