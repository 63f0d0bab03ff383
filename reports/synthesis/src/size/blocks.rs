//! A linker's stubs that are described one by one, as a repeated block.

use sframe_validator::Version;
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::unwind::CodeAddress;

use super::{Savings, Waste};
use crate::encode::Form;
use crate::measure::measure;
use crate::model::{Function, merge};
use crate::stubs::fold;

/// Looks for blocks, and counts what they save.
pub(super) struct Blocks<'f, 'e> {
    pub(super) form: &'f Form,
    pub(super) elf: &'e Elf<'e>,
    pub(super) savings: &'f mut Savings,
}

impl Blocks<'_, '_> {
    /// Replaces adjacent stubs by a head and a block where this takes fewer bytes.
    pub(super) fn fold(mut self, functions: Vec<Function>) -> Vec<Function> {
        if self.form.version == Version::V1 || self.elf.kind() == ElfKind::Relocatable {
            return functions;
        }
        let is_stub =
            |function: &Function| self.stubs_at(function.start) && function.block.is_none();
        let (mut stubs, mut others): (Vec<_>, Vec<_>) = functions.into_iter().partition(is_stub);
        stubs.sort_by_key(|function| function.start);
        for run in stubs.chunk_by(is_adjacent) {
            self.fold_run(run, &mut others);
        }
        others
    }

    fn fold_run(&mut self, run: &[Function], all: &mut Vec<Function>) {
        let parts = join(run).map(fold).unwrap_or_default();
        let is_block = parts.iter().any(|part| part.block.is_some());
        match self.cost(run).zip(self.cost(&parts)) {
            Some((before, after)) if is_block && after < before => {
                self.savings.add(Waste::StubBlocks, before - after, run.len() as u64);
                all.extend(parts);
            }
            _ => all.extend_from_slice(run),
        }
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
