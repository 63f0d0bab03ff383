//! Tests of the answers that CFI gives about single rows, against look-ups of every PC.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use common::by_hand::eh_frame;
use common::{golden_files, members, open};
use sframe_oracle::cfi::{Cfi, Kind, RowContext};
use sframe_oracle::compare::CfiConfirms;
use sframe_validator::check::Confirm;
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery, Register};
use sframe_validator::{Abi, Section};

/// A row and its place: start, end, and frame.
type Question = (CodeAddress, u64, Frame);

/// Every row of ordinary functions, in the order of the table.
fn questions(sections: &[Section<'_>]) -> Vec<Question> {
    let mut questions = Vec::new();
    for section in sections {
        for function in section.functions().flatten() {
            let (Ok(start), Ok(None)) = (function.start(), function.repeat_size()) else {
                continue;
            };
            for row in function.rows().expect("readable").flatten() {
                if row.start < row.end {
                    let start = CodeAddress { address: row.start, ..start };
                    questions.push((start, row.end, row.frame));
                }
            }
        }
    }
    questions
}

/// The frame that CFI has at a PC.
fn look_up(cfi: &[Cfi<'_>], place: CodeAddress) -> Option<Frame> {
    let (cfi, function) = cfi.iter().find_map(|cfi| Some((cfi, cfi.find(place)?)))?;
    let mut context = RowContext::new(cfi);
    let row = function.rows(&mut context).flatten().find(|row| row.contains(place.address));
    row.map(|row| row.frame)
}

/// Frames without a caller are equal, whatever their other rules.
fn equal(one: Frame, other: Frame) -> bool {
    one == other || (one.ra, other.ra) == (Recovery::Undefined, Recovery::Undefined)
}

#[test]
fn answers_equal_look_ups_of_each_pc() {
    let (mut confirmed, mut denied) = (0, 0);
    for path in golden_files() {
        let data = std::fs::read(&path).expect("readable");
        for member in members(&data) {
            open(member, |_, sections, cfi| {
                let mut questions = questions(sections);
                let in_order = CfiConfirms::new(cfi);
                let ask = |source: &CfiConfirms<'_>, (start, end, frame): &Question| {
                    source.confirms(*start, *end, frame)
                };
                for (start, end, frame) in &questions {
                    let pcs = start.address..*end;
                    let mut pcs = pcs.map(|address| CodeAddress { address, ..*start });
                    let wanted = pcs.all(|pc| look_up(cfi, pc).is_some_and(|f| equal(f, *frame)));
                    let answer = ask(&in_order, &(*start, *end, *frame));
                    assert_eq!(answer, wanted, "{} {start:x?}", path.display());
                    confirmed += u64::from(answer);
                    denied += u64::from(!answer);
                    // A row with another CFA is never confirmed, except for frames without a caller.
                    if let Cfa::RegisterOffset { register, offset } = frame.cfa {
                        let cfa = Cfa::RegisterOffset { register, offset: offset + 8 };
                        let other = Frame { cfa, ..*frame };
                        let right = answer && frame.ra != Recovery::Undefined;
                        assert!(!right || !ask(&in_order, &(*start, *end, other)));
                    }
                }
                // In order from the last function to the first, each is still read only once.
                let backwards = CfiConfirms::new(cfi);
                questions.reverse();
                for question in &questions {
                    assert_eq!(ask(&backwards, question), ask(&in_order, question));
                }
            });
        }
    }
    println!("{confirmed} confirmed, {denied} not");
    assert!(confirmed > 5000 && denied > 100, "{confirmed} {denied}");
}

/// Ranges that end after the row, the function, or all functions are not confirmed.
#[test]
fn rows_are_confirmed_only_over_their_whole_range() {
    let data =
        std::fs::read(sframe_corpus::repository().join("corpus/golden/2.47.50/x86_64/shared.so"));
    open(&data.expect("a golden file"), |_, sections, cfi| {
        let source = CfiConfirms::new(cfi);
        for (start, end, frame) in questions(sections) {
            if source.confirms(start, end, &frame) {
                assert!(!source.confirms(start, u64::MAX, &frame), "{start:x?}");
                let nowhere = CodeAddress { address: start.address ^ 1 << 40, ..start };
                assert!(!source.confirms(nowhere, nowhere.address + 1, &frame));
            }
        }
    });
}

/// Written by hand: SP+8 in 0..0x20, in which a function without bytes is at 8, and SP+16 in 0x10..0x18, which hides the
/// rest of the first function.
#[test]
fn functions_in_another_one_hide_it_if_they_have_bytes() {
    let bytes = eh_frame(&[(0x1000, 0x20, &[]), (0x1008, 0, &[]), (0x1010, 8, &[0x0e, 16])]);
    let cfi = [Cfi::from_bytes(&bytes, Kind::EhFrame, 0x8000, Abi::Amd64)];
    let source = CfiConfirms::new(&cfi);
    let confirms = |start: u64, end: u64, offset| {
        let cfa = Cfa::RegisterOffset { register: Register(7), offset };
        let (ra, fp) = (Recovery::AtCfa(-8), Recovery::Unchanged);
        let frame = Frame { cfa, ra, fp, ra_signed: false };
        source.confirms(CodeAddress::absolute(0x1000 + start), 0x1000 + end, &frame)
    };
    assert!(confirms(0, 0x10, 8) && confirms(8, 9, 8) && confirms(0x10, 0x18, 16));
    assert!(!confirms(0, 0x11, 8) && !confirms(0x10, 0x11, 8) && !confirms(0x10, 0x19, 16));
    assert!(!confirms(0x18, 0x20, 8) && !confirms(0, 0x10, 16));
    // A range without bytes has nothing that could be wrong.
    assert!(confirms(0, 0, 16));
}

/// Two functions alternate, so each question needs the other function's rows. The work is limited by the bytes of the
/// CFI, and later questions are not confirmed.
#[test]
fn questions_in_a_hostile_order_end() {
    let data =
        std::fs::read(sframe_corpus::repository().join("corpus/golden/2.47.50/x86_64/shared.so"));
    open(&data.expect("a golden file"), |_, sections, cfi| {
        let source = CfiConfirms::new(cfi);
        let mut questions = questions(sections);
        questions.retain(|(start, end, frame)| source.confirms(*start, *end, frame));
        let (first, last) = (questions[0], questions[questions.len() - 1]);
        let fresh = CfiConfirms::new(cfi);
        let ask = |(start, end, frame): &Question| fresh.confirms(*start, *end, frame);
        let answers: Vec<_> = (0..100_000).map(|_| (ask(&first), ask(&last))).collect();
        // The rows read last still answer questions.
        assert_eq!((answers[0], answers[99_999]), ((true, true), (false, true)));
        // Each question reads the instructions of a function again, at least one byte, until four times the bytes of
        // the CFI have been read.
        let bytes: usize = cfi.iter().map(|cfi| cfi.data().len()).sum();
        let cost = |(start, ..): &Question| {
            let function = cfi.iter().find_map(|cfi| cfi.find(*start)).expect("described");
            let mut instructions = function.instructions();
            let start = instructions.offset();
            while instructions.next().is_some() {}
            usize::try_from(instructions.offset() - start).expect("short").max(1)
        };
        let (one, two) = (cost(&first), cost(&last));
        assert!(one + two > 2, "{one} {two}");
        let both = answers.iter().filter(|(one, two)| *one && *two).count();
        assert_eq!(both, 4 * bytes / (one + two));
    });
}
