//! What the code of findings was made from: by DWARF, by the names of source files, or by `.comment`.

mod file_symbols;
mod unit;

use std::cell::OnceCell;

use sframe_defects::depends_on_origin;
use sframe_record::{Compiler, Finding, Origin, OriginKind, Producer, Record, ShownBy};
use sframe_validator::elf::{Elf, ElfKind};

use super::producers::producers;
use super::source_lines::Debugging;

pub(super) use unit::of_unit;

/// Adds the origin of their code to the findings of a file. Nothing is read before the first finding that needs it.
pub(crate) struct Origins<'o, 'd> {
    elf: &'o Elf<'o>,
    debugging: &'o Debugging<'d>,
    /// The origin of code about which DWARF says nothing.
    of_file: OnceCell<Option<Origin<'static>>>,
}

impl<'o, 'd> Origins<'o, 'd> {
    /// For a file.
    pub(crate) const fn new(elf: &'o Elf<'o>, debugging: &'o Debugging<'d>) -> Origins<'o, 'd> {
        Origins { elf, debugging, of_file: OnceCell::new() }
    }

    /// Adds the origin to a finding, if its owner depends on that.
    pub(crate) fn add(&self, record: &Record<'_>, finding: &mut Finding<'_>) {
        if !depends_on_origin(record, finding) {
            return;
        }
        let own = || self.debugging.origin(finding);
        finding.origin = own().or_else(|| self.of_file().cloned()).map(Box::new);
    }

    fn of_file(&self) -> Option<&Origin<'static>> {
        self.of_file.get_or_init(|| of_file(self.elf)).as_ref()
    }
}

fn of_file(elf: &Elf<'_>) -> Option<Origin<'static>> {
    let compilers: Vec<Compiler<'static>> =
        producers(elf).into_iter().filter(Producer::is_compiler).map(compiler).collect();
    if elf.kind() == ElfKind::Relocatable {
        let names = file_symbols::names(elf);
        let kinds = names.iter().flatten().map(|name| of_suffix(name));
        let mut kinds: Vec<Option<OriginKind>> = kinds.collect();
        kinds.dedup();
        match kinds.as_slice() {
            [Some(kind)] => return Some(made(*kind, ShownBy::FileSymbol, compilers)),
            [] if names.is_some() && compilers.is_empty() => {
                return Some(made(OriginKind::Assembly, ShownBy::NoCompiler, compilers));
            }
            _ => {}
        }
    }
    let is_named = !compilers.is_empty();
    is_named.then(|| made(OriginKind::Compiled, ShownBy::Comment, compilers))
}

/// An origin. Assembly has no compilers.
fn made(kind: OriginKind, shown_by: ShownBy, compilers: Vec<Compiler<'static>>) -> Origin<'static> {
    let compilers = if kind == OriginKind::Compiled { compilers } else { Vec::new() };
    Origin { kind, shown_by, compilers }
}

fn compiler(producer: Producer<'static>) -> Compiler<'static> {
    Compiler { name: producer.name, version: producer.version }
}

/// The suffixes of assembly.
const ASSEMBLY: [&str; 5] = ["s", "S", "sx", "asm", "nasm"];
/// The suffixes of compiled languages.
const COMPILED: [&str; 28] = [
    "c", "i", "C", "cc", "cp", "cpp", "cxx", "c++", "ii", "m", "mm", "f", "F", "for", "f77", "f90",
    "f95", "f03", "f08", "F90", "adb", "ads", "d", "go", "rs", "hs", "zig", "ll",
];

/// Who wrote the directives of code from a source file, by the suffix of its name.
fn of_suffix(name: &[u8]) -> Option<OriginKind> {
    let name = std::str::from_utf8(name).ok()?;
    let (_, suffix) = name.rsplit_once('.')?;
    let is_in = |list: &[&str]| list.contains(&suffix);
    match (is_in(&ASSEMBLY), is_in(&COMPILED)) {
        (true, _) => Some(OriginKind::Assembly),
        (_, true) => Some(OriginKind::Compiled),
        _ => None,
    }
}
