//! What an existing section could save without loss.
//!
//! The savings are steps from the section to the smallest one ([`smallest_of`]), each counted after the steps before it,
//! so that they add up. Equal row blocks are not among them, because the specification does not say whether functions
//! can share rows; [`crate::Account::shareable`] counts their bytes. Neither are repeated attributes, which version 3
//! has no way to share; [`crate::what_if`] estimates them.

mod blocks;
mod functions;
pub(crate) mod what_if;

use core::fmt;

use serde::Serialize;
use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::section::Error;
use sframe_validator::write::BuildError;

use crate::account::{Account, account_of};
use crate::encode::Form;
use crate::measure::measure;
use crate::model::Function;
use crate::place::Place;
use crate::smallest;
use crate::synthesis::{Synthesis, SynthesisError, finish};
use crate::tally::Tally;
use blocks::Blocks;
use functions::Functions;

/// Bytes that say nothing, or more than the same could be said with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Waste {
    /// Gaps, padding, and rows that no function has. Counts sections.
    Unused,
    /// The auxiliary header, for which no version defines a content. Counts sections.
    AuxiliaryHeader,
    /// Functions without bytes of code or without valid rows, which say nothing at any PC. Counts functions.
    EmptyFunctions,
    /// Rows that are valid at no PC, or have the same frame as the row before. Counts rows.
    RedundantRows,
    /// Start fields that are wider than the function's last row needs. Counts functions.
    WideStarts,
    /// Data words that are wider or more than the frame needs. Counts rows.
    WideWords,
    /// Flexible rows in functions for which default rows suffice (version 3). Counts functions.
    FlexibleRows,
    /// A linker's stubs whose rows could be those of a repeated block. Counts functions before the change.
    StubBlocks,
}

impl Waste {
    /// All of them, in the order in which they are removed.
    pub const ALL: [Waste; 8] = [
        Waste::Unused,
        Waste::AuxiliaryHeader,
        Waste::EmptyFunctions,
        Waste::RedundantRows,
        Waste::WideStarts,
        Waste::WideWords,
        Waste::FlexibleRows,
        Waste::StubBlocks,
    ];
}

impl fmt::Display for Waste {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Waste::Unused => "gaps, padding and rows of no function",
            Waste::AuxiliaryHeader => "the auxiliary header",
            Waste::EmptyFunctions => "functions without code or rows",
            Waste::RedundantRows => "redundant rows",
            Waste::WideStarts => "start fields wider than needed",
            Waste::WideWords => "data words wider than needed",
            Waste::FlexibleRows => "flexible rows where default rows suffice",
            Waste::StubBlocks => "stubs that could be one repeated block",
        })
    }
}

/// What removing one kind of waste saves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saving {
    /// The waste.
    pub waste: Waste,
    /// The bytes.
    pub bytes: u64,
    /// The number of things that [`Waste`] counts.
    pub count: u64,
}

/// What a section could save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The section's bytes.
    pub account: Account,
    /// The savings in the order of [`Waste::ALL`]; those of 0 bytes are left out.
    pub savings: Vec<Saving>,
    /// The bytes of the smallest section with the same meaning.
    pub smallest: Account,
    /// Bytes that the section has more than the smallest one, and that no saving explains. It is negative if the section
    /// shares rows between functions, which the smallest one does not. Otherwise it is 0, except for functions for AArch64
    /// with flexible rows.
    pub rest: i64,
}

impl Diagnosis {
    /// The bytes that could be saved.
    #[must_use]
    pub const fn saved(&self) -> i64 {
        self.account.size.cast_signed() - self.smallest.size.cast_signed()
    }

    /// The saving for a kind of waste.
    #[must_use]
    pub fn saving(&self, waste: Waste) -> Saving {
        let found = self.savings.iter().find(|saving| saving.waste == waste);
        found.copied().unwrap_or(Saving { waste, bytes: 0, count: 0 })
    }
}

/// The savings found so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Savings([(u64, u64); Waste::ALL.len()]);

impl Savings {
    /// Adds a saving, unless it has no bytes.
    fn add(&mut self, waste: Waste, bytes: u64, count: u64) {
        if let Some(sum) = self.0.get_mut(waste as usize).filter(|_| bytes > 0) {
            sum.0 = sum.0.saturating_add(bytes);
            sum.1 = sum.1.saturating_add(count);
        }
    }

    fn list(&self) -> Vec<Saving> {
        let all = Waste::ALL.iter().zip(self.0);
        let savings = all.map(|(&waste, (bytes, count))| Saving { waste, bytes, count });
        savings.filter(|saving| saving.bytes > 0).collect()
    }
}

/// Finds what a section could save. In the file that contains it, the linker's stubs are known. Memory grows by some bytes
/// for each function, not with the rows.
///
/// # Errors
/// Those of [`smallest_of`].
pub fn diagnose(section: &Section<'_>, elf: Option<&Elf<'_>>) -> Result<Diagnosis, SynthesisError> {
    let account = account_of(section).map_err(SynthesisError::Section)?;
    let form = form_of(section).map_err(SynthesisError::Section)?;
    let mut savings = Savings::default();
    let mut smallest = Tally::new(form);
    needed(section, elf, &form, &mut savings, &mut |function| {
        let measured = measure(&form, &function)
            .ok_or_else(|| SynthesisError::Build(form.refusal(&function, smallest.functions())))?;
        smallest.add(&function, &measured);
        Ok(())
    })?;
    let smallest = smallest.finish();
    u32::try_from(smallest.size).map_err(|_| SynthesisError::Build(BuildError::TooLarge))?;
    savings.add(Waste::Unused, account.parts.unused, 1);
    savings.add(Waste::AuxiliaryHeader, account.parts.auxiliary_header, 1);
    let mut diagnosis = Diagnosis { account, savings: savings.list(), smallest, rest: 0 };
    let known: u64 = diagnosis.savings.iter().map(|saving| saving.bytes).sum();
    diagnosis.rest = diagnosis.saved().saturating_sub_unsigned(known);
    Ok(diagnosis)
}

/// The smallest section of the same version with the same meaning at every PC, made from the functions and rows of an
/// existing one, for the same place. In the file that contains it, the linker's stubs are known.
///
/// The flag for functions that all keep a frame pointer is not set: no reader needs it. In a linked file, the table is
/// sorted.
///
/// # Errors
/// [`SynthesisError::Section`] for a section that cannot be read or whose functions share more rows than the section
/// stores, and [`SynthesisError::Build`] for one with rows that a producer cannot write.
pub fn smallest_of(
    section: &Section<'_>,
    elf: Option<&Elf<'_>>,
) -> Result<Synthesis, SynthesisError> {
    let form = form_of(section).map_err(SynthesisError::Section)?;
    let mut functions = Vec::new();
    needed(section, elf, &form, &mut Savings::default(), &mut |function| {
        functions.push(function);
        Ok(())
    })?;
    finish(&form, functions, Vec::new())
}

/// Passes the functions of the smallest section to `visit`, and counts what they save.
fn needed(
    section: &Section<'_>,
    elf: Option<&Elf<'_>>,
    form: &Form,
    savings: &mut Savings,
    visit: Visit<'_>,
) -> Result<(), SynthesisError> {
    let mut blocks = elf.and_then(|elf| Blocks::of(form, elf));
    Functions { form, savings }.each(section, &mut |function| match &mut blocks {
        Some(blocks) if blocks.is_stub(&function) => {
            blocks.stubs.push(function);
            Ok(())
        }
        _ => visit(function),
    })?;
    blocks.map_or(Ok(()), |blocks| blocks.fold(savings, visit))
}

/// Takes each function that is needed. An error ends the pass.
type Visit<'f> = &'f mut dyn FnMut(Function) -> Result<(), SynthesisError>;

fn form_of(section: &Section<'_>) -> Result<Form, Error> {
    let place = Place::of_section(section.placement());
    Ok(smallest::form(section.header().version, section.abi()?, place))
}
