//! The command line of what looks at a section or a rule.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, PossibleValue, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use sframe_defects::Producer;

use super::raw::RawArgs;
use super::{DocumentFormat, folder};
use sframe_render::dump::Style;
use sframe_render::explain::{self, Subject};
use sframe_render::lookup::{PlaceName, hexadecimal};

/// `dump`.
#[derive(Debug, Args)]
pub(in crate::cli) struct DumpArgs {
    /// A file, archive or package
    #[arg(value_hint = ValueHint::FilePath)]
    pub(in crate::cli) file: PathBuf,
    /// The layout
    #[arg(long, value_enum, default_value_t)]
    pub(in crate::cli) style: DumpStyle,
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
    /// Places in its code: 0x1234, SYMBOL, SYMBOL+16, SYMBOL+0x10 or SECTION+0x10
    #[arg(value_name = "PC", required = true)]
    pub(in crate::cli) places: Vec<PlaceName>,
    /// Also look for separate debug files below this folder
    #[arg(long, value_name = "DIR", value_parser = PathBufValueParser::new().try_map(folder), value_hint = ValueHint::DirPath)]
    pub(in crate::cli) debug_dir: Vec<PathBuf>,
    /// Also ask servers for separate debug files: those in DEBUGINFOD_URLS
    ///
    /// Files that are in no folder are fetched by build ID, and kept where other clients of debuginfod keep them. Without this option,
    /// no server is asked, whatever the environment says. Needs the feature http.
    #[arg(long)]
    pub(in crate::cli) debuginfod: bool,
    /// Print the proof of what the machine code says: the way from an entry of the function to
    /// the PC, with what is known before each instruction
    #[arg(long)]
    pub(in crate::cli) why: bool,
    /// Take the code for built without a red zone: whatever is saved below SP is lost
    #[arg(long)]
    pub(in crate::cli) no_red_zone: bool,
    /// Print how this register is recovered, too, with the proof
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) register: Vec<String>,
    /// The format of the answers
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::cli) format: DocumentFormat,
}

/// Everything with one name.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Subjects(pub(in crate::cli) Vec<Subject>);

/// Parses the name of something that has a page. Shells complete it.
#[derive(Clone, Copy)]
struct SubjectName;

impl TypedValueParser for SubjectName {
    type Value = Subjects;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Subjects, clap::Error> {
        let parse = |name: &str| explain::subjects_named(name).map(Subjects);
        parse.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(explain::subjects().map(|(name, _)| PossibleValue::new(name))))
    }
}

/// `diff`.
#[derive(Debug, Args)]
pub(in crate::cli) struct DiffArgs {
    /// The first file or package
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) first: PathBuf,
    /// The second file or package
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) second: PathBuf,
    /// What is compared; without this option, SFrame where both files have it, and CFI where neither has
    #[arg(long, value_name = "ROWS", value_enum)]
    pub(in crate::cli) from: Option<CompareRows>,
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

/// `diff --from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum CompareRows {
    /// SFrame sections
    Sframe,
    /// Call frame information: `.eh_frame`, `.debug_frame`
    Cfi,
    /// What the machine code proves
    Code,
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
    /// Rules, known defects, causes of lost coverage, consumers, or messages of linkers; none for a list of all rules
    ///
    /// A message of a linker is one argument, in quotes.
    #[arg(value_name = "NAME", hide_possible_values = true, value_parser = SubjectName)]
    pub(in crate::cli) names: Vec<Subjects>,
    /// The pages of all rules
    #[arg(long, conflicts_with = "names")]
    pub(in crate::cli) all: bool,
    /// List the known defects of assemblers, linkers and C libraries
    #[arg(long, conflicts_with_all = ["names", "all"])]
    pub(in crate::cli) list_known: bool,
    /// List only the defects of this program, such as "GNU ld" or "GNU ld 2.44"
    #[arg(long, value_name = "PROGRAM", requires = "list_known")]
    pub(in crate::cli) producer: Option<Producer>,
    /// As Markdown, the text of RULES.md
    #[arg(long, requires = "all", conflicts_with = "format")]
    pub(in crate::cli) markdown: bool,
    /// The format of the pages; a list is their pages in JSON
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::cli) format: DocumentFormat,
}

/// The layout of a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum DumpStyle {
    /// Our own layout: decoded fields, symbols, names of registers, section offsets
    #[default]
    Plain,
    /// The output of GNU objdump without the lines that name the file: binutils 2.40 for version 1, 2.44 for version
    /// 2 with section-relative addresses, 2.47.50 for everything else
    Gnu,
}

impl From<DumpStyle> for Style {
    fn from(style: DumpStyle) -> Style {
        match style {
            DumpStyle::Plain => Style::Plain,
            DumpStyle::Gnu => Style::Gnu,
        }
    }
}
