//! The command line of `reduce`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

pub(in crate::cli) const REDUCE_HELP: &str = "\
The function of the finding becomes assembly with .cfi_ directives, as `reassemble` writes it. Functions, directives and code are removed \
or simplified as long as the assembler still makes an object with the finding. The code loses its meaning where the finding does not \
depend on it: an assembler makes SFrame and CFI from the same directives, so that the two must agree.

      sframe-check reduce libfoo.so --finding cfa-mismatch --with /usr/bin/as -o small.s
      sframe-check reduce libfoo.so --finding register-in-place --function main -o small.s

What only a link shows, such as a mistake of the linker, needs --linker. Then there may be several sources (small-1.s, small-2.s), one for \
each object of the link, and the page has its command. A repeated --with assembles some sources with another assembler, for links of mixed \
versions:

      sframe-check reduce libfoo.so --finding ld-plt-got --with as --linker ld -o small.s
      sframe-check reduce prog --finding unexplained-loss --with as --with llvm-mc --linker mold -o small.s

The linker is run with -shared, or like the file was linked; other options may follow its name. A compiler's driver (--linker 'cc -shared') \
is run with -nostdlib first: the page says if the finding depends on startup objects and the C library.

A page for the developers of the assembler or the linker is written beside the source: input, commands, what they print, and what would be \
right. Where the code proves the directives themselves wrong, there is nothing to reduce, and only a page is written: for the author of the \
assembly or the developers of the compiler, with the source line, the directives and what the code does.

Exit status:
  0  the source was written
  2  the file has no such finding, these programs do not show it, or its directives are wrong; no source was written
  3  wrong usage, or the program itself failed
  130  interrupted; nothing was written";

/// `reduce`.
#[derive(Debug, Args)]
pub(in crate::cli) struct ReduceArgs {
    /// A program, library or object for AMD64, AArch64 or s390x
    #[arg(value_hint = ValueHint::FilePath)]
    pub(in crate::cli) file: PathBuf,
    /// A rule that the file breaks, or a known defect that it shows
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) finding: String,
    /// The function of the finding; by default, that of the first one
    #[arg(long, value_name = "SYMBOL")]
    pub(in crate::cli) function: Option<String>,
    /// GNU as or llvm-mc, with arguments that are always passed; may be repeated with --linker. By default, one on the path that
    /// writes the version of the file's section, else as
    #[arg(long, value_name = "AS", value_hint = ValueHint::CommandString)]
    pub(in crate::cli) with: Vec<String>,
    /// GNU ld, gold, lld, mold or a driver that runs one, with arguments that are always passed: the finding is that of a link
    #[arg(long, value_name = "LD", value_hint = ValueHint::CommandString)]
    pub(in crate::cli) linker: Option<String>,
    /// Also try .cfi_escape, .cfi_rel_offset and .cfi_restore for directives that the file's CFI does not distinguish
    /// from them. This is done anyway for findings that are cases of known defects
    #[arg(long)]
    pub(in crate::cli) respell: bool,
    /// The assembly to write; - for standard output. Several sources get numbers
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) output: PathBuf,
    /// The page to write; by default, it is beside the assembly and has the extension md
    #[arg(long, value_name = "PAGE", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) page: Option<PathBuf>,
}
