//! The command line of link audits.

use std::ffi::OsString;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use sframe_link::Linker;

use super::DocumentFormat;

pub(in crate::cli) const LINK_USAGE: &str = "sframe-check link --linker <LINKER> <INPUT>...\n       sframe-check link -- <DRIVER> <ARGUMENT>...";

pub(in crate::cli) const LINK_HELP: &str = "\
INPUTS are what the linker gets: objects, archives, shared objects, linker scripts, and options such as -lfoo, -L, -shared or --start-group. \
Options of sframe-check come before them. After `--`, the command of a compiler driver is asked for its linker and its inputs (cc -###), among them the startup objects and libraries that it \
adds. Sources are compiled into a temporary folder, with all that compilers write. Nothing is linked.

  sframe-check link --linker ld-2.44 main.o libfoo.a
  sframe-check link -- cc -O2 main.c -lfoo -o prog

Exit status:
  0  the linker merges SFrame, or there is none
  1  the link fails, or SFrame is lost or wrong
  2  nothing bad is predicted, but something could not be decided
  3  wrong usage, or the program itself failed";

/// `link`.
#[derive(Debug, Args)]
pub(in crate::cli) struct LinkArgs {
    /// The linker; a driver names its own
    #[arg(long, value_name = "LINKER", value_parser = linker(), required_unless_present = "command", conflicts_with = "command")]
    pub(in crate::cli) linker: Option<Linker>,
    /// How to write the audit
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::cli) format: DocumentFormat,
    /// The linker's inputs and options
    #[arg(
        value_name = "INPUT",
        allow_hyphen_values = true,
        required_unless_present = "command",
        conflicts_with = "command"
    )]
    pub(in crate::cli) inputs: Vec<OsString>,
    /// The command of a compiler driver
    #[arg(value_name = "COMMAND", last = true)]
    pub(in crate::cli) command: Vec<OsString>,
}

fn linker() -> impl TypedValueParser<Value = Linker> {
    let names = Linker::MODELLED.map(Linker::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Linker>())
}
