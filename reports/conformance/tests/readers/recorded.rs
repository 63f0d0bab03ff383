//! Readers whose answers are recorded, because not every machine has their code: consumers of SFrame, asked through the
//! programs of `corpus/consumers`. `tests/recorded` asks them again where the programs are, and writes the records.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sframe_conformance::{Outcome, Vector, Verdict};
use sframe_corpus::corpus;

use super::{Kind, Tested};

/// A reader whose answers are recorded.
pub(crate) struct Consumer {
    /// The name of the program, and of the record.
    pub(crate) program: &'static str,
    /// The name in tables.
    pub(crate) name: &'static str,
    /// Whether its code is packaged. Other code is only public, and was run once.
    pub(crate) is_packaged: bool,
    pub(crate) kind: Kind,
    /// What was run: the package or the commit, and the files.
    pub(crate) source: &'static str,
    /// The date of the record.
    pub(crate) date: &'static str,
}

/// All of them, in the order of the tables.
pub(crate) const CONSUMERS: [Consumer; 8] = [
    Consumer {
        program: "glibc-2.43",
        name: "glibc 2.43",
        is_packaged: true,
        kind: Kind::Foreign,
        source: "Debian's glibc-source 2.43-7: `sframe-read.c`, `sframe.c`, `backtrace.c`",
        date: "2026-11-24",
    },
    Consumer {
        program: "llvm-23",
        name: "LLVM 23 `SFrameParser`",
        is_packaged: true,
        kind: Kind::Repeated,
        source: "Debian's llvm-23-dev 23.1.4: `SFrameParser`, which llvm-readobj uses",
        date: "2026-11-24",
    },
    Consumer {
        program: "mold-3",
        name: "mold 3",
        is_packaged: true,
        kind: Kind::Foreign,
        source: "Debian's mold 3.0.0, run: the section of its output",
        date: "2026-11-24",
    },
    Consumer {
        program: "linux-user-v2",
        name: "Linux user 434a8881",
        is_packaged: false,
        kind: Kind::Foreign,
        source: "`thesamesam/linux` 434a8881: `kernel/unwind/sframe.c`; affd47f8: `user.c`",
        date: "2026-11-24",
    },
    Consumer {
        program: "linux-user-v3",
        name: "Linux user 3231d5c5",
        is_packaged: false,
        kind: Kind::Foreign,
        source: "`dylanbhatch/linux` 3231d5c5: `kernel/unwind/sframe.c`, `user.c`",
        date: "2026-11-24",
    },
    Consumer {
        program: "linux-arm64-kernel",
        name: "Linux arm64 86d1f1a2",
        is_packaged: false,
        kind: Kind::Foreign,
        source: "`dylanbhatch/linux` 86d1f1a2: `kernel/unwind/sframe.c`",
        date: "2026-11-24",
    },
    Consumer {
        program: "java-profiler",
        name: "java-profiler d034fcaf",
        is_packaged: false,
        kind: Kind::Foreign,
        source: "`DataDog/java-profiler` d034fcaf: `sframe.cpp`, `findFrameDesc` of `codeCache.cpp`",
        date: "2026-11-24",
    },
    Consumer {
        program: "libsframest",
        name: "libsframest 42c46c4c",
        is_packaged: false,
        kind: Kind::Repeated,
        source: "`bminor/binutils-gdb` 42c46c4c: `sframe-stacktrace.c`; 28ce8398: `sframe-state.c`; with libsframe 2.44",
        date: "2026-11-24",
    },
];

/// What a reader answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    reader: String,
    source: String,
    date: String,
    /// The vectors that the reader supports: `pass`, `fail` or `refuses`, or the choices where several are acceptable.
    vectors: BTreeMap<String, String>,
    /// The number of the other vectors.
    unsupported: usize,
    /// The questions of `docs/ERRATA.md` that it answers, with the answers.
    questions: BTreeMap<String, String>,
    /// The number of the other questions.
    unanswered: usize,
}

impl Consumer {
    pub(crate) fn path(&self) -> PathBuf {
        corpus().join("conformance/recorded").join(format!("{}.json", self.program))
    }

    pub(crate) fn record(&self) -> Record {
        let path = self.path();
        let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_slice(&text).expect("a record")
    }

    /// The record of these outcomes and answers.
    pub(crate) fn recorded(
        &self,
        outcomes: &[Outcome],
        answers: &BTreeMap<String, Option<String>>,
    ) -> Record {
        let is_supported = |outcome: &&Outcome| outcome.verdict != Verdict::Unsupported;
        let vectors = outcomes.iter().filter(is_supported);
        let vectors: BTreeMap<String, String> =
            vectors.map(|outcome| (outcome.name.clone(), in_short(outcome))).collect();
        let given = answers.iter().filter_map(|(question, answer)| {
            answer.as_ref().map(|answer| (question.clone(), answer.clone()))
        });
        let questions: BTreeMap<String, String> = given.collect();
        Record {
            reader: self.name.to_owned(),
            source: self.source.to_owned(),
            date: self.date.to_owned(),
            unsupported: outcomes.len() - vectors.len(),
            unanswered: answers.len() - questions.len(),
            vectors,
            questions,
        }
    }

    /// What the reader made of the vectors, by the record.
    pub(crate) fn tested(&self, vectors: &[Vector]) -> Tested {
        let record = self.record();
        let known = record.vectors.len() + record.unsupported;
        assert_eq!(known, vectors.len(), "{}: the vectors have changed: {REMEDY}", self.program);
        let outcomes = vectors.iter().map(|vector| {
            let verdict = record.vectors.get(&vector.name).map_or("unsupported", String::as_str);
            outcome(&vector.name, verdict)
        });
        Tested { name: self.name.to_owned(), kind: self.kind, outcomes: outcomes.collect() }
    }
}

/// How the records are made.
pub(crate) const REMEDY: &str = "run `SFRAME_BLESS=1 SFRAME_CONSUMERS=DIR cargo test --test recorded` with the programs of all consumers";

impl Record {
    /// The numbers of vectors that the reader passes, fails and does not support.
    pub(crate) fn counts(&self) -> [usize; 3] {
        let failed = self.vectors.values().filter(|verdict| *verdict == "fail").count();
        [self.vectors.len() - failed, failed, self.unsupported]
    }

    /// The answer to a question, which is one of `all`.
    pub(crate) fn answer(&self, question: &str, all: usize) -> Option<&String> {
        let known = self.questions.len() + self.unanswered;
        assert_eq!(known, all, "{}: the questions have changed: {REMEDY}", self.reader);
        self.questions.get(question)
    }
}

fn in_short(outcome: &Outcome) -> String {
    let mut choices: Vec<usize> = outcome.choices.iter().map(|(_, choice)| choice + 1).collect();
    choices.sort_unstable();
    choices.dedup();
    match outcome.verdict {
        Verdict::Unsupported => "unsupported".to_owned(),
        Verdict::Fail => "fail".to_owned(),
        Verdict::Untested => "untested".to_owned(),
        Verdict::Pass if outcome.refused => "refuses".to_owned(),
        Verdict::Pass if choices.is_empty() => "pass".to_owned(),
        Verdict::Pass => choices.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// The opposite of `in_short`.
fn outcome(name: &str, verdict: &str) -> Outcome {
    let choices = verdict.split(", ").filter_map(|choice| choice.parse::<usize>().ok());
    let choices: Vec<(u64, usize)> = choices.map(|choice| (0, choice - 1)).collect();
    Outcome {
        name: name.to_owned(),
        verdict: match verdict {
            "unsupported" => Verdict::Unsupported,
            "fail" => Verdict::Fail,
            "untested" => Verdict::Untested,
            _ => Verdict::Pass,
        },
        checks: usize::from(verdict != "unsupported"),
        wrong: Vec::new(),
        choices,
        refused: verdict == "refuses",
        late: false,
    }
}

/// All consumers as tested readers.
pub(crate) fn tested(vectors: &[Vector]) -> Vec<Tested> {
    CONSUMERS.iter().map(|consumer| consumer.tested(vectors)).collect()
}

/// A table of what was run, and when.
pub(crate) fn table() -> String {
    let mut text =
        "| Reader | What was run | Recorded | Asked again by CI |\n|---|---|---|---|\n".to_owned();
    for Consumer { name, source, date, is_packaged, .. } in &CONSUMERS {
        let again = if *is_packaged {
            "yes, while Debian's sid has this version"
        } else {
            "no: the code is public, but not packaged"
        };
        text.push_str(&format!("| {name} | {source} | {date} | {again} |\n"));
    }
    text
}
