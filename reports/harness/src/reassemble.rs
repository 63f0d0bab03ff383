//! The code and call frame information (CFI) of a file as assembly, so that assemblers can be tested on the CFI of
//! existing programs without rebuilding them.
//!
//! The code is written as bytes, and the CFI as `.cfi_` directives at the PCs of the file's instructions, as a compiler
//! would write them: `.cfi_startproc` with the ABI's state at entry if the function starts with that state, and a
//! directive for each instruction that has one. Personality routines and LSDAs are omitted, because no row depends on
//! them.
//!
//! [`compare`] checks the result: whether the assembled file has the same rows for all registers, and the same code.

mod assembly;
mod compare;
mod directive;
mod error;
mod functions;
mod labels;
mod placed;
mod rules;
mod settled;
mod start;

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;

use sframe_oracle::cfi::{Cfi, CfiErrorKind, CfiSource};
use sframe_validator::elf::{Elf, ElfError};
use sframe_validator::unwind::CodeAddress;

pub use compare::{Comparison, Mismatch, compare};
pub use error::{CompareError, ReassembleError};
use functions::{Initials, Plan};

/// The name of the symbol at the start of each section, without the section's number. These symbols show where the
/// linker has placed a section's code. They have no type: a section may start with a part of a function.
const SECTION_SYMBOL: &str = "sframe_check.section.";

/// The reason why a function is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Its range is not in one code section with bytes in the file.
    NoCode,
    /// Its range has no bytes.
    Empty,
    /// Its range overlaps another one, and functions cannot be nested.
    Overlap,
    /// Its instructions cannot be read or evaluated.
    Unreadable,
    /// Its instructions advance past its end.
    PastEnd,
    /// The offset of a register is not a multiple of 8, or an advance is not a multiple of the instruction alignment:
    /// the factors in assemblers' CIEs do not allow that.
    Unaligned,
    /// It has an expression of more than 1,024 bytes, or restores an expression of its CIE.
    Expression,
    /// Its CIE has more than 64 rules, or long expressions.
    ManyRules,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::NoCode => "the range is not in one code section with bytes in the file",
            Reason::Empty => "the range has no bytes",
            Reason::Overlap => "the range overlaps another function's",
            Reason::Unreadable => "the instructions cannot be read or evaluated",
            Reason::PastEnd => "the instructions advance past the end",
            Reason::Unaligned => "an offset is not a multiple of the factor that assemblers use",
            Reason::Expression => "an expression is too long, or the CIE's is restored",
            Reason::ManyRules => "the CIE has more than 64 rules, or long expressions",
        })
    }
}

/// The start of a function as text: an address, or a section's number and an offset.
#[derive(Clone, Copy, Debug)]
pub struct Place(pub CodeAddress);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CodeAddress { section, address } = self.0;
        match section {
            0 => write!(f, "{address:#x}"),
            _ => write!(f, "{address:#x} of section {section}"),
        }
    }
}

/// The functions that were left out.
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    /// For each reason, the number of functions and the start of the first one.
    pub functions: BTreeMap<Reason, (u64, CodeAddress)>,
    /// CFI entries and sections that cannot be read at all.
    pub entries: u64,
}

impl LeftOut {
    fn add(&mut self, reason: Reason, start: CodeAddress) {
        self.functions.entry(reason).or_insert((0, start)).0 += 1;
    }

    /// Whether nothing was left out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.entries == 0
    }
}

/// The counts of what was written.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The number of code sections.
    pub sections: u64,
    /// The number of bytes of code.
    pub bytes: u64,
    /// The number of functions with their CFI.
    pub functions: u64,
    /// The functions that were left out.
    pub left_out: LeftOut,
}

/// A file's CFI.
struct Loaded<'e> {
    cfis: Vec<Cfi<'e>>,
    /// The number of entries and sections that cannot be read.
    unreadable: u64,
}

impl<'e> Loaded<'e> {
    /// Reads the CFI.
    ///
    /// # Errors
    /// See [`CfiSource::load_all`].
    fn of(source: &'e CfiSource<'_, '_>) -> Result<Loaded<'e>, ElfError> {
        let cfis = source.load_all()?;
        // Entries with these defects are still readable.
        let readable = |kind| {
            use CfiErrorKind as Kind;
            matches!(kind, Kind::EmptyRange | Kind::Overlap(_) | Kind::EntriesAfterTerminator)
        };
        let defects = cfis.iter().flat_map(Cfi::defect_counts);
        let counts =
            defects.filter(|defect| !readable(defect.first.kind)).map(|defect| defect.count);
        let unreadable = counts.sum();
        Ok(Loaded { cfis, unreadable })
    }
}

/// Writes the file `elf`, whose name is `name`, as assembly to `out`.
///
/// # Errors
/// Returns an error if `out` cannot be written to; or, before anything is written, if SFrame is not defined for the
/// file's machine, or if its relocations cannot be read.
pub fn reassemble(
    elf: &Elf<'_>,
    name: &str,
    out: &mut dyn Write,
) -> Result<Outcome, ReassembleError> {
    let abi = elf.abi().ok_or(ReassembleError::Machine)?;
    let source = CfiSource::of(elf);
    let loaded = Loaded::of(&source)?;
    let initials = Initials::of(&loaded.cfis);
    let mut plan = Plan::of(elf, &loaded.cfis, &initials);
    plan.left_out.entries = loaded.unreadable;
    assembly::write(&plan, elf, abi, name, out)?;
    Ok(Outcome {
        sections: plan.sections.len() as u64,
        bytes: plan.sections.iter().map(|section| section.data.len() as u64).sum(),
        functions: plan.sections.iter().map(|section| section.functions.len() as u64).sum(),
        left_out: plan.left_out,
    })
}
