//! Readers with a mistake each fail, and readers in other processes may crash, hang or talk nonsense.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::time::Duration;

use sframe_conformance::{
    Address, Answer, Command, End, Found, Opened, Outcome, Reader, Section, Start, Validator,
    Vector, Verdict, Walked, run, run_one, vectors,
};
use sframe_corpus::tools;

/// The validator's reader with changed answers.
struct Wrong {
    right: Validator,
    open: fn(&mut Opened),
    lookup: fn(&mut Option<Found>),
    walk: fn(&mut Walked),
}

impl Default for Wrong {
    fn default() -> Wrong {
        Wrong { right: Validator::default(), open: |_| (), lookup: |_| (), walk: |_| () }
    }
}

fn changed<T>(mut answer: Answer<T>, change: fn(&mut T)) -> Answer<T> {
    if let Answer::Given(value) = &mut answer {
        change(value);
    }
    answer
}

impl Reader for Wrong {
    fn open(&mut self, section: &Section) -> Answer<Opened> {
        changed(self.right.open(section), self.open)
    }
    fn lookup(&mut self, pc: u64) -> Answer<Option<Found>> {
        changed(self.right.lookup(pc), self.lookup)
    }
    fn walk(&mut self, start: &Start) -> Answer<Walked> {
        changed(self.right.walk(start), self.walk)
    }
}

/// The sound section with two functions, and the walk through them.
fn chosen(name: &str) -> Vector {
    vectors().into_iter().find(|vector| vector.name == name).expect("a vector")
}

fn outcome(mut reader: Wrong, name: &str) -> Outcome {
    run_one(&mut reader, &chosen(name))
}

#[test]
fn each_wrong_answer_fails() {
    let complete = "v3/2.1-preamble/complete-amd64";
    let walks = "v3/A-walks/chain-amd64";
    assert_eq!(outcome(Wrong::default(), complete).verdict, Verdict::Pass);
    assert_eq!(outcome(Wrong::default(), walks).verdict, Verdict::Pass);
    let opens: [fn(&mut Opened); 6] = [
        |opened| opened.header.as_mut().expect("one").num_fres = Some(4),
        |opened| _ = opened.functions.as_mut().expect("some").pop(),
        |opened| opened.functions.as_mut().expect("some")[1].start = Some(Address(0)),
        |opened| opened.functions.as_mut().expect("some")[1].signal = Some(true),
        |opened| _ = opened.functions.as_mut().expect("some")[0].rows.as_mut().expect("some").pop(),
        |opened| {
            opened.functions.as_mut().expect("some")[0].rows.as_mut().expect("some")[1].start = 2
        },
    ];
    for open in opens {
        let outcome = outcome(Wrong { open, ..Wrong::default() }, complete);
        assert_eq!((outcome.verdict, outcome.wrong.len()), (Verdict::Fail, 1), "{outcome:?}");
    }
    let lookups: [fn(&mut Option<Found>); 4] = [
        |found| *found = None,
        |found| found.iter_mut().for_each(|found| found.function = Some(Address(1))),
        |found| found.iter_mut().for_each(|found| found.frame.cfa = None),
        |found| found.iter_mut().for_each(|found| found.frame.signed = Some(true)),
    ];
    for lookup in lookups {
        let outcome = outcome(Wrong { lookup, ..Wrong::default() }, complete);
        // The PCs at which there is a row: the gaps stay right.
        assert_eq!((outcome.verdict, outcome.wrong.len()), (Verdict::Fail, 8), "{outcome:?}");
    }
    let changes: [fn(&mut Walked); 4] = [
        |walked| walked.end = Some(End::Error),
        |walked| _ = walked.frames.pop(),
        |walked| walked.frames[0].pc = Address(0),
        |walked| walked.frames[0].fp = Some(Address(0)),
    ];
    for walk in changes {
        let outcome = outcome(Wrong { walk, ..Wrong::default() }, walks);
        assert_eq!((outcome.verdict, outcome.wrong.len()), (Verdict::Fail, 4), "{outcome:?}");
    }
}

/// A reader may leave out what it does not report.
#[test]
fn less_is_not_wrong() {
    let less = Wrong {
        open: |opened| *opened = Opened::default(),
        lookup: |found| found.iter_mut().for_each(|found| found.function = None),
        walk: |walked| walked.end = None,
        ..Wrong::default()
    };
    assert_eq!(outcome(less, "v3/A-walks/chain-amd64").verdict, Verdict::Pass);
}

/// A reader that does no walks. Its lookups are right, or wrong.
struct WithoutWalks(Wrong);

impl Reader for WithoutWalks {
    fn open(&mut self, section: &Section) -> Answer<Opened> {
        self.0.open(section)
    }
    fn lookup(&mut self, pc: u64) -> Answer<Option<Found>> {
        self.0.lookup(pc)
    }
    fn walk(&mut self, _: &Start) -> Answer<Walked> {
        Answer::Unsupported("walks".to_owned())
    }
}

/// Vectors with walks are about them: right lookups are not enough, and wrong ones are wrong.
#[test]
fn walks_that_a_reader_does_not_do_are_not_right() {
    let walks = chosen("v3/A-walks/chain-amd64");
    let right = run_one(&mut WithoutWalks(Wrong::default()), &walks);
    assert_eq!((right.verdict, right.wrong), (Verdict::Unsupported, Vec::new()));
    let lookup: fn(&mut Option<Found>) = |found| *found = None;
    let wrong = run_one(&mut WithoutWalks(Wrong { lookup, ..Wrong::default() }), &walks);
    assert_eq!(wrong.verdict, Verdict::Fail);
    let others = chosen("v3/2.1-preamble/complete-amd64");
    assert_eq!(run_one(&mut WithoutWalks(Wrong::default()), &others).verdict, Verdict::Pass);
}

/// Differences have the notation of the protocol.
#[test]
fn addresses_that_differ_are_hexadecimal() {
    let open: fn(&mut Opened) =
        |opened| opened.functions.as_mut().expect("some")[1].start = Some(Address(0x40_1abc));
    let outcome = outcome(Wrong { open, ..Wrong::default() }, "v2/2.1-preamble/complete-amd64");
    // Its entry is 40 f0 ff ff: -0xfc0 from the section at 0x402000 (docs/CONFORMANCE.md).
    assert_eq!(outcome.wrong, ["function 1: start: \"0x401abc\", expected \"0x401040\""]);
}

/// Programs that do not answer as the protocol demands fail every vector, and are started again for the next one.
#[test]
fn programs_that_do_not_answer_fail() {
    if !tools::is_installed("sh") {
        return;
    }
    let two: Vec<Vector> = vectors().into_iter().take(2).collect();
    let scripts = [
        ("read line; exit 3", "crashed: exit status: 3"),
        ("read line; kill -9 $$", "crashed: signal: 9"),
        ("read line; echo nonsense; read line", "not an answer"),
        ("read line; echo '{}'; read line", "neither opened, refused nor unsupported"),
    ];
    for (script, expected) in scripts {
        let words = ["sh", "-c", script].map(str::to_owned).to_vec();
        let outcomes = run(&mut Command::new(words, Duration::from_secs(600)), &two);
        for outcome in outcomes {
            assert_eq!(outcome.verdict, Verdict::Fail, "{script}");
            assert!(outcome.wrong[0].contains(expected), "{script}: {:?}", outcome.wrong);
        }
    }
    let unsupported = "while read line; do echo '{\"unsupported\": \"everything\"}'; done";
    let words = ["sh", "-c", unsupported].map(str::to_owned).to_vec();
    let outcomes = run(&mut Command::new(words, Duration::from_secs(600)), &two);
    assert!(outcomes.iter().all(|outcome| outcome.verdict == Verdict::Unsupported));
    let mut missing = Command::new(vec!["/does/not/exist".to_owned()], Duration::from_secs(1));
    assert!(missing.start().is_err());
}
