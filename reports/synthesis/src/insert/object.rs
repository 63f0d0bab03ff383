//! A section added to an object, with its relocations.

use std::collections::BTreeMap;

use sframe_validator::Abi;
use sframe_validator::elf::{Elf, SHF_ALLOC, SHF_INFO_LINK, SHT_RELA, SHT_SYMTAB};
use sframe_validator::section::Header;
use sframe_validator::unwind::CodeAddress;

use super::fields::{Relocation, SectionHeader, symbols};
use super::{CannotInsert, Insertion, extend, section_symbols, sections};
use crate::place::{Written, section_type};

/// The bytes of a relocation.
const RELOCATION: u64 = 24;

pub(super) fn file(insertion: &Insertion<'_>, written: &Written) -> Result<Vec<u8>, CannotInsert> {
    let elf = insertion.elf;
    let mut header = insertion.header;
    let table = elf.sections().iter().find(|section| section.sh_type == SHT_SYMTAB);
    let table = table.ok_or(CannotInsert::Headers)?.index;
    let mut anchors = Anchors::new(elf, table)?;
    let kind = kind(elf, &written.bytes).ok_or(CannotInsert::Headers)?;
    let mut file = elf.data().to_vec();
    let mut headers = sections::table(elf, &header)?;
    let missing = anchors.missing(written);
    if !missing.is_empty() {
        let first = section_symbols::add(elf, &mut file, &mut headers, table, &missing)?;
        anchors.0.extend(missing.iter().zip(first..).map(|(section, it)| (*section, (it, 0))));
    }
    let section = SectionHeader {
        sh_type: section_type(&written.bytes),
        flags: SHF_ALLOC,
        offset: aligned(&mut file)?,
        size: written.bytes.len() as u64,
        alignment: 8,
        ..SectionHeader::default()
    };
    file.extend_from_slice(&written.bytes);
    let relocations = SectionHeader {
        sh_type: SHT_RELA,
        flags: SHF_INFO_LINK,
        offset: aligned(&mut file)?,
        size: written.relocations.len() as u64 * RELOCATION,
        link: table,
        info: header.sections.into(),
        alignment: 8,
        entry_size: RELOCATION,
        ..SectionHeader::default()
    };
    for relocation in &written.relocations {
        let target = relocation.target.ok_or(CannotInsert::Headers)?;
        let (symbol, addend) = anchors.of(target)?;
        let relocation = Relocation { offset: relocation.field_offset, symbol, kind, addend };
        relocation.write(&mut file, elf.endian());
    }
    let new = [(".sframe", section), (".rela.sframe", relocations)];
    sections::append(elf, &mut file, &mut header, headers, &new)?;
    header.write(&mut file, elf.endian()).ok_or(CannotInsert::Headers)?;
    Ok(file)
}

/// Extends the file to a multiple of 8 bytes.
fn aligned(file: &mut Vec<u8>) -> Result<u64, CannotInsert> {
    let offset = (file.len() as u64).next_multiple_of(8);
    extend(file, offset)?;
    Ok(offset)
}

/// The type of relocations: distances from the field, of 4 bytes up to version 2, and of 8 bytes since then.
fn kind(elf: &Elf<'_>, section: &[u8]) -> Option<u32> {
    let (header, _) = Header::parse(section, None).ok()?;
    let is_wide = header.version.entry_size() == 16;
    Some(match (elf.abi()?, is_wide) {
        // R_X86_64_PC64 and R_X86_64_PC32.
        (Abi::Amd64, true) => 24,
        (Abi::Amd64, false) => 2,
        // R_AARCH64_PREL64 and R_AARCH64_PREL32.
        (Abi::Aarch64Big | Abi::Aarch64Little, true) => 260,
        (Abi::Aarch64Big | Abi::Aarch64Little, false) => 261,
        // R_390_PC64 and R_390_PC32.
        (Abi::S390x, true) => 23,
        (Abi::S390x, false) => 5,
    })
}

/// For each section, the symbol to which relocations refer: its own, or else any local one.
struct Anchors(BTreeMap<u32, (u32, u64)>);

impl Anchors {
    fn new(elf: &Elf<'_>, table: u32) -> Result<Anchors, CannotInsert> {
        let section = elf.section(table).and_then(|table| elf.section_data(table).ok());
        let symbols = symbols(section.ok_or(CannotInsert::Headers)?, elf.endian());
        let mut anchors = BTreeMap::new();
        for (index, symbol) in (0..).zip(symbols).filter(|(_, symbol)| symbol.is_local()) {
            if symbol.is_section() {
                anchors.insert(symbol.section.into(), (index, symbol.value));
            } else {
                anchors.entry(symbol.section.into()).or_insert((index, symbol.value));
            }
        }
        Ok(Anchors(anchors))
    }

    /// The sections to which relocations have to refer and that have no symbol yet, in order.
    fn missing(&self, written: &Written) -> Vec<u32> {
        let targets = written.relocations.iter().filter_map(|relocation| relocation.target);
        let sections = targets.map(|target| target.section);
        let mut missing: Vec<u32> = sections.filter(|it| !self.0.contains_key(it)).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// The symbol and the addend for a place.
    fn of(&self, place: CodeAddress) -> Result<(u32, u64), CannotInsert> {
        let anchor = self.0.get(&place.section).filter(|_| place.section != 0);
        let (symbol, value) = anchor.ok_or(CannotInsert::Headers)?;
        Ok((*symbol, place.address.wrapping_sub(*value)))
    }
}
