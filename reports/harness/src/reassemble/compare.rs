//! Compares the rebuilt file with the original: all rows for all registers, and the code.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::iter::Peekable;
use std::ops::ControlFlow;

use object::{Object, ObjectSymbol};
use sframe_oracle::cfi::{CfiSource, Instruction};
use sframe_oracle::compare::{Observer, sweep};
use sframe_oracle::witness::{CodeRange, Left, Says, Shared, Witness};
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::unwind::CodeAddress;

use super::error::CompareError;
use super::functions::{Function, Initials, Plan};
use super::placed::Placed;
use super::rules::{Change, Machine};
use super::{LeftOut, Loaded, Reason, SECTION_SYMBOL};

/// How a function of the rebuilt file differs from the original one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mismatch {
    /// No readable function is at its place.
    Missing,
    /// The function there has another size.
    Size,
    /// Its code differs.
    Code,
    /// Its return-address column, its mark as a signal frame or its key differs.
    Attributes,
    /// The rules of some register differ; contains the offset in bytes of the first difference.
    Rows(u64),
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The number of functions compared.
    pub functions: u64,
    /// The number of rows of these functions in the original.
    pub rows: u64,
    /// Functions that differ, by their address in the original file.
    pub different: Vec<(CodeAddress, Mismatch)>,
    /// The number of functions of the rebuilt file that the original does not have.
    pub added: u64,
    /// Functions of the original that are not in the assembly.
    pub left_out: LeftOut,
}

/// Compares the part of `original` that [`reassemble`](super::reassemble) writes with `rebuilt`, an object or linked
/// file assembled from it.
///
/// # Errors
/// Returns an error if they cannot be compared: different machines, unreadable entries, or a rebuilt file without the
/// symbols at the start of its sections.
pub fn compare(original: &Elf<'_>, rebuilt: &Elf<'_>) -> Result<Comparison, CompareError> {
    if original.abi().is_none() || original.abi() != rebuilt.abi() {
        return Err(CompareError::Machines);
    }
    let sources = (CfiSource::of(original), CfiSource::of(rebuilt));
    let loaded = (Loaded::of(&sources.0)?, Loaded::of(&sources.1)?);
    let initials = (Initials::of(&loaded.0.cfis), Initials::of(&loaded.1.cfis));
    let mut plan = Plan::of(original, &loaded.0.cfis, &initials.0);
    plan.left_out.entries = loaded.0.unreadable;
    let there = Plan::of(rebuilt, &loaded.1.cfis, &initials.1);
    let bases = section_starts(rebuilt)?;
    let there = there.sections.iter().flat_map(|section| &section.functions);
    let mut there: BTreeMap<_, _> = there.map(|f| (f.fde.start(), f)).collect();
    let mut comparison = Comparison::default();
    for section in &plan.sections {
        let number = section.section.index;
        let base = *bases.get(&number).ok_or(CompareError::NoSection(number))?;
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

/// The starts of the original's code sections in the rebuilt file, by section number. The symbols have no type.
fn section_starts(rebuilt: &Elf<'_>) -> Result<BTreeMap<u32, CodeAddress>, CompareError> {
    let file = object::File::parse(rebuilt.data()).map_err(CompareError::Symbols)?;
    let is_relocatable = rebuilt.kind() == ElfKind::Relocatable;
    let starts = file.symbols().filter_map(|symbol| {
        let number = symbol.name_bytes().ok()?.strip_prefix(SECTION_SYMBOL.as_bytes())?;
        let number = std::str::from_utf8(number).ok()?.parse().ok()?;
        let section = u32::try_from(symbol.section_index()?.0).ok()?;
        let section = if is_relocatable { section } else { 0 };
        Some((number, CodeAddress { section, address: symbol.address() }))
    });
    Ok(starts.collect())
}

/// Compares two functions. Returns the number of rows if they are equal.
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
    let (mut first, mut second) = (Registers::of(function), Registers::of(other));
    let code = CodeRange { start: CodeAddress::absolute(0), end: size };
    let mut rows = Rows { count: 0, mismatch: None };
    sweep(&[code], &mut first, &mut second, &mut rows);
    rows.mismatch.map_or(Ok(rows.count), |at| Err(Mismatch::Rows(at)))
}

/// A function as a witness that tracks the rules of all registers. Its addresses are offsets in bytes from its start.
struct Registers<'c> {
    machine: Machine<'c>,
    placed: Peekable<Placed<'c>>,
    size: u64,
    /// The changes by the instructions read last; at first, everything for which the CIE has rules.
    touched: Vec<Change>,
    /// Whether there is an instruction at that place.
    has_instruction: bool,
    /// Whether all instructions up to that place can be evaluated.
    is_readable: bool,
}

impl<'c> Registers<'c> {
    fn of(function: &Function<'c>) -> Registers<'c> {
        let machine = function.machine();
        let registers = machine.state.rules.keys();
        let mut touched: Vec<_> = registers.map(|register| Change::Rule(*register)).collect();
        touched.extend([Change::Cfa, Change::Toggles]);
        Registers {
            machine,
            placed: Placed::of(&function.fde).peekable(),
            size: function.fde.size(),
            touched,
            has_instruction: false,
            is_readable: true,
        }
    }

    /// Evaluates the instructions at `place`.
    fn run(&mut self, place: u64) -> Result<(), Reason> {
        let here = |placed: &Result<(u64, Instruction), Reason>| {
            placed.as_ref().map_or(true, |(at, _)| *at == place)
        };
        while let Some(placed) = self.placed.next_if(here) {
            let (_, instruction) = placed?;
            self.has_instruction = true;
            self.machine.apply(&instruction, |change| self.touched.push(change))?;
        }
        Ok(())
    }

    fn differs(&self, other: &Registers<'_>, part: Change) -> bool {
        let (state, other) = (&self.machine.state, &other.machine.state);
        match part {
            Change::Cfa => state.cfa != other.cfa,
            Change::Rule(register) => state.rules.get(&register) != other.rules.get(&register),
            Change::Toggles => state.toggles != other.toggles,
        }
    }
}

impl<'c> Witness for Registers<'c> {
    type Function = ();
    type Row = Machine<'c>;
    type Error = Infallible;

    fn enter(&mut self, _: CodeAddress, _: &mut impl FnMut(Left<(), Infallible>)) -> u64 {
        self.size
    }

    fn describes(&self) -> bool {
        true
    }

    fn read(&mut self, address: u64) -> u64 {
        self.has_instruction = false;
        self.is_readable &= self.run(address).is_ok();
        let next = self.placed.peek().and_then(|placed| placed.as_ref().ok());
        next.map_or(u64::MAX, |(at, _)| *at)
    }

    fn says(&self) -> Says<'_, (), Machine<'c>> {
        if self.is_readable { Says::Row((), &self.machine) } else { Says::Unreadable(()) }
    }

    fn note(&mut self, _: Shared) {}

    fn finish(&mut self, _: &mut impl FnMut(Left<(), Infallible>)) {}
}

/// The rows of two functions being compared.
struct Rows {
    /// The number of rows of the first function.
    count: u64,
    /// The first place where the rows differ.
    mismatch: Option<u64>,
}

impl<'a, 'b> Observer<Registers<'a>, Registers<'b>> for Rows {
    fn piece(
        &mut self,
        place: CodeAddress,
        _end: u64,
        first: &mut Registers<'a>,
        second: &mut Registers<'b>,
    ) -> ControlFlow<()> {
        // The rows before this place were equal, so only registers touched since can differ.
        let mut touched = std::mem::take(&mut first.touched);
        touched.append(&mut second.touched);
        let readable = first.is_readable && second.is_readable;
        if !readable || touched.drain(..).any(|part| first.differs(second, part)) {
            self.mismatch = Some(place.address);
            return ControlFlow::Break(());
        }
        first.touched = touched;
        self.count += u64::from(place.address == 0 || first.has_instruction);
        ControlFlow::Continue(())
    }
}
