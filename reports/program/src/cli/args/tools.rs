//! The command line of `torture`, which tries readers, and of `reassemble`, which tries assemblers.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use sframe_harness::limited::limits::{FILE_MIB, FILES_MIB, OUTPUT_MIB, WRITTEN_MIB};

use super::DiffFormat;

/// The end of `torture --help`, with the limits that are not options.
pub(in crate::cli) fn torture_help() -> String {
    format!(
        "\
Each reader runs once for each case, in a process of its own, on an ELF file: sound sections, a
malformed one for each rule, the same defects in older versions, and small sections that promise
enormous amounts of rows, functions or bytes.

  crash   ended by a signal, by a sanitizer's report, or by a panic
  hang    ended at the limit of time
  memory  failed with half of the memory limit or more in use
  writes  ended after {OUTPUT_MIB} MiB of output, {FILES_MIB} MiB in files, {FILE_MIB} MiB in one of them, or
          {WRITTEN_MIB} MiB written anywhere, pipes and removed files included
  reject  an exit status that is not 0, or a message on standard error; of GNU readers also
          \"SFrame version not supported\" on standard output
  accept  exit status 0, and nothing of that

A conforming reader neither crashes nor hangs nor takes all memory nor fills the disk, and rejects
what the format gives no reading: parts outside the section, codes that its version does not define.
Whether it accepts other defects is its own affair. Where it rejects sound sections of a version and
machine, the rest of these is out of its scope when it rejects it, too.

Each run has an empty folder as working folder and TMPDIR, which is removed afterwards. Words of a
command that name a file in the current folder still do. Processes that a reader leaves behind are
ended.

Exit status:
  0  every reader is conforming
  1  one is not
  2  one could not be run, or rejects every sound section
  3  wrong usage, or the program itself failed
  130  interrupted by Ctrl-C, SIGTERM or SIGHUP: the report has the cases that had run"
    )
}

pub(in crate::cli) const REASSEMBLE_HELP: &str = "\
The code is written as bytes, each entry of .eh_frame or .debug_frame as a function with .cfi_
directives at the PCs where its instructions are: what a compiler would have written. So
assemblers that emit SFrame can be tried on the CFI of any program. Personality routines and
LSDAs are left out, for no row depends on them. What cannot be said in assembly is left out, too,
and told.

      sframe-check reassemble libfoo.so -o foo.s
      as --gsframe foo.s -o foo.o
      ld -shared foo.o -o foo.so
      sframe-check reassemble libfoo.so --compare foo.so     # the same rows?
      sframe-check foo.so                                    # does SFrame say what CFI says?

Exit status:
  0  all functions were carried; with --compare: and all are the same
  1  with --compare: one is not
  2  some functions were left out, there were none, or a file could not be read
  3  wrong usage, or the program itself failed";

/// `torture`.
#[derive(Debug, Args)]
pub(in crate::cli) struct TortureArgs {
    /// A reader: readelf, objdump, llvm-readobj (also with a path, a machine before or a version
    /// behind), sframe-check, or a command, in which {} is the file; it is split into words as a
    /// shell does it, and run without one. Without this option, sframe-check and those of the others
    /// that are on the path
    #[arg(long, value_name = "READER", value_hint = ValueHint::CommandString)]
    pub(in crate::cli) reader: Vec<String>,
    /// Processor time for each case; by the clock, three times as much
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(in crate::cli) timeout: u64,
    /// Address space for each case; 0 for any, as sanitizers need it
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    pub(in crate::cli) memory: u64,
    /// Leave the files in this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(in crate::cli) keep: Option<PathBuf>,
    /// How to write what came of it
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::cli) format: DiffFormat,
    /// No progress on a terminal
    #[arg(short, long)]
    pub(in crate::cli) quiet: bool,
    /// How many processes run at a time; 0 for as many as the machine has processors
    #[arg(short = 'j', long, visible_alias = "jobs", value_name = "N", default_value_t = 0, value_parser = super::threads)]
    pub(in crate::cli) threads: usize,
}

/// `reassemble`.
#[derive(Debug, Args)]
pub(in crate::cli) struct ReassembleArgs {
    /// A program, library or object for AMD64, AArch64 or s390x
    #[arg(value_hint = ValueHint::FilePath)]
    pub(in crate::cli) file: PathBuf,
    /// Where to write the assembly; - for standard output
    #[arg(
        short,
        long,
        value_name = "OUT",
        value_hint = ValueHint::FilePath,
        required_unless_present = "compare"
    )]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Whether this file, assembled from FILE's assembly and perhaps linked, has FILE's functions, with
    /// the same rows for all registers and the same code
    #[arg(long, value_name = "REBUILT", value_hint = ValueHint::FilePath, conflicts_with = "output")]
    pub(in crate::cli) compare: Option<PathBuf>,
}

/// `limited`.
#[derive(Debug, Args)]
pub(in crate::cli) struct LimitedArgs {
    /// A folder for the command, which is removed afterwards
    pub(in crate::cli) folder: PathBuf,
}
