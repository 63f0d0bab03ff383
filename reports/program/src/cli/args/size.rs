//! The command line of `size`.

use std::ffi::OsString;

use clap::{Args, ValueHint};

use super::DocumentFormat;
use super::raw::RawArgs;
use super::unpack::LimitArgs;

pub(in crate::cli) const SIZE_HELP: &str = "\
`forecast` says what SFrame would cost where there is none. What is saved `without loss` leaves the meaning at every PC as it is.

Exit status:
  0  every section was measured
  2  a file or section could not be read, or there is no section
  3  wrong usage, or the program itself failed";

/// `size`.
#[derive(Debug, Args)]
pub(in crate::cli) struct SizeArgs {
    /// ELF files, folders, archives, packages; `-` for standard input
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub(in crate::cli) paths: Vec<OsString>,
    /// Estimate what changes of the format would save, for those who design its next version
    #[arg(long)]
    pub(in crate::cli) what_if: bool,
    /// List each section, not only the sums of more than three
    #[arg(long)]
    pub(in crate::cli) by_file: bool,
    /// How to write the sizes
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::cli) format: DocumentFormat,
    #[command(flatten)]
    pub(in crate::cli) raw: RawArgs,
    #[command(flatten)]
    pub(in crate::cli) limits: LimitArgs,
}
