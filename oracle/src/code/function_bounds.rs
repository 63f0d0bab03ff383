//! Where functions start and end, as symbols, SFrame, CFI and the names of sections say.

use sframe_validator::Section;
use sframe_validator::elf::{Elf, ElfKind, SymbolTable};
use sframe_validator::unwind::CodeAddress;

use super::conventions::Conventions;
use crate::cfi::Cfi;
use crate::witness::CodeRange;

/// Where the functions of a file are.
pub(super) struct FunctionBounds {
    /// The functions, ordered and without overlaps. One starts at each place where a symbol, SFrame or CFI says so; it ends where
    /// the next one starts, or where all of them end.
    pub(super) functions: Vec<CodeRange>,
    /// The sections of code of a linked file in which neither CFI nor SFrame describes a function.
    pub(super) undescribed: Vec<CodeRange>,
}

/// Finds out where the functions of a file are.
pub(super) fn find(
    elf: &Elf<'_>,
    symbols: &SymbolTable<'_>,
    sections: &[Section<'_>],
    cfi: &[Cfi<'_>],
) -> FunctionBounds {
    let range = |start: CodeAddress, size: u64| {
        let code = elf.code_bytes(start, size)?;
        Some(CodeRange { start, end: start.address.saturating_add(code.len() as u64) })
    };
    let mut ranges = Vec::new();
    // The functions of ORC tables are made from symbols, and end in the middle of a function where ORC says nothing.
    let cfi = cfi.iter().filter(|cfi| cfi.kind().is_some());
    for function in cfi.flat_map(Cfi::functions) {
        ranges.extend(range(function.start(), function.size()));
    }
    let in_sframe = sections.iter().flat_map(Section::functions).flatten();
    let in_sframe = in_sframe.filter_map(|it| range(it.start().ok()?, u64::from(it.size())));
    let mut in_sframe: Vec<CodeRange> = in_sframe.collect();
    let undescribed = undescribed(elf, ranges.iter().chain(&in_sframe));
    for symbol in symbols.symbols() {
        ranges.extend(range(symbol.start, symbol.size));
    }
    ranges.sort_unstable();
    in_sframe.sort_unstable();
    remove_parts(&mut in_sframe, &ranges);
    ranges.append(&mut in_sframe);
    ranges.sort();
    let mut functions: Vec<CodeRange> = Vec::new();
    for range in ranges {
        match functions.last_mut() {
            Some(last) if last.start.section == range.start.section => {
                let end = last.end;
                last.end = end.min(range.start.address);
                functions.push(CodeRange { end: range.end.max(end), ..range });
            }
            _ => functions.push(range),
        }
    }
    functions.retain(|function| function.bytes() > 0);
    FunctionBounds { functions, undescribed }
}

/// Removes the functions of SFrame that start within another function. What is made from machine code has several entries for a
/// function that was not understood as a whole. Both lists are ordered.
fn remove_parts(in_sframe: &mut Vec<CodeRange>, others: &[CodeRange]) {
    let mut before = others.iter().peekable();
    // The section and the end of the functions that start before.
    let mut covered = (0, 0);
    in_sframe.retain(|function| {
        let mut is_start = false;
        while let Some(other) = before.next_if(|other| other.start <= function.start) {
            is_start |= other.start == function.start;
            covered = match other.start.section == covered.0 {
                true => (covered.0, other.end.max(covered.1)),
                false => (other.start.section, other.end),
            };
        }
        let is_inside = covered.0 == function.start.section && function.start.address < covered.1;
        is_start || !is_inside
    });
}

/// The sections of code in which none of `described` starts; none in a relocatable object, whose relocations say more.
fn undescribed<'r>(
    elf: &Elf<'_>,
    described: impl Iterator<Item = &'r CodeRange>,
) -> Vec<CodeRange> {
    if !matches!(elf.kind(), ElfKind::Executable | ElfKind::Shared) {
        return Vec::new();
    }
    let range = |(start, size): (CodeAddress, u64)| CodeRange {
        start,
        end: start.address.saturating_add(size),
    };
    let mut sections: Vec<(CodeRange, bool)> =
        elf.code().map(|section| (range(section), false)).collect();
    sections.sort_unstable();
    for function in described {
        let after = sections.partition_point(|(it, _)| it.start <= function.start);
        if let Some((section, is_described)) =
            after.checked_sub(1).and_then(|index| sections.get_mut(index))
        {
            *is_described |= function.start.address < section.end;
        }
    }
    let undescribed = sections.into_iter().filter(|(_, is_described)| !is_described);
    undescribed.map(|(range, _)| range).collect()
}

/// The places that have the name of a function, in order, and those of them whose names other files know. Compilers and BOLT name
/// the parts of a function after it, with `.cold` or `.warm` at the end.
pub(super) fn named(symbols: &SymbolTable<'_>) -> (Vec<CodeAddress>, Vec<CodeAddress>) {
    let is_part = |name: &[u8]| name.windows(5).any(|piece| piece == b".cold" || piece == b".warm");
    let named = symbols.symbols().iter().filter(|symbol| !is_part(symbol.name.bytes()));
    let exported = named.clone().filter(|symbol| symbol.global);
    (
        named.clone().map(|symbol| symbol.start).collect(),
        exported.map(|symbol| symbol.start).collect(),
    )
}

/// The addresses of a linker's stubs, ordered, apart from the first ones, to which the others jump.
pub(super) fn stubs(elf: &Elf<'_>, conventions: &Conventions) -> Vec<u64> {
    const STUB: u64 = 16;
    let mut starts = Vec::new();
    for section in elf.code_sections().filter(|section| section.is_stubs()) {
        let first = if section.name.bytes() == b".plt" { conventions.plt_header } else { 0 };
        let size = if section.entry_size == 8 { 8 } else { STUB };
        let stubs = (first / size..section.size / size).map(|number| number * size);
        starts.extend(stubs.filter_map(|offset| section.address.checked_add(offset)));
    }
    starts.sort_unstable();
    starts
}
