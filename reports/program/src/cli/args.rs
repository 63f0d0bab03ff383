//! The definition of the command line, from which help, completions and the man page are made.

pub(super) mod conformance;
pub(super) mod consumers;
pub(super) mod forecast;
mod help;
pub(super) mod inputs;
pub(super) mod link;
pub(super) mod look;
pub(super) mod make;
pub(super) mod output;
pub(super) mod policy;
pub(super) mod raw;
pub(super) mod reduce;
pub(super) mod repo;
mod rules;
pub(super) mod size;
pub(super) mod stored;
pub(super) mod tools;
pub(super) mod trace;
pub(super) mod unpack;
pub(super) mod walk;

use std::ffi::OsString;
use std::path::Path;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use sframe_record::numbers::counted;
use sframe_synthesis::Encoding;
use sframe_validator::rules::Severity;

use consumers::Consumers;
use help::{ABOUT, AFTER_HELP, AFTER_LONG_HELP, LONG_ABOUT, VERSION};
use inputs::InputArgs;
use look::{DiffArgs, DumpArgs, ExplainArgs, LookupArgs};
pub(super) use output::{Format, OutputArgs};
use policy::{GateArgs, PolicyArgs};
use raw::RawArgs;
use rules::RuleName;
pub(super) use rules::Rules;
use sframe_input::is_pattern;
use sframe_scan::MAX_THREADS;
use stored::StoreArgs;
use tools::{
    AttendedArgs, LimitedArgs, REASSEMBLE_HELP, ReassembleArgs, TortureArgs, torture_help,
};
use trace::{HELP as TRACE_HELP, TraceArgs};
use unpack::UnpackArgs;
use walk::{HELP, USAGE, WalkArgs};

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "sframe-check",
    version = VERSION,
    about = ABOUT,
    long_about = LONG_ABOUT,
    after_help = AFTER_HELP,
    after_long_help = AFTER_LONG_HELP,
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// When to use colours
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        help_heading = "Output",
        hide_short_help = true
    )]
    pub(super) color: Color,
    /// Print to the terminal, not through the pager, which output longer than the screen goes through
    ///
    /// The pager is that of the environment variable PAGER, or else less.
    #[arg(long, global = true, help_heading = "Output", hide_short_help = true)]
    pub(super) no_pager: bool,
    #[command(flatten)]
    pub(super) check: CheckArgs,
}

/// What else the program does.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Check files, as the program does without a command
    #[command(hide = true, arg_required_else_help = true)]
    Check(Box<CheckArgs>),
    /// Print a whole section: header, functions, rows
    Dump(DumpArgs),
    /// Show what SFrame, CFI and the machine code say about a PC
    ///
    /// The answer has the function, the source line, the instruction, the row of each witness, and whether they agree.
    Lookup(LookupArgs),
    /// Walk real stacks by SFrame, CFI and machine code, and compare them
    ///
    /// The stacks are those of a core dump or of a running process.
    #[command(after_long_help = HELP, override_usage = USAGE)]
    Walk(WalkArgs),
    /// Run a program step by step, and check what each witness says at each PC
    ///
    /// The calls and returns that the program executes show which rows recover the caller.
    #[command(after_long_help = TRACE_HELP)]
    Trace(TraceArgs),
    /// Compare what two files say about their frames
    ///
    /// They may come from two compilers, linkers or builds. Files without SFrame are compared by their CFI.
    Diff(DiffArgs),
    /// Explain a rule, a known defect or a cause: what goes wrong, and what to do
    Explain(ExplainArgs),
    /// Predict what SFrame would cost, and what it would leave out
    ///
    /// For files, archives and packages without SFrame, or with it.
    #[command(after_long_help = forecast::FORECAST_HELP)]
    Forecast(Box<forecast::ForecastArgs>),
    /// Show where the bytes of existing sections go, and what could be saved
    #[command(after_long_help = size::SIZE_HELP)]
    Size(size::SizeArgs),
    /// Add an SFrame section, made from CFI, to a file that has none
    #[command(after_long_help = make::SYNTHESIZE_HELP)]
    Synthesize(make::SynthesizeArgs),
    /// Repair the SFrame section of a file that a linker has spoiled
    #[command(after_long_help = make::REPAIR_HELP)]
    Repair(make::RepairArgs),
    /// Predict what a linker will make of SFrame, before the link
    ///
    /// It reports which inputs have SFrame, what the linker does with it, which code of the output will have none and why, and what
    /// to do.
    #[command(after_long_help = link::LINK_HELP, override_usage = link::LINK_USAGE)]
    Link(link::LinkArgs),
    /// Report what changed between two scans
    ///
    /// New and fixed findings, coverage gained and lost.
    #[command(after_long_help = stored::compare_help())]
    Compare(stored::CompareArgs),
    /// Print the results of an earlier scan
    #[command(after_long_help = stored::SHOW_HELP)]
    Show(stored::ShowArgs),
    /// Divide a scan among machines: `plan`, `scan`, `status`, `merge`
    #[command(after_long_help = stored::SHARDS_HELP, disable_help_subcommand = true)]
    Shard {
        #[command(subcommand)]
        command: stored::ShardCommand,
    },
    /// Check the packages of a repository of Debian, Fedora, Alpine or Arch, by its index
    #[command(after_long_help = repo::HELP)]
    Repo(Box<repo::RepoArgs>),
    /// Run readers of SFrame on malformed sections
    ///
    /// It reports which of them crash, hang, or accept what cannot be read.
    #[command(after_long_help = torture_help())]
    Torture(TortureArgs),
    /// Test a reader with conformance vectors
    ///
    /// It reports the clauses of the specification that the reader gets wrong.
    #[command(after_long_help = conformance::CONFORMANCE_HELP)]
    Conformance(conformance::ConformanceArgs),
    /// Write a file's code and CFI as assembly, to try assemblers on it
    #[command(after_long_help = REASSEMBLE_HELP)]
    Reassemble(ReassembleArgs),
    /// Reduce a finding to the smallest assembly that shows it, with a report for the assembler's developers
    #[command(after_long_help = reduce::REDUCE_HELP)]
    Reduce(reduce::ReduceArgs),
    /// Supervise one run of a reader; `torture` starts it for each case
    #[command(hide = true)]
    Limited(LimitedArgs),
    /// Run a command that talks with this program, and end what it has started
    #[command(hide = true)]
    Attended(AttendedArgs),
    /// Write a completion script for a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write the manual page
    Man(ManArgs),
    /// Print all help about the program or a command
    #[command(hide = true)]
    Help {
        /// The command, such as `dump` or `shard scan`
        command: Vec<String>,
    },
}

/// `man`.
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Write a page for each command, as a file in this folder
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(super) all: Option<PathBuf>,
}

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The check.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub(super) inputs: InputArgs,
    #[command(flatten)]
    pub(super) what: WhatArgs,
    #[command(flatten)]
    pub(super) policy: PolicyArgs,
    #[command(flatten)]
    pub(super) gates: GateArgs,
    #[command(flatten)]
    pub(super) output: OutputArgs,
    #[command(flatten)]
    pub(super) raw: RawArgs,
    #[command(flatten)]
    pub(super) store: StoreArgs,
    #[command(flatten)]
    pub(super) resources: ResourceArgs,
}

/// What a scan on this machine may use.
#[derive(Debug, Args)]
pub(super) struct ResourceArgs {
    /// Number of threads; 0 for as many as the machine has
    #[arg(short = 'j', long, visible_alias = "jobs", value_name = "N", default_value_t = 0, value_parser = threads, hide_short_help = true, help_heading = "Resources")]
    pub(super) threads: usize,
    /// Memory for results and for members of packages, such as 500M or 2G; at least 1M
    ///
    /// A quarter is for results that wait to be written in order, an eighth for results of files that may
    /// occur again, and the rest is divided among the threads. A member that does not fit is skipped and
    /// named.
    #[arg(long, value_name = "SIZE", value_parser = memory, help_heading = "Resources", hide_short_help = true)]
    pub(super) memory_limit: Option<u64>,
}

/// What is looked at, and what of it is reported: what results depend on besides the bytes.
#[derive(Debug, Args)]
pub(super) struct WhatArgs {
    /// Check lints as well: legal, but worth a look
    #[arg(long, help_heading = "What to check", hide_short_help = true)]
    pub(super) pedantic: bool,
    /// Report these rules only
    ///
    /// A rule, a group of rules, or a pattern such as `segment-*`.
    #[arg(long, value_name = "RULE", hide_possible_values = true, value_parser = RuleName, value_delimiter = ',', help_heading = "What to check")]
    pub(super) only: Vec<Rules>,
    /// Ignore these rules
    ///
    /// A rule, a group of rules, or a pattern such as `segment-*`. Their findings leave no trace. The usual way to excuse findings is --allow, which reports them as suppressed.
    #[arg(long, value_name = "RULE", hide_possible_values = true, value_parser = RuleName, value_delimiter = ',', help_heading = "What to check", hide_short_help = true)]
    pub(super) ignore: Vec<Rules>,
    /// Compare sections with this
    ///
    /// Without this option, they are compared with CFI or else with ORC, if the file has any. --thorough compares with the machine code as
    /// well.
    #[arg(
        long,
        value_name = "ORACLE",
        value_enum,
        help_heading = "What to check",
        hide_short_help = true
    )]
    pub(super) against: Option<Oracle>,
    /// Compare SFrame, and CFI or ORC, with the machine code, too
    ///
    /// The code is followed from each function's start. It finds what SFrame has inherited from wrong CFI, and wrong CFI in files without
    /// SFrame. AMD64 and AArch64.
    #[arg(long, help_heading = "What to check")]
    pub(super) thorough: bool,
    /// Show the proof of each finding that the machine code decides
    ///
    /// It is the way from the function's entry to the instruction that decides, with what is known before each instruction. HTML has it
    /// without this option. The first 100 such findings of a file have a proof; `lookup FILE PC --why` prints any.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub(super) why: bool,
    /// Take the code for built without a red zone: whatever is saved below SP is lost
    ///
    /// On AMD64, programs may use 128 bytes below SP. Kernels, firmware and code built with -mno-red-zone may not, because interrupts
    /// use the same stack. Linux and its modules are known by their sections.
    #[arg(long, help_heading = "What to check", hide_short_help = true)]
    pub(super) no_red_zone: bool,
    /// Count calls after which some stack walkers do not find the call's row
    ///
    /// Some stack walkers look up a return address itself, not the byte before it. After a call that does not return, it
    /// may be in another function or in none. Calls after which such a walker takes a wrong frame are lints.
    #[arg(long, help_heading = "What to check", hide_short_help = true)]
    pub(super) call_sites: bool,
    /// Predict what SFrame would cost each file, and what it would leave out
    ///
    /// An alias of the command `forecast`, which says more about it, for a check at the same time. Without a list, it is gnu-2.47.50.
    #[arg(long, value_name = "ENCODING", value_parser = forecast::encoding(), num_args = 0.., require_equals = true, value_delimiter = ',', default_missing_values = forecast::DEFAULT, help_heading = "What to check", hide_short_help = true)]
    pub(super) forecast: Vec<Encoding>,
    /// Say what these consumers do with each section; `all` for all
    ///
    /// A consumer is a program that reads SFrame: `explain NAME` describes each. Names are separated by commas, and may
    /// contain `*`. Other releases with the same reader are named as well, such as glibc-2.44: a message says which
    /// profile answers.
    #[arg(long = "for", value_name = "CONSUMER", value_parser = Consumers::parse, help_heading = "What to check")]
    pub(super) consumers: Option<Consumers>,
    /// Also look for separate debug files below this folder
    ///
    /// The .debug_frame of a debug file is used if the file certainly belongs to the one that is checked.
    #[arg(long, value_name = "DIR", value_parser = PathBufValueParser::new().try_map(folder), value_hint = ValueHint::DirPath, help_heading = "What to check", hide_short_help = true)]
    pub(super) debug_dir: Vec<PathBuf>,
    /// Also ask servers for separate debug files: those in DEBUGINFOD_URLS
    ///
    /// Files that are in no folder are fetched by build ID, and kept where other clients of debuginfod keep them. Without this option,
    /// no server is asked, whatever the environment says. Needs the feature http.
    #[arg(long, help_heading = "What to check", hide_short_help = true)]
    pub(super) debuginfod: bool,
    /// Show every finding, not the first few of each rule
    ///
    /// The bytes around the defect are shown for the first 10,000 findings of a file.
    #[arg(long, help_heading = "Output")]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) unpack: UnpackArgs,
}

/// The format of a command with a single result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum DocumentFormat {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
}

/// `--against`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Oracle {
    /// Call frame information (.eh_frame, .debug_frame); files without any are undecided
    Cfi,
    /// The Linux kernel's ORC tables (.orc_unwind); files without any are undecided
    Orc,
    /// The machine code itself (AMD64, AArch64), and nothing else; for files without CFI
    Code,
    /// Nothing: check the sections alone
    None,
}

/// `--fail-on`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Level {
    /// Errors
    #[default]
    Error,
    /// Warnings and errors
    Warning,
    /// Everything, including the lints of --pedantic
    Lint,
    /// No finding
    Never,
}

impl Level {
    /// The least severity that counts, `None` where none does.
    pub(super) const fn severity(self) -> Option<Severity> {
        match self {
            Level::Error => Some(Severity::Error),
            Level::Warning => Some(Severity::Warning),
            Level::Lint => Some(Severity::Lint),
            Level::Never => None,
        }
    }
}

/// A number of threads, with a limit: each takes memory, and many more than there are processors only wait.
pub(super) fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number <= MAX_THREADS => Ok(number),
        _ => Err(format!("the number of threads is 0 to {MAX_THREADS}")),
    }
}

/// The least limit of memory: with less, not even small results could wait, or small members be read.
const LEAST_MEMORY: u64 = 1 << 20;

/// A limit of memory with which something can be checked.
fn memory(text: &str) -> Result<u64, String> {
    let bytes = repo::size(text)?;
    let too_small = || format!("at least 1M is needed, not {}", counted(bytes, "byte"));
    (bytes >= LEAST_MEMORY).then_some(bytes).ok_or_else(too_small)
}

/// A folder that is there.
fn folder(path: PathBuf) -> Result<PathBuf, &'static str> {
    match path.is_dir() {
        true => Ok(path),
        false => Err("there is no such folder: name one that can be read, or leave the option out"),
    }
}

/// A path that leads somewhere, or a pattern.
fn named(path: OsString) -> Result<OsString, &'static str> {
    match Path::new(&path).exists() || is_pattern(&path) {
        true => Ok(path),
        false => Err("nothing is there: name packages or folders of them, or leave the option out"),
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
