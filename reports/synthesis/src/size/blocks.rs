//! A linker's stubs that are described one by one, as a repeated block.

use std::mem;

use sframe_validator::Version;
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::unwind::CodeAddress;

use super::{Savings, Visit, Waste};
use crate::encode::Form;
use crate::measure::measure;
use crate::model::{Function, merge};
use crate::stubs::fold;
use crate::synthesis::SynthesisError;

/// The stubs of a linked file.
pub(super) struct Blocks<'f, 'e> {
    form: &'f Form,
    elf: &'e Elf<'e>,
    /// Those found so far.
    pub(super) stubs: Vec<Function>,
}

impl<'f, 'e> Blocks<'f, 'e> {
    /// `None` if the file or the version of the section has no repeated blocks.
    pub(super) fn of(form: &'f Form, elf: &'e Elf<'e>) -> Option<Blocks<'f, 'e>> {
        let is_possible = form.version > Version::V1 && elf.kind() != ElfKind::Relocatable;
        is_possible.then(|| Blocks { form, elf, stubs: Vec::new() })
    }

    /// Whether a function is a stub that is described alone.
    pub(super) fn is_stub(&self, function: &Function) -> bool {
        function.block.is_none() && self.stubs_at(function.start)
    }

    /// Passes the stubs to `visit`; a head and a block take the place of adjacent ones where this takes fewer bytes. Counts
    /// what they save.
    pub(super) fn fold(
        mut self,
        savings: &mut Savings,
        visit: Visit<'_>,
    ) -> Result<(), SynthesisError> {
        let mut stubs = mem::take(&mut self.stubs);
        stubs.sort_by_key(|function| function.start);
        for run in stubs.chunk_by(is_adjacent) {
            let parts = join(run).map(fold).unwrap_or_default();
            let is_block = parts.iter().any(|part| part.block.is_some());
            match self.cost(run).zip(self.cost(&parts)) {
                Some((before, after)) if is_block && after < before => {
                    savings.add(Waste::StubBlocks, before - after, run.len() as u64);
                    parts.into_iter().try_for_each(&mut *visit)?;
                }
                _ => run.iter().cloned().try_for_each(&mut *visit)?,
            }
        }
        Ok(())
    }

    /// The bytes of functions in the section.
    fn cost(&self, functions: &[Function]) -> Option<u64> {
        let version = self.form.version;
        let cost = |function| {
            let measured = measure(self.form, function)?;
            let rows = measured.starts + measured.rows + measured.words;
            Some(version.entry_size() + version.attribute_size() + rows)
        };
        functions.iter().map(cost).sum()
    }

    fn stubs_at(&self, place: CodeAddress) -> bool {
        self.elf.code_section_at(place).is_some_and(|section| section.is_stubs())
    }
}

/// Whether a function continues where the other ends, with the same properties.
fn is_adjacent(first: &Function, second: &Function) -> bool {
    let end = first.start.address.checked_add(first.size.into());
    end == Some(second.start.address)
        && (first.signal, first.pauth_key_b) == (second.signal, second.pauth_key_b)
}

/// One function of adjacent ones; `None` if they are too large together.
fn join(run: &[Function]) -> Option<Function> {
    let mut joined = run.first()?.clone();
    joined.rows.clear();
    joined.size = 0;
    for function in run {
        joined.size = joined.size.checked_add(function.size)?;
        for row in &function.rows {
            if !joined.rows.last_mut().is_some_and(|last| merge(last, row)) {
                joined.rows.push(*row);
            }
        }
    }
    Some(joined)
}
