//! The command line of what looks at a section or a rule.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use sframe_validator::rules::Rule;

use super::raw::RawArgs;
use super::{DocumentFormat, RuleName, folder};
use crate::dump::Style;
use crate::lookup::{PlaceName, hexadecimal};

/// `dump`.
#[derive(Debug, Args)]
pub(in crate::cli) struct DumpArgs {
    /// A file or archive
    #[arg(value_hint = ValueHint::FilePath)]
    pub(in crate::cli) file: PathBuf,
    /// The layout
    #[arg(long, value_enum, default_value_t)]
    pub(in crate::cli) style: Style,
    /// Print only functions with this symbol
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) function: Vec<String>,
    /// Print only functions that contain this address, or offset in a section of an object
    #[arg(long, value_name = "0xPC", value_parser = hexadecimal)]
    pub(in crate::cli) pc: Vec<u64>,
    #[command(flatten)]
    pub(in crate::cli) raw: RawArgs,
}

/// `lookup`.
#[derive(Debug, Args)]
pub(in crate::cli) struct LookupArgs {
    /// An ELF file
    #[arg(value_hint = ValueHint::FilePath)]
    pub(in crate::cli) file: PathBuf,
    /// Places in its code: 0x1234, SYMBOL, SYMBOL+0x10 or SECTION+0x10
    #[arg(value_name = "PC", required = true)]
    pub(in crate::cli) places: Vec<PlaceName>,
    /// Also look for separate debug files below this folder
    #[arg(long, value_name = "DIR", value_parser = PathBufValueParser::new().try_map(folder), value_hint = ValueHint::DirPath)]
    pub(in crate::cli) debug_dir: Vec<PathBuf>,
    /// The format of the answers
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::cli) format: DocumentFormat,
}

/// `diff`.
#[derive(Debug, Args)]
pub(in crate::cli) struct DiffArgs {
    /// The first file
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) first: PathBuf,
    /// The second file
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) second: PathBuf,
    /// How code is matched; without this option, by PC where both files have code at the same
    /// addresses, else by symbol
    #[arg(long, value_enum)]
    pub(in crate::cli) by: Option<MatchBy>,
    /// How to write what is found
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::cli) format: DocumentFormat,
    /// Show each function that differs, not the first ten
    #[arg(long)]
    pub(in crate::cli) all: bool,
}

/// `diff --by`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum MatchBy {
    /// The same addresses
    Pc,
    /// The symbol at a function's start
    Symbol,
}

/// `explain`.
#[derive(Debug, Args)]
pub(in crate::cli) struct ExplainArgs {
    /// The rules; none for a list of all
    #[arg(value_name = "RULE", hide_possible_values = true, value_parser = RuleName)]
    pub(in crate::cli) rules: Vec<&'static Rule>,
    /// The pages of all rules
    #[arg(long, conflicts_with = "rules")]
    pub(in crate::cli) all: bool,
    /// As Markdown, the text of RULES.md
    #[arg(long, requires = "all")]
    pub(in crate::cli) markdown: bool,
}
