//! Symptoms of known defects, which are in `corpus/differences/` and `corpus/NOTES.md`. They are recognised by the
//! instructions of the reduced program.

use sframe_validator::Abi;

use super::{Assembler, signature};
use crate::program::{Function, Op, Program};

/// A known defect.
struct Known {
    /// The case in `corpus/differences/`, or another place that describes it.
    case: &'static str,
    /// The assemblers that have it.
    assemblers: &'static [&'static str],
    /// The symptom, or one of the fields that differ.
    symptom: &'static str,
    /// Words that the signature has to have, in this order; `*` matches the rest of a word.
    words: &'static [&'static str],
    /// The machine, if it is the only one with this defect.
    abi: Option<Abi>,
}

const ALL: &[&str] = &["2.40", "2.44", "2.47.50", "llvm-23"];
const GNU: &[&str] = &["2.40", "2.44", "2.47.50"];
const OLD: &[&str] = &["2.40", "2.44"];
const OLD_AND_LLVM: &[&str] = &["2.40", "2.44", "llvm-23"];
const NEW: &[&str] = &["2.47.50"];
const LLVM: &[&str] = &["llvm-23"];

/// The known defect that a function shows, if no reduction is needed. GNU as drops nearly every function with an
/// escape, and to reduce all of them would take most of the time.
#[must_use]
pub fn known_at_once(
    assembler: &Assembler,
    function: &Function,
    symptom: &str,
) -> Option<&'static str> {
    let escaped = function.ops.iter().any(Op::is_escaped);
    (escaped && symptom == "lost" && !assembler.is_llvm()).then_some("escape-of-directive")
}

const fn known_case(
    case: &'static str,
    assemblers: &'static [&'static str],
    symptom: &'static str,
    words: &'static [&'static str],
) -> Known {
    Known { case, assemblers, symptom, words, abi: None }
}

impl Known {
    const fn on(mut self, abi: Abi) -> Known {
        self.abi = Some(abi);
        self
    }
}

const KNOWN: &[Known] = &[
    known_case("NOTES.md: restore before a row", OLD, "crashed", &["restore:*"]),
    known_case("NOTES.md: cfa-register before a row", OLD, "crashed", &["cfa-register:*"]),
    known_case(
        "NOTES.md: restored state without a row",
        NEW,
        "crashed",
        &["remember", "restore-state"],
    ),
    known_case(
        "regressions/llvm-mc-aborts-at-state-that-was-not-remembered.s",
        LLVM,
        "crashed",
        &["remember", "restore-state"],
    ),
    known_case("escape-of-directive", GNU, "lost", &["(*"]),
    known_case("escape-of-directive", LLVM, "lost", &["(*"]),
    known_case("return-in-escape", LLVM, "ra", &["(saved:ra@*"]),
    known_case("return-in-escape", LLVM, "ra", &["(value:ra@*"]),
    known_case("value-offset-ignored", LLVM, "fp", &["value:fp"]),
    known_case("return-value-ignored", ALL, "ra", &["value:ra"]).on(Abi::Amd64),
    known_case("remembered-in-place", OLD, "differs", &["*", "remember", "*", "restore-state"]),
    known_case("remembers-one-state", GNU, "differs", &["remember", "remember", "restore-state"]),
    known_case("register-in-place", GNU, "cfa", &["cfa*", "cfa-register:*"]),
    known_case("cfa-in-other-register", &["2.40"], "cfa", &["cfa*:other"]),
    known_case("cfa-in-other-register", &["2.40"], "cfa", &["cfa*:ra"]),
    known_case("return-elsewhere", OLD_AND_LLVM, "ra", &["saved:ra"]).on(Abi::Amd64),
    known_case("return-offset-cut", NEW, "ra", &["saved:ra"]),
    known_case("return-in-register", &["2.44", "llvm-23"], "ra", &["in-register:ra"]),
    known_case("return-restore-ignored", NEW, "ra", &["in-register:ra", "restore:ra"]),
    known_case("undefined-for-good", NEW, "undefined-ra", &["undefined:ra"]),
    known_case("signal-outermost", NEW, "undefined-ra", &["signal-frame"]),
    known_case("RA has no register of its own", ALL, "ra", &["same:ra"]).on(Abi::Amd64),
    known_case("RA has no register of its own", ALL, "ra", &["in-itself:ra"]).on(Abi::Amd64),
    known_case("the register itself is the same value", NEW, "ra", &["in-itself:ra"]),
    known_case("frame-pointer-undefined", OLD_AND_LLVM, "fp", &["undefined:fp"]),
    known_case("same-value-ignored", OLD_AND_LLVM, "fp", &["saved:fp", "same:fp"]),
    known_case("same-value-ignored", OLD_AND_LLVM, "ra", &["saved:ra", "same:ra"]),
    known_case("frame-pointer-only", &["2.40"], "ra", &["saved:fp"]),
    known_case("frame-pointer-only", &["2.40"], "fp", &["saved:fp"]),
    known_case("frame-pointer-in-register", LLVM, "fp", &["in-register:fp"]),
    known_case("relative-save-ignored", LLVM, "fp", &["saved:fp"]),
    known_case("restore-to-first-row", LLVM, "fp", &["saved:fp", "restore:fp"]),
    known_case("base-in-passing", &["2.44", "2.47.50", "llvm-23"], "lost", &["cfa*", "cfa*"]),
    known_case("frame-pointer-in-passing", NEW, "lost", &["undefined:fp", "restore:fp"]),
    known_case("frame-pointer-in-passing", NEW, "lost", &["undefined:fp", "same:fp"]),
    known_case("frame-pointer-in-passing", &["2.44"], "lost", &["in-register:fp", "saved:fp"]),
    known_case("frame-pointer-in-passing", &["2.44"], "lost", &["saved:fp", "same:fp"]),
    known_case("FP in itself is FP saved in a register", ALL, "lost", &["in-itself:fp"]),
    known_case("SP in itself is SP saved in a register", ALL, "lost", &["in-itself:sp"]),
    known_case("restore-with-older-cie", GNU, "fp", &["saved:fp", "restore:fp"]),
    known_case("restore-with-older-cie", GNU, "ra", &["saved:ra", "restore:ra"]),
    known_case("restore-with-older-cie", GNU, "fp", &["in-register:fp", "restore:fp"]),
    known_case("restore in a CIE has no meaning", NEW, "undecided", &["restore:*"]),
    known_case("the register itself is the same value", NEW, "fp", &["in-itself:fp"]),
];

/// The known defect that a reduced program shows; `None` if it is a new one.
#[must_use]
pub fn known(assembler: &Assembler, program: &Program, symptom: &str) -> Option<&'static str> {
    let signature = signature(program);
    let words: Vec<_> = signature.split(' ').collect();
    let find = |symptom: &str| {
        KNOWN.iter().find(|known| {
            known.assemblers.contains(&assembler.name.as_str())
                && (known.symptom == symptom || known.symptom == "differs" && is_field(symptom))
                && known.abi.is_none_or(|abi| abi == assembler.abi)
                && in_order(known.words, &words)
        })
    };
    match symptom.split_once(": ") {
        // Several fields, which may have different defects.
        Some(("differs", fields)) => {
            let mut found = fields.split(", ").map(find);
            let first = found.next()??;
            found.all(|found| found.is_some()).then_some(first.case)
        }
        Some((kind, _)) => find(kind).map(|known| known.case),
        None => find(symptom).map(|known| known.case),
    }
}

fn is_field(symptom: &str) -> bool {
    !["crashed", "lost", "only-sframe", "undecided", "misread"].contains(&symptom)
}

fn in_order(wanted: &[&str], words: &[&str]) -> bool {
    let mut words = words.iter();
    wanted.iter().all(|wanted| words.any(|word| matches(wanted, word)))
}

fn matches(pattern: &str, word: &str) -> bool {
    match pattern.split_once('*') {
        Some((start, end)) => {
            word.len() >= start.len() + end.len() && word.starts_with(start) && word.ends_with(end)
        }
        None => pattern == word,
    }
}
