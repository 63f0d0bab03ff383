//! The command line of what makes sections: `synthesize` and `repair`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use sframe_synthesis::Encoding;
use sframe_validator::Version;

use super::forecast::encoding;

pub(in crate::cli) const SYNTHESIZE_HELP: &str = "\
The section is made from the file's CFI; with --from code, for files without CFI, from what the machine code proves. A linked file gets it with PT_GNU_SFRAME, in a new segment at its end with a note from sframe-check: nothing moves but the program headers, and the program runs as before. An object gets .sframe and .rela.sframe. A file \
whose headers leave no place for it is refused, with the reason. What the section leaves out is listed; `explain CAUSE` says why.

With --as assembly, append the text to the object's own source and assemble both as one file. In a file of its own, it would describe the code of that file.

GNU strip and objcopy keep the section, and the program still runs on Linux from 5.18 on. For older kernels, and for qemu's user mode, strip the program first.

Exit status:
  0  the file was written
  1  the file was written, and the section leaves out functions of the CFI, or code that is not understood, or contradicts the CFI
  2  the section cannot be made, would describe nothing, or has no place in the file; nothing was written
  3  wrong usage, or the program itself failed";

pub(in crate::cli) const REPAIR_HELP: &str = "\
Sections that a linker has appended are merged, functions are sorted, start addresses that it did not adjust are corrected, duplicates and redundant rows are removed, \
relocations that ld -r left in their old places are moved, and the program header gets the size of the section. A linked file without PT_GNU_SFRAME gets one, in a new segment at its end with the other program headers. The values of rows stay as they are. The result is checked, and compared with CFI, before it is written: one that is worse than the file is refused, \
and what is still wrong with it is listed. A file whose start addresses cannot be determined is refused.

Exit status:
  0  the file was written, nothing was lost, and it contradicts no CFI and breaks no rule
  1  the file was written, and something was lost, contradicts CFI, or breaks a rule
  2  the file cannot be repaired; nothing was written
  3  wrong usage, or the program itself failed";

/// `synthesize`.
#[derive(Debug, Args)]
pub(in crate::cli) struct SynthesizeArgs {
    /// An ELF file; take it out of an archive or package first
    #[arg(value_hint = ValueHint::FilePath)]
    pub(in crate::cli) file: PathBuf,
    /// The file to write; if it is FILE itself, it is replaced
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) output: PathBuf,
    /// The version of the section, in the fewest bytes [default: 3]
    #[arg(long = "version", id = "format-version", value_name = "VERSION", value_parser = version(), conflicts_with = "encoding")]
    pub(in crate::cli) version: Option<u8>,
    /// What the section is made like, if it is not the smallest
    #[arg(long, value_name = "ENCODING", value_parser = encoding())]
    pub(in crate::cli) encoding: Option<Encoding>,
    /// What the section is made from
    #[arg(long, value_name = "WITNESS", value_enum, default_value_t)]
    pub(in crate::cli) from: Witness,
    /// Replace the section that the program or library has, such as a stale one
    #[arg(long)]
    pub(in crate::cli) replace: bool,
    /// What is written
    #[arg(long = "as", value_name = "KIND", value_enum, default_value_t)]
    pub(in crate::cli) kind: Written,
}

/// `synthesize --from`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Witness {
    /// The file's CFI
    #[default]
    Cfi,
    /// The machine code, as far as it is understood (AMD64, AArch64)
    Code,
}

fn version() -> impl TypedValueParser<Value = u8> {
    PossibleValuesParser::new(["2", "3"]).map(|version| if version == "2" { 2 } else { 3 })
}

impl SynthesizeArgs {
    /// How the section is encoded.
    pub(in crate::cli) fn encoding(&self) -> Encoding {
        let version = match self.version {
            Some(2) => Version::V2,
            _ => Version::V3,
        };
        self.encoding.unwrap_or(Encoding::Smallest(version))
    }
}

/// `synthesize --as`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Written {
    /// The ELF file with the section
    #[default]
    Elf,
    /// The section's bytes
    Raw,
    /// Assembler source, to be appended to the source of the object
    Assembly,
}

/// `repair`.
#[derive(Debug, Args)]
pub(in crate::cli) struct RepairArgs {
    /// An ELF file; take it out of an archive or package first
    #[arg(value_hint = ValueHint::FilePath)]
    pub(in crate::cli) file: PathBuf,
    /// The file to write; if it is FILE itself, it is replaced
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(in crate::cli) output: PathBuf,
}
