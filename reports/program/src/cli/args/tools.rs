//! The command line of `torture`, which tries readers, and of `reassemble`, which tries assemblers.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use sframe_harness::limited::limits::{FILE_MIB, FILES_MIB, OUTPUT_MIB, WRITTEN_MIB};

use super::DocumentFormat;

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
  accept  exit status 0, and none of the above

A conforming reader does not crash, hang, use up the memory or fill the disk. It rejects sections
that have no meaning: with parts outside the section, or codes that their version does not define. A
reader may accept other defects. If it rejects sound sections of a version and machine, it may
reject all others of that version and machine: they are out of its scope.

Each run has an empty working folder, also as TMPDIR, which is removed afterwards. If a word of a
command names a file in the current folder, it still refers to that file. Processes that a reader
leaves behind are ended.

Exit status:
  0  every reader conforms
  1  a reader does not conform
  2  a reader could not be run, or rejects every sound section
  3  wrong usage, or the program itself failed
  130  interrupted by Ctrl-C, SIGTERM or SIGHUP: the report has the cases that had run"
    )
}

pub(in crate::cli) const REASSEMBLE_HELP: &str = "\
The code is written as bytes. Each entry of .eh_frame or .debug_frame becomes a function with .cfi_
directives at the PCs of its instructions, as a compiler would write them. This tests assemblers
that emit SFrame on the CFI of any program. Personality routines and LSDAs are omitted, because no
row depends on them. Functions that assembly cannot express are skipped and listed.

      sframe-check reassemble libfoo.so -o foo.s
      as --gsframe foo.s -o foo.o
      ld -shared foo.o -o foo.so
      sframe-check reassemble libfoo.so --compare foo.so     # the same rows?
      sframe-check foo.so                                    # does SFrame say what CFI says?

Exit status:
  0  all functions were written; with --compare: all functions are the same
  1  with --compare: a function differs
  2  some functions were skipped, there are none, or a file could not be read
  3  wrong usage, or the program itself failed";

/// `torture`.
#[derive(Debug, Args)]
pub(in crate::cli) struct TortureArgs {
    /// A reader: sframe-check, readelf, objdump or llvm-readobj, also with a path, a machine prefix or a
    /// version suffix; or a command, in which {} is the file. A command is split into words like a shell's,
    /// but run without a shell. The default is sframe-check and the other readers on the path
    #[arg(long, value_name = "READER", value_hint = ValueHint::CommandString)]
    pub(in crate::cli) reader: Vec<String>,
    /// Processor time for each case; the limit of elapsed time is three times as long
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(in crate::cli) timeout: u64,
    /// Address space for each case; 0 for no limit, which sanitizers need
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    pub(in crate::cli) memory: u64,
    /// Keep the files of all cases in this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(in crate::cli) keep: Option<PathBuf>,
    /// The format of the results
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::cli) format: DocumentFormat,
    /// Do not show progress on a terminal
    #[arg(short, long)]
    pub(in crate::cli) quiet: bool,
    /// The number of processes that run at the same time; 0 for one per processor
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
    /// Compare FILE with this file, which was assembled from FILE's assembly and may be linked: it must have
    /// the same functions, with the same code and the same rows for all registers
    #[arg(long, value_name = "REBUILT", value_hint = ValueHint::FilePath, conflicts_with = "output")]
    pub(in crate::cli) compare: Option<PathBuf>,
}

/// `limited`.
#[derive(Debug, Args)]
pub(in crate::cli) struct LimitedArgs {
    /// The working folder of the command, which is removed afterwards
    pub(in crate::cli) folder: PathBuf,
}

/// `attended`: runs one command that talks with this program.
#[derive(Debug, Args)]
pub(in crate::cli) struct AttendedArgs {
    /// The command
    #[arg(required = true, last = true)]
    pub(in crate::cli) command: Vec<String>,
}
