//! Arguments of `sframe-check trace`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use sframe_input::Pattern;
use sframe_input::pattern::{PatternError, Wildcards};
use sframe_policy::Known;

use super::DocumentFormat;

pub(in crate::cli) const HELP: &str = "\
The program runs one instruction at a time, about 50,000 per second. At each PC that it executes for the first \
time, SFrame, CFI and the machine code have to recover the return address, the caller's SP and the caller's FP. \
The truth comes from the calls and returns that were executed. Threads and child processes are traced as well, \
unless they were made with CLONE_UNTRACED: those are counted. \
Code is not judged while its caller is unknown: after stack switches, while longjmp or an exception leaves frames, \
and where code can change.

The program uses the terminal, standard input and standard output as usual. The report follows when it has \
ended. Addresses are not randomised. AMD64 Linux only.

Wrong rows that are cases of known defects of assemblers and linkers are named and do not count, unless --known deny is \
given.

Exit status:
  0  every row that was judged recovers the caller, apart from known defects
  1  a row does not
  2  no row is wrong, but something is undecided, or nothing was judged
  3  wrong usage, or the program cannot be traced
  4  no row is wrong, but a signal has ended the program
  5  no row is wrong, but --max-steps or --time-limit has ended the program
  130  interrupted by Ctrl-C, which ends the program as well
The program's own exit status is in the report.

Examples:
  sframe-check trace -- ls -l
  sframe-check trace --only '/usr/lib/**' --max-steps 10000000 -- python3 -c 'print(1)'
  sframe-check trace --format json --output report.json -- ./program";

/// `trace`.
#[derive(Debug, Args)]
pub(in crate::cli) struct TraceArgs {
    /// The program, a path or a name to look for, and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, allow_hyphen_values = true, value_hint = ValueHint::CommandWithArguments)]
    pub(in crate::cli) command: Vec<OsString>,
    /// End the program after this number of steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(in crate::cli) max_steps: Option<u64>,
    /// End the program after this time
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub(in crate::cli) time_limit: Option<u64>,
    /// Report only about files whose paths match this pattern
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub(in crate::cli) only: Option<Pattern>,
    /// How wrong rows that are cases of known defects of assemblers and linkers count
    ///
    /// `explain --list-known` lists them.
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t)]
    pub(in crate::cli) known: KnownRows,
    /// Start with the executable's first instruction: the dynamic linker's work before it runs at full speed
    #[arg(long)]
    pub(in crate::cli) from_entry: bool,
    /// Let the program use all processors, which is slower: it is traced by one
    #[arg(long)]
    pub(in crate::cli) no_pin: bool,
    /// The format of the report
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::cli) format: DocumentFormat,
    /// Write the report to this file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Show no progress
    #[arg(short, long)]
    pub(in crate::cli) quiet: bool,
}

/// `--known`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum KnownRows {
    /// Like other wrong rows
    Deny,
    /// They are named, and do not change the exit status
    #[default]
    Warn,
    /// They are only counted
    Allow,
}

impl From<KnownRows> for Known {
    fn from(level: KnownRows) -> Known {
        match level {
            KnownRows::Deny => Known::Deny,
            KnownRows::Warn => Known::Warn,
            KnownRows::Allow => Known::Allow,
        }
    }
}

fn pattern(text: &str) -> Result<Pattern, PatternError> {
    Pattern::new(text, Wildcards::Any)
}
