//! The program to run, with its arguments and streams.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

/// How many bytes of each stream are kept unless the caller says otherwise.
const KEEP: usize = 64 << 10;

/// A program, its arguments, and what becomes of its streams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The program and its arguments. A program without a slash is looked up in `PATH`. The program does not run in
    /// the caller's current folder, so that paths have to be absolute.
    pub words: Vec<OsString>,
    /// The file that is its standard input; without one, the input is empty.
    pub input: Option<OsString>,
    /// Whether standard output and standard error are the same stream, so that their order is kept. It is then
    /// reported as standard output.
    pub together: bool,
    /// How many bytes are kept from the start of each stream. The rest is counted and dropped.
    pub keep: usize,
}

impl Command {
    /// A command with empty input, of whose two streams the first 64 KiB are kept.
    pub fn new(words: impl IntoIterator<Item = impl Into<OsString>>) -> Command {
        let words = words.into_iter().map(Into::into).collect();
        Command { words, input: None, together: false, keep: KEEP }
    }
}
