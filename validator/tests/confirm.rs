//! Tests of warnings about values that another source of unwind information confirms.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

#[path = "malformed/host.rs"]
#[allow(dead_code, missing_docs, unreachable_pub, clippy::cast_possible_truncation)]
mod host;

use std::cell::RefCell;

use host::{SFRAME, TEXT};
use sframe_validator::check::{Checker, Confirm, Options};
use sframe_validator::elf::Elf;
use sframe_validator::finding::{Keep, Report};
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery};
use sframe_validator::write::{FunctionBuilder, SectionBuilder};
use sframe_validator::{Abi, Placement, Version};

/// Confirms every question about these ranges, and records the questions.
#[derive(Default)]
struct Witness {
    confirmed: Vec<(u64, u64)>,
    asked: RefCell<Vec<(u64, u64)>>,
}

impl Confirm for Witness {
    fn confirms(&self, start: CodeAddress, end: u64, _: &Frame) -> bool {
        self.asked.borrow_mut().push((start.address, end));
        self.confirmed.contains(&(start.address, end))
    }
}

fn frame(abi: Abi, offset: i64) -> Frame {
    Frame {
        cfa: Cfa::RegisterOffset { register: abi.sp(), offset },
        ra: if abi == Abi::Amd64 { Recovery::AtCfa(-8) } else { Recovery::Unchanged },
        fp: Recovery::Unchanged,
        ra_signed: false,
    }
}

/// A shared object with these functions, the first at [`TEXT`].
fn shared(functions: Vec<FunctionBuilder>) -> Vec<u8> {
    let mut builder = SectionBuilder::new(Version::V3, Abi::Amd64);
    builder.address(SFRAME);
    for function in functions {
        builder.function(function);
    }
    let mut host = host::linked(builder.build().expect("it fits").bytes);
    host.symbols.clear();
    host.bytes()
}

/// Two functions of 16 bytes with a row at 4 that says CFA = SP + 12, and one at 8 that does not.
fn odd_twice() -> Vec<u8> {
    let function = |start| {
        let rows = [(0, 8), (4, 12), (8, 8)];
        rows.iter().fold(FunctionBuilder::new(start, 16), |function, &(start, offset)| {
            function.row(start, frame(Abi::Amd64, offset))
        })
    };
    shared(vec![function(TEXT), function(TEXT + 16)])
}

fn check(data: &[u8], options: &Options, witness: &Witness) -> Report {
    Checker::new(options).confirm(witness).elf(&Elf::parse(data).expect("readable"))
}

fn counts(report: &Report) -> Vec<(&'static str, u64)> {
    report.counts.iter().map(|(rule, count)| (rule.name, *count)).collect()
}

const PEDANTIC: Options = Options { pedantic: true, keep: Keep::First(3), thorough: false };

#[test]
fn confirmed_rows_cause_no_warnings() {
    let (first, second) = ((TEXT + 4, TEXT + 8), (TEXT + 20, TEXT + 24));
    let both = Witness { confirmed: vec![first, second], ..Witness::default() };
    assert_eq!(counts(&check(&odd_twice(), &Options::default(), &both)), []);
    let report = check(&odd_twice(), &PEDANTIC, &both);
    assert_eq!(counts(&report), [("confirmed-oddity", 2)]);
    let finding = &report.findings[0];
    assert_eq!((finding.row, finding.function.map(|f| f.index)), (Some(1), Some(0)));
    assert_eq!(
        finding.message,
        "row 1 says CFA = SP+12 (cfa-alignment), and other unwind information confirms it"
    );
}

/// Rows with equal content are remembered, but confirming one of them does not confirm another.
#[test]
fn each_place_is_asked_about() {
    for options in [Options::default(), Options { thorough: true, ..Options::default() }] {
        for confirmed in [(TEXT + 4, TEXT + 8), (TEXT + 20, TEXT + 24)] {
            let one = Witness { confirmed: vec![confirmed], ..Witness::default() };
            let report = check(&odd_twice(), &options, &one);
            assert_eq!(counts(&report), [("cfa-alignment", 1)]);
            assert_ne!(
                report.findings[0].function.and_then(|f| f.start).map(|s| s.address + 4),
                Some(confirmed.0)
            );
            assert_eq!(
                counts(&check(&odd_twice(), &PEDANTIC, &one)),
                [("cfa-alignment", 1), ("confirmed-oddity", 1)]
            );
        }
    }
}

/// The ranges are written by hand: a row ends where the next one starts, and the last row ends with its function.
#[test]
fn each_unusual_row_is_asked_about_once() {
    // SP - 20 breaks two rules.
    let rows = |start| {
        let function = FunctionBuilder::new(start, 16).row(0, frame(Abi::Amd64, 8));
        function.row(4, frame(Abi::Amd64, 12)).row(9, frame(Abi::Amd64, -20))
    };
    let witness = Witness::default();
    let report = check(&shared(vec![rows(TEXT), rows(TEXT + 16)]), &Options::default(), &witness);
    assert_eq!(counts(&report), [("cfa-offset-low", 2), ("cfa-alignment", 4)]);
    let ranges = [(4, 9), (9, 16), (20, 25), (25, 32)].map(|(a, b)| (TEXT + a, TEXT + b));
    assert_eq!(*witness.asked.borrow(), ranges);
}

/// A row with an empty range, and one that is repeated in each block, have no single range to ask about.
#[test]
fn rows_without_one_range_are_not_confirmed() {
    let hidden = FunctionBuilder::new(TEXT, 16).row(0, frame(Abi::Amd64, 8));
    let hidden = hidden.row(4, frame(Abi::Amd64, 12)).row(4, frame(Abi::Amd64, 16));
    let repeated = FunctionBuilder::new(TEXT + 16, 32).repeat(16);
    let repeated = repeated.row(0, frame(Abi::Amd64, 12));
    let witness = Witness::default();
    let report = check(&shared(vec![hidden, repeated]), &Options::default(), &witness);
    assert_eq!(counts(&report), [("row-duplicate-start", 1), ("cfa-alignment", 2)]);
    assert!(witness.asked.borrow().is_empty());
}

/// Another source cannot confirm an encoding: a bit that no value needs is a property of the section alone.
#[test]
fn encodings_are_not_asked_about() {
    let function = FunctionBuilder::new(TEXT, 16).raw_row(0, 0x83, &[8]);
    let witness = Witness::default();
    let report = check(&shared(vec![function]), &Options::default(), &witness);
    assert_eq!(counts(&report), [("mangled-ra", 1)]);
    assert!(witness.asked.borrow().is_empty());
}

/// The s390x ELF ABI: the caller provides 160 bytes below the CFA for the callee's registers, and the callee's own
/// frame continues below them, down to SP.
#[test]
fn s390x_slots_are_in_the_save_area_or_below_it() {
    let found = |cfa, slot| {
        let mut builder = SectionBuilder::new(Version::V3, Abi::S390x);
        let saved = Frame { fp: Recovery::AtCfa(slot), ..frame(Abi::S390x, cfa) };
        builder.function(FunctionBuilder::new(0x1000, 16).row(0, saved));
        let bytes = builder.build().expect("it fits").bytes;
        counts(&Checker::default().section(&bytes, Placement::at(0)))
    };
    let outside = [("slot-outside-frame", 1)];
    assert_eq!(found(160, -8), []);
    assert_eq!(found(160, -160), []);
    assert_eq!(found(160, -168), outside);
    assert_eq!(found(320, -168), []);
    assert_eq!(found(320, -320), []);
    assert_eq!(found(320, -328), outside);
    assert_eq!(found(320, 8), outside);
}
