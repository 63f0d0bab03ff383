//! The program to run, its arguments and its streams.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

/// The default number of bytes of each stream that are kept.
const KEEP: usize = 64 << 10;

/// A program, its arguments, and how its streams are handled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The program and its arguments. A program name without a slash is looked up in `PATH`. The program does not run
    /// in the caller's current folder, so paths must be absolute.
    pub words: Vec<OsString>,
    /// The file for its standard input; if `None`, the input is empty.
    pub input: Option<OsString>,
    /// Whether standard error is merged into standard output, so that their order is preserved. The result is reported
    /// as standard output.
    pub together: bool,
    /// The number of bytes kept from the start of each stream. The rest is counted and dropped.
    pub keep: usize,
}

impl Command {
    /// A command with empty input. The first 64 KiB of each of its streams are kept.
    pub fn new(words: impl IntoIterator<Item = impl Into<OsString>>) -> Command {
        let words = words.into_iter().map(Into::into).collect();
        Command { words, input: None, together: false, keep: KEEP }
    }
}
