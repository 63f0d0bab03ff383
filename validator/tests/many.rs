//! Tests that the time for files with very many sections or symbols is proportional to their size. With quadratic time,
//! a test would take minutes instead of a fraction of a second.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

#[path = "many/image.rs"]
#[allow(dead_code, unreachable_pub, clippy::cast_possible_truncation)]
mod image;

use std::time::Duration;

use image::{CASES, TEXT, file};
use sframe_corpus::time::processor_time;
use sframe_validator::check::{Checker, Options};
use sframe_validator::elf::{CodeNames, Elf, SymbolTable};
use sframe_validator::unwind::CodeAddress;

const COUNT: u64 = 60_000;
const LIMIT: Duration = Duration::from_secs(15);

fn in_time<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let start = processor_time();
    let result = run();
    let took = processor_time() - start;
    println!("{what}: {took:?}");
    assert!(took < LIMIT, "{what}: {took:?}");
    result
}

#[test]
fn checks_are_linear_in_sections_and_symbols() {
    let options = Options { pedantic: true, ..Options::default() };
    for case in CASES {
        let bytes = file(case, COUNT);
        // No code has more instructions than bytes.
        let checker = Checker::new(&options).amd64_instructions(|_| Some(1));
        let report = in_time(case, || checker.elf(&Elf::parse(&bytes).expect("readable")));
        assert!(!report.sections.is_empty(), "{case}");
    }
}

#[test]
fn look_ups_of_symbols_are_not_linear() {
    for case in ["symbols", "symbols at one place"] {
        let bytes = file(case, COUNT);
        let elf = Elf::parse(&bytes).expect("readable");
        let names = in_time(case, || CodeNames::load(&elf).expect("readable"));
        let symbols = names.functions();
        assert_eq!(symbols.symbols().len() as u64, COUNT);
        in_time(case, || {
            for place in (0..COUNT).map(|index| CodeAddress::absolute(TEXT + index * 16 + 8)) {
                assert!(
                    symbols.find(place).is_some_and(|symbol| symbol.start <= place)
                        || case != "symbols"
                );
                assert_eq!(names.find(place), symbols.find(place));
            }
        });
    }
}

/// The expected symbol is found by looking at each symbol: the best one at the nearest start whose size reaches the
/// place.
#[test]
fn the_symbol_of_a_place_is_the_nearest_that_reaches_it() {
    let bytes = file("symbols at one place", 64);
    let elf = Elf::parse(&bytes).expect("readable");
    let symbols = SymbolTable::load(&elf).expect("readable");
    // All 64 symbols are global and start at the same place, with sizes of 0 to 7 bytes.
    for distance in 0..10 {
        let found = symbols.find(CodeAddress::absolute(TEXT + distance));
        assert_eq!(found.map(|symbol| symbol.size), (distance < 7).then_some(7), "{distance}");
    }
    assert_eq!(symbols.find(CodeAddress::absolute(TEXT - 1)), None);
    assert_eq!(symbols.find(CodeAddress { section: 1, address: TEXT + 1 }), None);
}

/// The sections that are not checked are reported.
#[test]
fn sections_beyond_the_limit_are_undecided() {
    let bytes = file("SFrame sections", 100);
    let report = Checker::default().elf(&Elf::parse(&bytes).expect("readable"));
    assert_eq!(report.sections.len(), Elf::MOST_SFRAME_SECTIONS);
    let reason = "36 more SFrame sections not checked: a file should have one, and the first 64 were checked";
    assert!(report.undecided.iter().any(|undecided| undecided.reason == reason));
}
