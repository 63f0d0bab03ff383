//! Arguments of `sframe-check walk`.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use sframe_process::walk::{Gaps, LastFrame, Lookup, Rules};

use super::{DocumentFormat, folder};

pub(in crate::cli) const USAGE: &str =
    "sframe-check walk [OPTIONS] <CORE>\n       sframe-check walk [OPTIONS] --pid <PID>";

pub(in crate::cli) const HELP: &str = "\
Exit status:
  0  the witnesses agree about every frame that several of them describe
  1  they part: two of them gave different callers of one frame; or a return address that was looked up belongs to \
another row or function than its call, and leads to another caller
  2  they do not part, but something could not be read or decided, or no witness reached the outermost frame
  3  wrong usage, or the program itself failed

A frame for which a witness has no row does not count as a difference. The witness continues with the caller that \
another one found, unless --gaps stop is given.";

/// The largest value of `--sp-alignment`: the size of a page.
const LARGEST_ALIGNMENT: u64 = 4096;

/// `walk`.
#[derive(Debug, Args)]
pub(in crate::cli) struct WalkArgs {
    /// A core dump
    #[arg(value_hint = ValueHint::FilePath, required_unless_present = "pid")]
    pub(in crate::cli) core: Option<PathBuf>,
    /// A running process, which is stopped while its stacks are walked
    #[arg(long, value_parser = process, conflicts_with_all = ["core", "exe", "sysroot"])]
    pub(in crate::cli) pid: Option<u32>,
    /// The program that was executed, if it is not where the core dump says
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) exe: Option<PathBuf>,
    /// The folder below which the mapped files are
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(in crate::cli) sysroot: Option<PathBuf>,
    /// Also look for separate debug files below this folder
    #[arg(long, value_name = "DIR", value_parser = PathBufValueParser::new().try_map(folder), value_hint = ValueHint::DirPath)]
    pub(in crate::cli) debug_dir: Vec<PathBuf>,
    /// Also ask servers for separate debug files: those in DEBUGINFOD_URLS
    ///
    /// Files that are in no folder are fetched by build ID, and kept where other clients of debuginfod keep them. Without this option,
    /// no server is asked, whatever the environment says. A running process does not wait for servers. Needs the feature http.
    #[arg(long, conflicts_with = "pid")]
    pub(in crate::cli) debuginfod: bool,
    /// Walk only the stack of this thread
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) thread: Option<u32>,
    /// The address to look up for the frame of a caller
    #[arg(
        long,
        value_name = "ADDRESS",
        value_enum,
        default_value_t,
        help_heading = "The consumer's rules"
    )]
    lookup: LookupArg,
    /// The frame at which a walk is complete
    #[arg(
        long,
        value_name = "FRAME",
        value_enum,
        default_value_t,
        help_heading = "The consumer's rules"
    )]
    end: EndArg,
    /// What a witness without a row does, if another one has a row
    #[arg(
        long,
        value_name = "ACTION",
        value_enum,
        default_value_t,
        help_heading = "The consumer's rules"
    )]
    gaps: GapsArg,
    /// End a walk if SP in a caller is not a multiple of this number of bytes, a power of two up to 4096
    #[arg(long, value_name = "BYTES", default_value_t = 1, value_parser = alignment, help_heading = "The consumer's rules")]
    sp_alignment: u64,
    /// End a walk after this number of frames
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "The consumer's rules")]
    max_frames: u32,
    /// The format of the walks
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::cli) format: DocumentFormat,
}

/// `--lookup`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum LookupArg {
    /// The byte before the return address, which is in the call
    #[default]
    Call,
    /// The return address itself
    ReturnAddress,
}

/// `--end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum EndArg {
    /// The one whose return address is undefined or 0
    #[default]
    RaUndefined,
    /// That, and one in whose caller FP is 0
    FpZero,
}

/// `--gaps`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum GapsArg {
    /// Continue with the caller that the other witness found
    #[default]
    Follow,
    /// End its walk
    Stop,
}

impl WalkArgs {
    /// The rules that the options choose.
    pub(in crate::cli) fn rules(&self) -> Rules {
        Rules {
            lookup: match self.lookup {
                LookupArg::Call => Lookup::Call,
                LookupArg::ReturnAddress => Lookup::ReturnAddress,
            },
            last_frame: match self.end {
                EndArg::RaUndefined => LastFrame::RaUndefined,
                EndArg::FpZero => LastFrame::FpZero,
            },
            gaps: match self.gaps {
                GapsArg::Follow => Gaps::Follow,
                GapsArg::Stop => Gaps::Stop,
            },
            sp_alignment: self.sp_alignment,
            max_frames: usize::try_from(self.max_frames).unwrap_or(usize::MAX),
            ..Rules::default()
        }
    }
}

/// The value of `--pid`.
fn process(text: &str) -> Result<u32, &'static str> {
    let number = text.parse::<i32>().ok().filter(|number| *number > 0);
    number.and_then(|number| u32::try_from(number).ok()).ok_or("not the number of a process")
}

/// The value of `--sp-alignment`.
fn alignment(text: &str) -> Result<u64, &'static str> {
    let number: Option<u64> = text.parse().ok();
    number
        .filter(|number| number.is_power_of_two() && *number <= LARGEST_ALIGNMENT)
        .ok_or("not a power of two from 1 to 4096")
}
