//! A section as assembler source, which GNU as and llvm-mc accept.
//!
//! It is right only at the end of the source of an object: there, the names of sections are those of the object's code.
//! Alone, or in a file of its own, it would describe the empty sections of that file. So it begins with a check that a
//! symbol of the object is defined.
//!
//! Start fields refer to symbols or sections, so the linker computes them. They count from themselves, also where the
//! header's flags do not say so: GNU ld changes them then (observed: 2.40, 2.44). All other fields are bytes.

use core::fmt::{self, Write as _};
use std::collections::BTreeMap;

use sframe_validator::Version;
use sframe_validator::elf::{Elf, ElfKind, SHT_PROGBITS, SymbolTable};
use sframe_validator::section::{Error, Section};
use sframe_validator::unwind::CodeAddress;

use crate::place::{Place, Written, section_type};

/// The first lines.
const HEAD: &str = "\
\t/* Append this to the source of the object from which it was made, and assemble both as one\n\
\t   file, without --gsframe. In a file of its own, it would describe the code of that file. */\n";
/// The maximum number of bytes in a line.
const LINE: usize = 16;

/// Why a section cannot be written as assembler source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssemblyError {
    /// The file is linked: it has no source to which the section could be appended.
    Linked,
    /// The section cannot be read.
    Section(Error),
    /// No symbol and no section contains a function.
    NoName(CodeAddress),
}

impl core::error::Error for AssemblyError {}

impl fmt::Display for AssemblyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AssemblyError::Linked => f.write_str(
                "the file is linked, and assembly has to be appended to the source of an object",
            ),
            AssemblyError::Section(error) => error.fmt(f),
            AssemblyError::NoName(place) => {
                write!(f, "no symbol or section contains the function at {:#x}", place.address)
            }
        }
    }
}

/// Writes the section of an object as assembler source, to be appended to the object's own source.
///
/// Its functions have the names of their sections, which assemblers know as symbols, with an offset: a reference to a
/// global symbol would become a dynamic relocation in a shared library.
///
/// # Errors
/// [`AssemblyError`].
pub fn assembly(
    elf: &Elf<'_>,
    symbols: &SymbolTable<'_>,
    written: &Written,
) -> Result<String, AssemblyError> {
    if elf.kind() != ElfKind::Relocatable {
        return Err(AssemblyError::Linked);
    }
    let bytes = &written.bytes;
    let placement = written.placement(Place::Relocatable);
    let section = Section::parse(bytes, placement).map_err(AssemblyError::Section)?;
    let header = section.header();
    let (directive, width) = match header.version {
        Version::V1 | Version::V2 => (".4byte", 4),
        Version::V3 => (".8byte", 8),
    };
    let sh_type = match section_type(bytes) {
        // The default of GNU as. llvm-mc accepts no type but the section's own.
        SHT_PROGBITS => String::new(),
        own => format!(",@{own:#x}"),
    };
    let mut text = HEAD.to_owned();
    text.push_str(&check(symbols));
    // Writing to a string cannot fail.
    let _ = write!(text, "\t.section .sframe,\"a\"{sh_type}\n\t.balign 8\n");
    let names = Names::new(elf, symbols);
    let mut position = 0;
    for entry in section.entries() {
        let start = entry.start().map_err(AssemblyError::Section)?;
        let field = usize::try_from(entry.offset()).unwrap_or(usize::MAX);
        push_bytes(&mut text, bytes.get(position..field));
        let name = names.of(start).ok_or(AssemblyError::NoName(start))?;
        let _ = writeln!(text, "\t/* function {} */\n\t{directive} {name} - .", entry.index());
        position = field.saturating_add(width);
    }
    text.push_str("\t/* rows */\n");
    push_bytes(&mut text, bytes.get(position..));
    Ok(text)
}

/// Fails the assembly if a symbol of the object is not defined before. Without a symbol that any assembler reads, there is
/// no check.
fn check(symbols: &SymbolTable<'_>) -> String {
    let plain = symbols.symbols().iter().filter_map(|symbol| plain(symbol.name.bytes()));
    let check = |name| {
        let message = format!("append this to the source of its object, which defines {name}");
        format!("\t.ifndef {name}\n\t.error \"{message}\"\n\t.endif\n")
    };
    plain.take(1).map(check).collect()
}

/// The name of a symbol that the source defines, if it needs no quotes and is longer than those of registers. Assemblers add
/// names with `$`.
fn plain(name: &[u8]) -> Option<&str> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let name = core::str::from_utf8(name).ok().filter(|name| name.len() > 3)?;
    let is_name =
        name.as_bytes().iter().all(is_plain) && !name.starts_with(|c: char| c.is_ascii_digit());
    is_name.then_some(name)
}

fn push_bytes(text: &mut String, bytes: Option<&[u8]>) {
    for line in bytes.unwrap_or_default().chunks(LINE) {
        let numbers: Vec<String> = line.iter().map(|byte| format!("{byte:#04x}")).collect();
        let _ = writeln!(text, "\t.byte {}", numbers.join(","));
    }
}

/// The names by which an assembler knows the places of a file.
struct Names<'a> {
    elf: &'a Elf<'a>,
    symbols: &'a SymbolTable<'a>,
    /// How many sections have a name.
    sections: BTreeMap<&'a [u8], usize>,
}

impl<'a> Names<'a> {
    fn new(elf: &'a Elf<'a>, symbols: &'a SymbolTable<'a>) -> Names<'a> {
        let mut sections = BTreeMap::new();
        for section in elf.sections() {
            *sections.entry(section.name.bytes()).or_default() += 1;
        }
        Names { elf, symbols, sections }
    }

    /// The section or symbol of a place, with an offset.
    fn of(&self, place: CodeAddress) -> Option<String> {
        let (name, offset) = self.by_section(place).or_else(|| self.by_symbol(place))?;
        Some(if offset == 0 { name } else { format!("{name}+{offset:#x}") })
    }

    fn by_symbol(&self, place: CodeAddress) -> Option<(String, u64)> {
        let symbol = self.symbols.find(place)?;
        let offset = place.address.checked_sub(symbol.start.address)?;
        Some((quoted(symbol.name.bytes())?, offset))
    }

    /// The section, unless others have the same name.
    fn by_section(&self, place: CodeAddress) -> Option<(String, u64)> {
        let section = self.elf.code_section_at(place)?;
        (self.sections.get(section.name.bytes()) == Some(&1)).then_some(())?;
        Some((quoted(section.name.bytes())?, place.address))
    }
}

/// A name as assemblers read it; `None` if it has characters that need escapes.
fn quoted(name: &[u8]) -> Option<String> {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"\"\\".contains(byte);
    let name = core::str::from_utf8(name).ok().filter(|name| !name.is_empty())?;
    name.as_bytes().iter().all(is_plain).then(|| format!("\"{name}\""))
}
