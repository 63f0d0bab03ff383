//! Names for every place in code, also after symbols whose size nobody recorded.

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{
    STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE, STT_OBJECT, Symbol, SymbolTable, TypedSymbol, read_any,
};
use crate::elf::{Elf, ElfError};
use crate::unwind::CodeAddress;

/// Names for places in code. What no function symbol covers is named after the nearest symbol before it that has no
/// size, such as the label of a function in assembly.
#[derive(Clone, Debug, Default)]
pub struct CodeNames<'a> {
    functions: SymbolTable<'a>,
    /// Each part has one name, or none, and reaches up to the start of the next one. In order, with different starts.
    parts: Vec<Part<'a>>,
}

#[derive(Clone, Debug)]
struct Part<'a> {
    start: CodeAddress,
    symbol: Option<Symbol<'a>>,
}

impl<'a> CodeNames<'a> {
    /// Reads the symbols of a file. In a stripped file, these are the function symbols of `.dynsym`, which lists exported
    /// ones only. A function that is not listed may follow, so that those without a size name only their own place.
    ///
    /// # Errors
    /// [`ElfError::Malformed`].
    pub fn load(file: &Elf<'a>) -> Result<CodeNames<'a>, ElfError> {
        Ok(CodeNames { functions: SymbolTable::load(file)?, parts: parts(file)? })
    }

    /// The function symbols alone.
    #[must_use]
    pub const fn functions(&self) -> &SymbolTable<'a> {
        &self.functions
    }

    /// All code with a name, ordered by start. Of several symbols at one place, the best one counts, as in
    /// [`CodeNames::find`]. Function symbols without a size in a stripped file name no code but their own place, and are
    /// not listed.
    #[must_use]
    pub fn named_code(&self) -> Vec<NamedCode> {
        let of_size = |symbol: &Symbol<'_>| NamedCode {
            start: symbol.start,
            end: symbol.start.address.saturating_add(symbol.size),
            is_sized: true,
        };
        let functions = self.functions.symbols().iter().filter(|symbol| symbol.size > 0);
        let mut all: Vec<NamedCode> = functions.map(of_size).collect();
        for (place, part) in self.parts.iter().enumerate() {
            let Some(symbol) = part.symbol.filter(|symbol| symbol.start == part.start) else {
                continue;
            };
            let next = self.parts.get(place.saturating_add(1)).map(|next| next.start);
            let next = next.filter(|next| next.section == part.start.section);
            let end = next.map_or(part.start.address, |next| next.address);
            let of_unknown_size = NamedCode { start: part.start, end, is_sized: false };
            all.push(if symbol.size > 0 { of_size(&symbol) } else { of_unknown_size });
        }
        // The sort is stable: function symbols come first, and of those the best.
        all.sort_by_key(|code| code.start);
        all.dedup_by_key(|code| code.start);
        all
    }

    /// The symbol that [`SymbolTable::find`] finds. Otherwise, the last one before `place` whose size reaches it.
    /// Otherwise, the nearest one before `place` without a size, if no other symbol and no end of a section or of a sized
    /// symbol is between them.
    #[must_use]
    pub fn find(&self, place: CodeAddress) -> Option<&Symbol<'a>> {
        let nearest = || {
            let after = self.parts.partition_point(|part| part.start <= place);
            let part = self.parts.get(after.checked_sub(1)?)?;
            part.symbol.as_ref().filter(|symbol| symbol.start.section == place.section)
        };
        self.functions.find(place).or_else(nearest)
    }
}

/// Code with a name: what [`CodeNames::find`] names after one symbol, unless a part of it has a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedCode {
    /// The place of the symbol.
    pub start: CodeAddress,
    /// The end in the same section, exclusive.
    pub end: u64,
    /// Whether the symbol states the size. Otherwise, the code reaches up to the next symbol or the end of the section,
    /// and may end with padding.
    pub is_sized: bool,
}

/// What starts at a place. At one place, they apply in this order, and the last one decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Start {
    /// Code or data of a known size.
    Sized,
    /// The start or end of a section, or data of unknown size. What follows has no name.
    Unnamed,
    /// Code of unknown size.
    Unsized,
}

struct Mark<'a> {
    start: CodeAddress,
    kind: Start,
    /// What the part is named after: only code has a name.
    symbol: Option<TypedSymbol<'a>>,
}

/// The parts into which the symbols in `.symtab` divide the code of a file.
fn parts<'a>(file: &Elf<'a>) -> Result<Vec<Part<'a>>, ElfError> {
    let section_of = |index| file.section(index).filter(|section| section.is_executable());
    let wants = |kind, defined_in| {
        let is_wanted = matches!(kind, STT_NOTYPE | STT_OBJECT | STT_FUNC | STT_GNU_IFUNC);
        is_wanted && section_of(defined_in).is_some()
    };
    let mut marks: Vec<Mark<'a>> = Vec::new();
    for found in read_any(file, super::COMPLETE, wants)? {
        let is_inside = section_of(found.defined_in)
            .is_some_and(|section| file.range_of(section).contains(&found.symbol.start));
        if is_inside && !is_marker(&found.symbol) {
            let kind = match (found.symbol.size, found.kind) {
                (0, STT_OBJECT) => Start::Unnamed,
                (0, _) => Start::Unsized,
                _ => Start::Sized,
            };
            marks.push(Mark { start: found.symbol.start, kind, symbol: Some(found) });
        }
    }
    if marks.is_empty() {
        return Ok(Vec::new());
    }
    for section in file.sections().iter().filter(|section| section.is_executable()) {
        let range = file.range_of(section);
        let mark = |start| Mark { start, kind: Start::Unnamed, symbol: None };
        marks.extend([mark(range.start), mark(range.end)]);
    }
    // At one place, the best name comes last; of equal ones, the first in the table. Typed symbols are better than untyped ones, then the order is that of
    // `SymbolTable`.
    marks.reverse();
    marks.sort_by_key(|mark| {
        let rank = mark.symbol.as_ref().map(|it| {
            let TypedSymbol { kind, symbol, .. } = it;
            (*kind != STT_NOTYPE, symbol.global, symbol.size)
        });
        (mark.start, mark.kind, rank)
    });
    Ok(divide(marks))
}

/// Divides the code at marks, which are in order.
fn divide(marks: Vec<Mark<'_>>) -> Vec<Part<'_>> {
    let mut parts = Parts::default();
    for Mark { start, kind, symbol } in marks {
        parts.close(start);
        let name = symbol.as_ref().filter(|it| it.kind != STT_OBJECT).map(|it| it.symbol);
        let size = symbol.map_or(0, |it| it.symbol.size);
        match kind {
            Start::Sized => {
                let address = start.address.saturating_add(size);
                parts.open.push((Reverse(CodeAddress { address, ..start }), name));
                parts.push(start, name);
            }
            // A sized symbol is the name of the labels inside it.
            Start::Unnamed | Start::Unsized if parts.open.is_empty() => parts.push(start, name),
            Start::Unnamed | Start::Unsized => {}
        }
    }
    parts.close(CodeAddress { section: u32::MAX, address: u64::MAX });
    parts.all
}

#[derive(Default)]
struct Parts<'a> {
    all: Vec<Part<'a>>,
    /// The ends and names of sized symbols that may not have ended. The last one has the latest start.
    open: Vec<(Reverse<CodeAddress>, Option<Symbol<'a>>)>,
}

impl<'a> Parts<'a> {
    fn push(&mut self, start: CodeAddress, symbol: Option<Symbol<'a>>) {
        match self.all.last_mut() {
            Some(last) if last.start == start => last.symbol = symbol,
            _ => self.all.push(Part { start, symbol }),
        }
    }

    /// Ends the sized symbols that do not reach beyond `place`, as far as later ones do not hide them. What follows each
    /// is in the next outer one.
    fn close(&mut self, place: CodeAddress) {
        while let Some((Reverse(end), _)) = self.open.last().copied()
            && end <= place
        {
            while self.open.pop_if(|(Reverse(other), _)| *other <= end).is_some() {}
            let outer = self.open.last().and_then(|(_, symbol)| *symbol);
            self.push(end, outer);
        }
    }
}

/// Whether a symbol names nothing: mapping symbols (`$x`, `$d.1`), which say where code and data start, labels that the
/// assembler made (`.L1`), and empty names.
fn is_marker(symbol: &Symbol<'_>) -> bool {
    match symbol.name.bytes() {
        [] | [b'.', b'L', ..] => true,
        [b'$', b'a' | b'd' | b't' | b'x'] | [b'$', b'a' | b'd' | b't' | b'x', b'.', ..] => {
            !symbol.global
        }
        _ => false,
    }
}
