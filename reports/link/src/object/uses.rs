//! What decides which sections of an object `--gc-sections` keeps: what they are, and to what their relocations refer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use object::elf::{
    SHF_GNU_RETAIN, SHF_LINK_ORDER, SHT_FINI_ARRAY, SHT_INIT_ARRAY, SHT_NOTE, SHT_PREINIT_ARRAY,
};
use object::read::elf::ElfFile64;
use object::{
    Endianness, Object as _, ObjectComdat as _, ObjectSection as _, ObjectSymbol as _,
    RelocationTarget, SectionIndex, SymbolIndex, SymbolScope,
};
use sframe_validator::elf::{Elf, ElfSection, SHF_ALLOC};

use super::symbols::bare;
use crate::input::Input;

/// What an object uses and defines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    /// The sections that get into memory, by number. Those of unwind tables are not among them.
    pub(crate) sections: BTreeMap<usize, Used>,
    /// The symbols that other objects can use.
    pub(crate) definitions: Vec<Definition>,
    /// COMDAT groups: their names, and the numbers of their sections.
    pub(crate) groups: Vec<(Arc<[u8]>, Vec<usize>)>,
    /// What unwind tables use besides the code that they describe.
    pub(crate) of_tables: Vec<Target>,
}

/// A section.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    /// Whether it is kept although nothing uses it.
    pub(crate) kept: Kept,
    /// Whether SFrame of version 3 describes functions in it.
    pub(crate) described: bool,
    /// What it uses.
    pub(crate) targets: Vec<Target>,
}

/// Whether a linker keeps a section that nothing uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    No,
    /// It depends on the linker's version and on symbols that it makes.
    Perhaps,
    Always,
}

/// What a relocation refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A section of the same object.
    Section(usize),
    /// A symbol, wherever it is defined.
    Name(Arc<[u8]>),
}

/// A definition that other objects can use.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) name: Vec<u8>,
    /// `None` if it is in no section.
    pub(crate) section: Option<usize>,
    pub(crate) weak: bool,
    /// A shared object with it exports it.
    pub(crate) exported: bool,
}

impl Uses {
    /// Reads them; `None` if it is not known what SFrame of version 3 describes.
    pub(super) fn read(
        elf: &Elf<'_>,
        file: &ElfFile64<'_, Endianness>,
        input: &Input,
    ) -> Option<Uses> {
        let is_merged = input.section().is_some_and(|section| section.version() == Some(3));
        let described = if is_merged { described(elf)? } else { BTreeSet::new() };
        let mut names = Names { file, known: HashMap::new() };
        let mut uses = Uses { groups: groups(elf, &mut names), ..Uses::default() };
        for section in elf.sections().iter().filter(|section| section.flags & SHF_ALLOC != 0) {
            let Ok(index) = usize::try_from(section.index) else { continue };
            match section.name.bytes() {
                b".sframe" => {}
                b".eh_frame" => uses.of_tables.extend(of_table(elf, &mut names, index)),
                _ => {
                    let used = Used {
                        kept: kept(section),
                        described: described.contains(&section.index),
                        targets: targets(&mut names, index),
                    };
                    uses.sections.insert(index, used);
                }
            }
        }
        let global = file.symbols().filter(|symbol| symbol.is_global() && !symbol.is_undefined());
        uses.definitions = global
            .filter_map(|symbol| {
                Some(Definition {
                    name: bare(symbol.name_bytes().ok()?),
                    section: symbol.section_index().map(|section| section.0),
                    weak: symbol.is_weak(),
                    exported: symbol.scope() == SymbolScope::Dynamic,
                })
            })
            .collect();
        Some(uses)
    }
}

/// The names of symbols, each copied once: many relocations and groups may have the same one.
struct Names<'f, 'a> {
    file: &'f ElfFile64<'a, Endianness>,
    known: HashMap<SymbolIndex, Arc<[u8]>>,
}

impl Names<'_, '_> {
    fn of(&mut self, index: SymbolIndex) -> Option<Arc<[u8]>> {
        if let Some(known) = self.known.get(&index) {
            return Some(Arc::clone(known));
        }
        let name: Arc<[u8]> =
            bare(self.file.symbol_by_index(index).ok()?.name_bytes().ok()?).into();
        self.known.insert(index, Arc::clone(&name));
        Some(name)
    }
}

/// The sections of code in which SFrame describes functions.
fn described(elf: &Elf<'_>) -> Option<BTreeSet<u32>> {
    let mut described = BTreeSet::new();
    for content in elf.sframe_contents() {
        let starts = content.relocations.ok()?.starts();
        described.extend(starts.iter().filter_map(|start| Some(start.target?.section)));
    }
    Some(described)
}

/// The sections of each group. Those of valid groups are disjoint: others have as many together as there are sections.
fn groups(elf: &Elf<'_>, names: &mut Names<'_, '_>) -> Vec<(Arc<[u8]>, Vec<usize>)> {
    let mut room = elf.sections().len();
    let groups = names.file.comdats().map(|comdat| {
        let sections: Vec<usize> = comdat.sections().take(room).map(|section| section.0).collect();
        room = room.saturating_sub(sections.len());
        (names.of(comdat.symbol()).unwrap_or_default(), sections)
    });
    groups.collect()
}

/// Constructors and what the compiler marks are kept. Linkers differ in sections whose start a program can name (C
/// identifiers), in notes, and in sections that follow another one.
fn kept(section: &ElfSection<'_>) -> Kept {
    let name = section.name.bytes();
    let is_array = [SHT_INIT_ARRAY, SHT_FINI_ARRAY, SHT_PREINIT_ARRAY]
        .iter()
        .any(|kind| kind.0 == section.sh_type);
    let starts = [".ctors", ".dtors", ".init", ".fini"];
    let is_start = starts.iter().any(|start| name.starts_with(start.as_bytes()));
    let has = |flag: u64| section.flags & flag != 0;
    let is_identifier = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if is_array || is_start || has(SHF_GNU_RETAIN.0) {
        Kept::Always
    } else if is_identifier || section.sh_type == SHT_NOTE.0 || has(SHF_LINK_ORDER.0) {
        Kept::Perhaps
    } else {
        Kept::No
    }
}

/// What the relocations of a section refer to.
fn targets(names: &mut Names<'_, '_>, index: usize) -> Vec<Target> {
    let file = names.file;
    let Ok(section) = file.section_by_index(SectionIndex(index)) else { return Vec::new() };
    let symbols: BTreeSet<usize> = section
        .relocations()
        .filter_map(|(_, relocation)| match relocation.target() {
            RelocationTarget::Symbol(symbol) => Some(symbol.0),
            _ => None,
        })
        .collect();
    let found = symbols.into_iter().filter_map(|symbol| {
        let symbol = file.symbol_by_index(SymbolIndex(symbol)).ok()?;
        match symbol.is_global() {
            true => Some(Target::Name(names.of(symbol.index())?)),
            false => Some(Target::Section(symbol.section_index()?.0)),
        }
    });
    found.collect()
}

/// What an unwind table refers to, such as functions for exceptions. That it describes code does not keep the code.
fn of_table(elf: &Elf<'_>, names: &mut Names<'_, '_>, index: usize) -> Vec<Target> {
    let code: BTreeSet<usize> =
        elf.code_sections().filter_map(|section| usize::try_from(section.index).ok()).collect();
    let mut targets = targets(names, index);
    targets.retain(|target| !matches!(target, Target::Section(section) if code.contains(section)));
    targets
}
