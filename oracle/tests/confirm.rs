//! Tests of the answers that CFI gives about single rows, against look-ups of every PC.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use common::{golden_files, members, open};
use sframe_oracle::cfi::{Cfi, RowContext};
use sframe_oracle::compare::CfiConfirms;
use sframe_validator::Section;
use sframe_validator::check::Confirm;
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery};

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
        let bytes: usize = cfi.iter().map(|cfi| cfi.data().len()).sum();
        assert!(answers.iter().filter(|(one, two)| *one && *two).count() < 4 * bytes);
    });
}
