//! The command line of conformance tests.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::DocumentFormat;

pub(in crate::cli) const CONFORMANCE_HELP: &str = "\
Each vector has a section's bytes, and the right answers: its header, functions and rows, a lookup at every boundary, and walks of a stack. The reader is a program \
that answers requests on standard input, each a line of JSON, with a line of JSON. corpus/conformance/README.md describes the protocol, and has readers in C and Python \
to start from.

The n-th line that the reader prints answers the n-th request. A reader that ends is started again. One that does not answer for three vectors in a row in time is given up, and \
the rest is not tested. No process that a reader has started outlives it.

  sframe-check conformance --reader 'python3 corpus/conformance/runners/reader.py'

Exit status:
  0  the reader gives no wrong answer
  1  it gives a wrong answer
  2  it supports none of the vectors
  3  wrong usage, the reader cannot be started, or the program itself failed";

/// `conformance`.
#[derive(Debug, Args)]
pub(in crate::cli) struct ConformanceArgs {
    /// The command that starts the reader; without this option, sframe-check's own reader
    #[arg(long, value_name = "COMMAND", value_hint = ValueHint::CommandString)]
    pub(in crate::cli) reader: Option<String>,
    /// Only vectors whose names contain this text, such as v3/ or flexible
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) only: Option<String>,
    /// The vectors in this folder, not those of this program
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(in crate::cli) vectors: Option<PathBuf>,
    /// List every vector with a wrong answer, not each cause once for each clause
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// Seconds that an answer may take, with the request
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(in crate::cli) timeout: u64,
    /// How to write the results
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::cli) format: DocumentFormat,
}
