//! Whether what was assembled has the same rows, for all registers, and the same code.

use std::collections::BTreeMap;
use std::iter::Peekable;

use sframe_oracle::cfi::{CfiSource, Instruction};
use sframe_validator::elf::{Elf, SymbolTable};
use sframe_validator::section::CodeAddress;

use super::functions::{Function, Initials, Plan};
use super::placed::Placed;
use super::rules::{Change, Machine};
use super::{LeftOut, Loaded, Reason, SECTION_SYMBOL};

/// How a function of the rebuilt file differs from the original one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mismatch {
    /// There is no function at its place, or none that can be read.
    Missing,
    /// The one there has another size.
    Size,
    /// Its code is not the same.
    Code,
    /// Its return-address column, its mark as a signal frame or its key is not the same.
    Attributes,
    /// The rules of some register are not the same, at this many bytes from its start first.
    Rows(u64),
}

/// What came of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Functions that were compared.
    pub functions: u64,
    /// Rows of these in the original.
    pub rows: u64,
    /// Functions that are not the same, by their address in the original file.
    pub different: Vec<(CodeAddress, Mismatch)>,
    /// Functions of the rebuilt file that the original has not.
    pub added: u64,
    /// Functions of the original that were not carried.
    pub left_out: LeftOut,
}

/// Compares what [`reassemble`](super::reassemble) carries of `original` with `rebuilt`: assembled
/// from it, as an object or linked.
///
/// # Errors
/// Why they cannot be compared: another machine, entries that cannot be read, or a rebuilt file
/// without the symbols at the start of its sections.
pub fn compare(original: &Elf<'_>, rebuilt: &Elf<'_>) -> Result<Comparison, String> {
    if original.abi().is_none() || original.abi() != rebuilt.abi() {
        return Err("the files are not for one machine that SFrame is defined for".to_owned());
    }
    let sources = (CfiSource::of(original), CfiSource::of(rebuilt));
    let loaded = (Loaded::of(&sources.0)?, Loaded::of(&sources.1)?);
    let initials = (Initials::of(&loaded.0.cfis), Initials::of(&loaded.1.cfis));
    let mut plan = Plan::of(original, &loaded.0.cfis, &initials.0);
    plan.left_out.entries = loaded.0.unreadable;
    let there = Plan::of(rebuilt, &loaded.1.cfis, &initials.1);
    let symbols = SymbolTable::load(rebuilt).map_err(|error| error.to_string())?;
    let bases = section_starts(&symbols);
    let there = there.sections.iter().flat_map(|section| &section.functions);
    let mut there: BTreeMap<_, _> = there.map(|f| (f.fde.start(), f)).collect();
    let mut comparison = Comparison::default();
    for section in &plan.sections {
        let number = section.section.index;
        let missing = || format!("the rebuilt file has no symbol {SECTION_SYMBOL}{number}");
        let base = *bases.get(&number).ok_or_else(missing)?;
        for function in &section.functions {
            let address = base.address.wrapping_add(function.offset);
            let place = CodeAddress { address, ..base };
            comparison.functions += 1;
            let outcome = match there.remove(&place) {
                Some(other) => same(function, other),
                None => Err(Mismatch::Missing),
            };
            match outcome {
                Ok(rows) => comparison.rows += rows,
                Err(mismatch) => comparison.different.push((function.fde.start(), mismatch)),
            }
        }
    }
    comparison.added = there.len() as u64;
    comparison.left_out = plan.left_out;
    Ok(comparison)
}

/// Where the original's code sections have come to stand, by their numbers.
fn section_starts(symbols: &SymbolTable<'_>) -> BTreeMap<u32, CodeAddress> {
    let starts = symbols.symbols().iter().filter_map(|symbol| {
        let number = symbol.name.bytes().strip_prefix(SECTION_SYMBOL.as_bytes())?;
        let number = std::str::from_utf8(number).ok()?.parse().ok()?;
        Some((number, symbol.start))
    });
    starts.collect()
}

/// Compares two functions; the number of rows, if they are the same.
fn same(function: &Function<'_>, other: &Function<'_>) -> Result<u64, Mismatch> {
    let size = function.fde.size();
    if other.fde.size() != size {
        return Err(Mismatch::Size);
    }
    if function.code != other.code {
        return Err(Mismatch::Code);
    }
    let attributes = |function: &Function<'_>| {
        let cie = function.fde.cie();
        (cie.return_address, cie.signal, cie.pauth_key_b)
    };
    if attributes(function) != attributes(other) {
        return Err(Mismatch::Attributes);
    }
    let (mut first, mut second) = (Side::of(function), Side::of(other));
    let registers = first.machine.state.rules.keys().chain(second.machine.state.rules.keys());
    let mut touched: Vec<_> = registers.map(|register| Change::Rule(*register)).collect();
    touched.extend([Change::Cfa, Change::Toggles]);
    let (mut at, mut rows) = (0, 1);
    loop {
        let unreadable = |_| Mismatch::Rows(at);
        first.run(at, &mut touched).map_err(unreadable)?;
        second.run(at, &mut touched).map_err(unreadable)?;
        // Rows were the same before, so that only what has been touched can differ.
        if touched.drain(..).any(|part| first.differs(&second, part)) {
            return Err(Mismatch::Rows(at));
        }
        let Some(next) = first.next().into_iter().chain(second.next()).min() else { break };
        // What holds behind the end is no row.
        if next >= size {
            break;
        }
        rows += u64::from(first.next() == Some(next));
        at = next;
    }
    Ok(rows)
}

/// A function whose instructions are evaluated from place to place.
struct Side<'c> {
    machine: Machine<'c>,
    placed: Peekable<Placed<'c>>,
}

impl<'c> Side<'c> {
    fn of(function: &Function<'c>) -> Side<'c> {
        Side { machine: function.machine(), placed: Placed::of(&function.fde).peekable() }
    }

    /// The place of the next instruction.
    fn next(&mut self) -> Option<u64> {
        self.placed.peek().and_then(|placed| placed.ok()).map(|(at, _)| at)
    }

    /// Evaluates the instructions at a place, and adds to `touched` what they change.
    fn run(&mut self, place: u64, touched: &mut Vec<Change>) -> Result<(), Reason> {
        let here = |placed: &Result<(u64, Instruction), Reason>| {
            placed.as_ref().map_or(true, |(at, _)| *at == place)
        };
        while let Some(placed) = self.placed.next_if(here) {
            let (_, instruction) = placed?;
            self.machine.apply(&instruction, |change| touched.push(change))?;
        }
        Ok(())
    }

    fn differs(&self, other: &Side<'_>, part: Change) -> bool {
        let (state, other) = (&self.machine.state, &other.machine.state);
        match part {
            Change::Cfa => state.cfa != other.cfa,
            Change::Rule(register) => state.rules.get(&register) != other.rules.get(&register),
            Change::Toggles => state.toggles != other.toggles,
        }
    }
}
