//! The readers on this machine.

#![allow(dead_code, reason = "each test program uses a part")]

pub(crate) mod lines;
pub(crate) mod recorded;
mod simple_frame;

use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

pub(crate) use simple_frame::SimpleFrame;

use sframe_conformance::{Command, Outcome, Reader, Validator, Vector, run};
use sframe_corpus::{corpus, tools};

/// What our reader gets wrong.
pub(crate) const KNOWN: [&str; 0] = [];

/// How long a reader may take for an answer. All answers come within milliseconds, unless a reader hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whose reader it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// This project's.
    Own,
    /// Another project's.
    Foreign,
    /// Another project's, with the code of another reader in the tables.
    Repeated,
}

/// A reader.
pub(crate) struct Tester {
    name: String,
    kind: Kind,
    how: How,
}

/// How a reader is asked.
enum How {
    /// By the trait: the validator's reader.
    Validator,
    /// By the trait: `simple-frame-rs`.
    SimpleFrame,
    /// By the line protocol, with this command.
    Command(Vec<String>),
}

/// A reader's results.
pub(crate) struct Tested {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) outcomes: Vec<Outcome>,
}

impl Tester {
    fn command(name: &str, kind: Kind, words: &[&str]) -> Tester {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Tester { name: name.to_owned(), kind, how: How::Command(words) }
    }

    /// The reader's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The reader, to be asked one question after another.
    pub(crate) fn reader(&self) -> Box<dyn Reader> {
        match &self.how {
            How::Validator => Box::new(Validator::default()),
            How::SimpleFrame => Box::new(SimpleFrame::default()),
            How::Command(words) => Box::new(Command::new(words.clone(), PATIENCE)),
        }
    }

    /// Runs the reader on the vectors.
    pub(crate) fn test(&mut self, vectors: &[Vector]) -> Tested {
        let outcomes = match &self.how {
            How::Validator => run(&mut Validator::default(), vectors),
            How::SimpleFrame => run(&mut SimpleFrame::default(), vectors),
            How::Command(words) => run(&mut Command::new(words.clone(), PATIENCE), vectors),
        };
        Tested { name: self.name.clone(), kind: self.kind, outcomes }
    }
}

fn runner(name: &str) -> String {
    corpus().join("conformance/runners").join(name).display().to_string()
}

/// The readers of this project: that of the validator, and that in Python.
pub(crate) fn own() -> Vec<Tester> {
    let validator =
        Tester { name: "`sframe-validator`".to_owned(), kind: Kind::Own, how: How::Validator };
    let python = Tester::command("`reader.py`", Kind::Own, &["python3", &runner("reader.py")]);
    vec![validator, python]
}

/// A reader that follows the text also where no producer does.
pub(crate) fn literal() -> Tester {
    Tester::command("the text literally", Kind::Own, &["python3", "-B", &runner("literal.py")])
}

/// Compiles the runner for libsframe. `None` if a tool is missing and not required.
fn libsframe_runner() -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libsframe-runner");
    let source = runner("libsframe.c");
    let words = ["-Wall", "-Wextra", "-Werror", "-O1", "-o"];
    if !tools::is_installed("cc") {
        return None;
    }
    let status =
        process::Command::new("cc").args(words).arg(&program).args([&source, "-ldl"]).status();
    assert!(status.expect("cc runs").success(), "{source} does not compile");
    Some(program)
}

/// All readers. `None` if a tool is missing and not required.
pub(crate) fn all() -> Option<Vec<Tester>> {
    let program = libsframe_runner()?.display().to_string();
    let mut readers = own();
    let releases = [("2.40", 0), ("2.44", 1), ("2.47.50", 3)];
    for (release, number) in releases {
        let root = tools::toolchain(release)?.parent()?.to_owned();
        let library = root.join(format!("usr/lib/x86_64-linux-gnu/libsframe.so.{number}"));
        let name = format!("libsframe {release}");
        readers.push(Tester::command(
            &name,
            Kind::Foreign,
            &[&program, &library.display().to_string()],
        ));
    }
    let dumpers = runner("dumpers.py");
    for (release, _) in releases {
        let path = tools::toolchain(release)?.join("readelf").display().to_string();
        let words = ["python3", &dumpers, "readelf", &path];
        readers.push(Tester::command(&format!("readelf {release}"), Kind::Foreign, &words));
    }
    let path = tools::toolchain("llvm-23")?.join("llvm-readobj").display().to_string();
    let words = ["python3", &dumpers, "llvm-readobj", &path];
    readers.push(Tester::command("llvm-readobj 23", Kind::Foreign, &words));
    let name = "`simple-frame-rs` 0.3".to_owned();
    readers.push(Tester { name, kind: Kind::Foreign, how: How::SimpleFrame });
    Some(readers)
}
