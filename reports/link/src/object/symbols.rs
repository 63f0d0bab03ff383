//! The symbols by which objects are linked to each other.

use std::collections::HashSet;

use object::elf::{
    EM_AARCH64, EM_S390, EM_X86_64, R_390_PLT16DBL, R_390_PLT32DBL, R_AARCH64_CALL26,
    R_AARCH64_JUMP26, R_X86_64_PLT32, RelocationType, VERSYM_HIDDEN,
};
use object::read::elf::ElfFile64;
use object::{
    Endianness, Object as _, ObjectComdat as _, ObjectSection as _, ObjectSymbol as _,
    RelocationFlags, RelocationTarget, SectionKind, SymbolKind, SymbolScope,
};
use sframe_record::text::printable;

use crate::input::InputKind;

/// Names that an object defines, and names that it needs. A version in a name (`name@VERSION`) is left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    /// Global and weak definitions, and common symbols.
    pub(crate) defined: Vec<Vec<u8>>,
    /// Needed, so that a member of an archive is pulled in.
    pub(crate) needed: Vec<Vec<u8>>,
    /// Needed weakly, which pulls in nothing.
    pub(crate) weakly_needed: Vec<Vec<u8>>,
    /// Definitions of a shared object that are weak.
    pub(crate) weak: Vec<Vec<u8>>,
    /// Definitions that other modules cannot replace at run time, because their visibility is limited.
    pub(crate) hidden: Vec<Vec<u8>>,
    /// The source that the last symbol of type `STT_FILE` names.
    pub(crate) source: Option<String>,
    /// Names that code calls through the PLT.
    pub(crate) calls: Vec<Vec<u8>>,
}

impl Symbols {
    pub(super) fn read(file: &ElfFile64<'_, Endianness>, kind: InputKind) -> Symbols {
        match kind {
            InputKind::Shared => of_shared(file),
            _ => of_object(file),
        }
    }

    /// The names that the object `data` defines, and whether each is weak; none if it cannot be read.
    pub(crate) fn defined_in(data: &[u8]) -> Vec<(Vec<u8>, bool)> {
        let Ok(file) = ElfFile64::<Endianness>::parse(data) else { return Vec::new() };
        if !names_fit(&file) {
            return Vec::new();
        }
        let global = file.symbols().filter(|symbol| symbol.is_global() && !symbol.is_undefined());
        global
            .filter_map(|symbol| Some((bare(symbol.name_bytes().ok()?), symbol.is_weak())))
            .collect()
    }
}

fn of_object(file: &ElfFile64<'_, Endianness>) -> Symbols {
    let mut symbols = Symbols::default();
    for symbol in file.symbols().filter(|symbol| symbol.is_global()) {
        let Ok(name) = symbol.name_bytes().map(bare) else { continue };
        if name.is_empty() {
            continue;
        }
        if symbol.is_undefined() {
            match symbol.is_weak() {
                true => symbols.weakly_needed.push(name),
                false => symbols.needed.push(name),
            }
            continue;
        }
        if symbol.scope() == SymbolScope::Linkage {
            symbols.hidden.push(name.clone());
        }
        symbols.defined.push(name);
    }
    let sources = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::File);
    let source = sources.last().and_then(|symbol| symbol.name_bytes().ok());
    symbols.source = source.filter(|name| !name.is_empty()).map(printable);
    symbols.calls = calls(file);
    symbols
}

/// How many times the size of its file the names of all symbols, groups and sections may have together. Names that end in the same
/// way share bytes in sound files; in hostile ones, each can be all of the string table.
const MOST_NAMES: usize = 4;

/// Whether the names in a file together are short enough to be copied.
pub(super) fn names_fit(file: &ElfFile64<'_, Endianness>) -> bool {
    let of_symbols = file.symbols().chain(file.dynamic_symbols());
    let of_symbols = of_symbols.map(|symbol| symbol.name_bytes().map_or(0, <[u8]>::len));
    let of_groups = file.comdats().map(|group| group.name_bytes().map_or(0, <[u8]>::len));
    let of_sections = file.sections().map(|section| section.name_bytes().map_or(0, <[u8]>::len));
    let mut room = file.data().len().saturating_mul(MOST_NAMES);
    of_symbols.chain(of_groups).chain(of_sections).all(|length| {
        let rest = room.checked_sub(length);
        room = rest.unwrap_or_default();
        rest.is_some()
    })
}

/// The relocations of calls that may go through the PLT.
fn call_types(file: &ElfFile64<'_, Endianness>) -> &'static [RelocationType] {
    match file.elf_header().e_machine.get(file.endian()) {
        EM_X86_64 => &[R_X86_64_PLT32],
        EM_AARCH64 => &[R_AARCH64_CALL26, R_AARCH64_JUMP26],
        EM_S390 => &[R_390_PLT16DBL, R_390_PLT32DBL],
        _ => &[],
    }
}

/// The names of global symbols for which code has relocations for calls.
fn calls(file: &ElfFile64<'_, Endianness>) -> Vec<Vec<u8>> {
    let types = call_types(file);
    let mut called = HashSet::new();
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        for (_, relocation) in section.relocations() {
            let is_call = matches!(relocation.flags(),
                RelocationFlags::Elf { r_type } if types.contains(&r_type));
            if let RelocationTarget::Symbol(index) = relocation.target()
                && is_call
            {
                called.insert(index);
            }
        }
    }
    let mut indices: Vec<_> = called.into_iter().collect();
    indices.sort_by_key(|index| index.0);
    let named = indices.into_iter().filter_map(|index| file.symbol_by_index(index).ok());
    let global = named.filter(|symbol| symbol.is_global());
    global.filter_map(|symbol| symbol.name_bytes().ok().map(bare)).collect()
}

/// A shared object defines what its dynamic symbols name, except for old versions that only programs linked long ago use.
fn of_shared(file: &ElfFile64<'_, Endianness>) -> Symbols {
    let endian = file.endian();
    let versions = file.elf_section_table().gnu_versym(endian, file.data()).ok().flatten();
    let versions = versions.map(|(versions, _)| versions).unwrap_or_default();
    let mut symbols = Symbols::default();
    for symbol in file.dynamic_symbols().filter(|symbol| symbol.is_global()) {
        let Ok(name) = symbol.name_bytes().map(bare) else { continue };
        let version = versions.get(symbol.index().0).map(|version| version.0.get(endian));
        let is_old = version.is_some_and(|version| version.contains(VERSYM_HIDDEN));
        if name.is_empty() || (is_old && !symbol.is_undefined()) {
            continue;
        }
        if !symbol.is_undefined() {
            if symbol.is_weak() {
                symbols.weak.push(name.clone());
            }
            symbols.defined.push(name);
        } else if symbol.is_weak() {
            symbols.weakly_needed.push(name);
        } else {
            symbols.needed.push(name);
        }
    }
    symbols
}

pub(super) fn bare(name: &[u8]) -> Vec<u8> {
    name.split(|byte| *byte == b'@').next().unwrap_or(name).to_vec()
}
