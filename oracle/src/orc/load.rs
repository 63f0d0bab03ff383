//! The ORC tables of an ELF file.

use sframe_validator::Abi;
use sframe_validator::elf::{Elf, ElfKind, ElfSection, Relocation, RelocationTable, SHT_NOBITS};
use sframe_validator::unwind::CodeAddress;

use super::Orc;
use super::entry::OrcEntry;
use super::error::{OrcError, OrcErrorKind};
use super::layout::{ENTRY, Layout, RawEntry};
use super::meaning::{Doubt, Meaning};

const ADDRESSES: &str = ".orc_unwind_ip";
pub(super) const ENTRIES: &str = ".orc_unwind";
const HEADER: &str = ".orc_header";
/// The size of a field of `.orc_unwind_ip`, in bytes.
const ADDRESS: usize = 4;
/// `R_X86_64_PC32`: `S + A - P` in 4 bytes.
const R_X86_64_PC32: u32 = 2;

impl Orc {
    /// Reads the tables of a kernel or of a module. `None` if the file has none. An entry whose address is not that of code
    /// is a defect, and costs only itself.
    ///
    /// Time and memory are those of sorting the entries.
    ///
    /// # Errors
    /// The tables as a whole cannot be read: a section is missing, its size is no multiple of an entry's, the tables have
    /// different numbers of entries, or the relocations cannot be read.
    pub fn load(elf: &Elf<'_>) -> Result<Option<Orc>, OrcError> {
        let find = |name: &str| {
            elf.sections().iter().find(|section| section.name.bytes() == name.as_bytes())
        };
        let (addresses, entries) = match (find(ADDRESSES), find(ENTRIES)) {
            (None, None) => return Ok(None),
            (Some(addresses), Some(entries)) => (addresses, entries),
            (None, Some(_)) => return Err(error(ADDRESSES, 0, OrcErrorKind::Missing)),
            (Some(_), None) => return Err(error(ENTRIES, 0, OrcErrorKind::Missing)),
        };
        if elf.abi() != Some(Abi::Amd64) {
            return Err(error(ENTRIES, 0, OrcErrorKind::Machine(elf.machine())));
        }
        let raw = raw_entries(elf, entries)?;
        let fields = bytes(elf, addresses, ADDRESSES)?.as_chunks::<ADDRESS>();
        if !fields.1.is_empty() {
            let (size, entry) = (addresses.size, ADDRESS as u64);
            return Err(error(ADDRESSES, 0, OrcErrorKind::Size { size, entry }));
        }
        if fields.0.len() != raw.len() {
            let (addresses, entries) = (fields.0.len() as u64, raw.len() as u64);
            return Err(error(ENTRIES, 0, OrcErrorKind::Counts { addresses, entries }));
        }
        let layouts = match find(HEADER) {
            Some(header) => of_header(elf, header)?,
            None => Layout::fitting(&raw),
        };
        let places = Places::of(elf, addresses)?;
        let code = CodeSections::of(elf);
        let (mut found, mut defects) = (Vec::with_capacity(raw.len()), Vec::new());
        for ((index, raw), field) in (0..).zip(raw).zip(fields.0) {
            let offset = u64::from(index) * ADDRESS as u64;
            let placed = places.at(offset, *field).and_then(|start| Ok((start, code.end(start)?)));
            match placed {
                Ok((start, end)) => {
                    let meaning = Meaning::of(raw, &layouts);
                    found.push(OrcEntry { start, end, index, raw, meaning });
                }
                Err(kind) => defects.push(error(ADDRESSES, offset, kind)),
            }
        }
        sort(&mut found);
        Ok(Some(Orc { entries: found, layouts, defects }))
    }
}

const fn error(section: &'static str, offset: u64, kind: OrcErrorKind) -> OrcError {
    OrcError { section, offset, kind }
}

fn bytes<'a>(
    elf: &Elf<'a>,
    section: &ElfSection<'_>,
    name: &'static str,
) -> Result<&'a [u8], OrcError> {
    let data = elf.section_data(section).ok().filter(|_| section.sh_type != SHT_NOBITS);
    let data = data.filter(|data| u32::try_from(data.len()).is_ok());
    data.ok_or(error(name, 0, OrcErrorKind::Unreadable))
}

fn raw_entries(elf: &Elf<'_>, section: &ElfSection<'_>) -> Result<Vec<RawEntry>, OrcError> {
    let (entries, rest) = bytes(elf, section, ENTRIES)?.as_chunks::<ENTRY>();
    if !rest.is_empty() {
        let (size, entry) = (section.size, ENTRY as u64);
        return Err(error(ENTRIES, 0, OrcErrorKind::Size { size, entry }));
    }
    Ok(entries.iter().map(|bytes| RawEntry::read(*bytes)).collect())
}

/// The layout according to `.orc_header`; none if its hash is not known.
fn of_header(elf: &Elf<'_>, section: &ElfSection<'_>) -> Result<Vec<Layout>, OrcError> {
    let hash: [u8; 20] = bytes(elf, section, HEADER)?
        .try_into()
        .map_err(|_| error(HEADER, 0, OrcErrorKind::HeaderSize(section.size)))?;
    Ok(Layout::of_header(hash).into_iter().collect())
}

/// The start addresses of entries.
enum Places {
    /// In a linked file, they are in the fields. Contains the section's address.
    Linked(u64),
    /// In a relocatable object, they are in the relocations, which are ordered by the fields' offsets.
    Relocated(Vec<Relocation>),
}

impl Places {
    fn of(elf: &Elf<'_>, section: &ElfSection<'_>) -> Result<Places, OrcError> {
        if elf.kind() != ElfKind::Relocatable {
            return Ok(Places::Linked(section.address));
        }
        let table = RelocationTable::load(elf, section.index)
            .map_err(|why| error(ADDRESSES, 0, OrcErrorKind::Relocations(why)))?;
        let mut relocations = table.relocations;
        relocations.sort_by_key(|relocation| relocation.offset);
        Ok(Places::Relocated(relocations))
    }

    /// The address of the field at an offset.
    fn at(&self, offset: u64, field: [u8; ADDRESS]) -> Result<CodeAddress, OrcErrorKind> {
        match self {
            Places::Linked(section) => {
                let distance = i64::from(i32::from_le_bytes(field));
                let address = section.wrapping_add(offset).wrapping_add_signed(distance);
                Ok(CodeAddress::absolute(address))
            }
            Places::Relocated(relocations) => {
                let first = relocations.partition_point(|relocation| relocation.offset < offset);
                let relocation = relocations.get(first).filter(|found| found.offset == offset);
                let relocation = relocation.ok_or(OrcErrorKind::MissingRelocation)?;
                if relocation.kind != R_X86_64_PC32 {
                    return Err(OrcErrorKind::RelocationType(relocation.kind));
                }
                relocation.target().ok_or(OrcErrorKind::UndefinedSymbol)
            }
        }
    }
}

/// The starts and ends of the executable parts of a file, ordered.
struct CodeSections(Vec<(CodeAddress, u64)>);

impl CodeSections {
    fn of(elf: &Elf<'_>) -> CodeSections {
        let ranges =
            elf.executable().map(|(start, size)| (start, start.address.saturating_add(size)));
        let mut ranges: Vec<_> = ranges.collect();
        ranges.sort_unstable();
        CodeSections(ranges)
    }

    /// The end of the part that contains `place` or ends there.
    fn end(&self, place: CodeAddress) -> Result<u64, OrcErrorKind> {
        let after = self.0.partition_point(|(start, _)| *start <= place);
        let range = after.checked_sub(1).and_then(|last| self.0.get(last));
        let range = range.filter(|(start, _)| start.section == place.section);
        let end = range.map(|(_, end)| *end).filter(|end| place.address <= *end);
        end.ok_or(OrcErrorKind::OutsideCode(place))
    }
}

/// Orders entries as the kernel does, and ends each where the next one starts.
fn sort(entries: &mut [OrcEntry]) {
    entries.sort_by_key(|entry| (entry.start, entry.meaning != Meaning::Undefined, entry.index));
    let mut next: Option<OrcEntry> = None;
    for entry in entries.iter_mut().rev() {
        if let Some(next) = next.filter(|next| next.start.section == entry.start.section) {
            entry.end = entry.end.min(next.start.address);
        }
        next = Some(*entry);
    }
    // The last of the entries with the same address is valid, and it is known only if they are equal.
    let mut last: Option<OrcEntry> = None;
    for entry in entries.iter_mut() {
        if let Some(last) = last.filter(|last| last.start == entry.start)
            && last.meaning != Meaning::Undefined
            && last.meaning != entry.meaning
        {
            entry.meaning = Meaning::Undecided(Doubt::Conflict);
        }
        last = Some(*entry);
    }
}
