//! Source lines from DWARF.

mod relocated;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use addr2line::{Context, gimli};
use sframe_oracle::cfi::section_bytes;
use sframe_validator::Endian;
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::unwind::CodeAddress;

use super::origin::of_unit;
use relocated::Layout;
use sframe_record::{Address, Finding, Origin, Record, SourceLine};

/// The maximum number of bytes of decompressed DWARF sections together.
const ROOM: u64 = 1 << 30;

type Slice<'d> = gimli::EndianSlice<'d, gimli::RunTimeEndian>;

/// The DWARF sections of a file by name, decompressed and relocated.
pub struct DebugSections<'a> {
    sections: BTreeMap<&'static str, Cow<'a, [u8]>>,
    endian: gimli::RunTimeEndian,
    layout: Layout,
}

impl<'a> DebugSections<'a> {
    /// Reads the sections that lead from addresses to source lines.
    pub fn load(elf: &Elf<'a>) -> DebugSections<'a> {
        let endian = match elf.endian() {
            Endian::Little => gimli::RunTimeEndian::Little,
            Endian::Big => gimli::RunTimeEndian::Big,
        };
        let layout = Layout::of(elf);
        let mut sections = BTreeMap::new();
        let mut room = ROOM;
        let mut load = |id: gimli::SectionId| {
            let name = id.name();
            let found = elf.sections().iter().find(|s| s.name.bytes() == name.as_bytes());
            let Some(section) = found else { return Ok::<(), gimli::Error>(()) };
            if let Ok(mut bytes) = section_bytes(elf, section, room) {
                room = room.saturating_sub(bytes.len() as u64);
                if elf.kind() == ElfKind::Relocatable {
                    layout.relocate(elf, section.index, bytes.to_mut());
                }
                sections.insert(name, bytes);
            }
            Ok(())
        };
        let _ = gimli::DwarfSections::load(&mut load);
        DebugSections { sections, endian, layout }
    }

    /// The source lines; none if the sections are absent or damaged.
    pub fn lines(&self) -> SourceLines<'_> {
        let section = |id: gimli::SectionId| {
            let bytes = self.sections.get(id.name()).map(Cow::as_ref).unwrap_or_default();
            Ok::<_, gimli::Error>(Slice::new(bytes, self.endian))
        };
        let context = gimli::Dwarf::load(section).and_then(Context::from_dwarf);
        SourceLines { context: context.ok(), layout: &self.layout }
    }
}

/// The maximum number of bytes of line tables and debugging information that are read for the places of findings.
const MOST: u64 = 256 << 20;

/// The debugging information of a file for the places of its findings, which is read when it is needed.
pub(crate) struct Debugging<'d> {
    elf: &'d Elf<'d>,
    sections: &'d OnceCell<DebugSections<'d>>,
    places: OnceCell<Sections>,
    lines: OnceCell<Option<SourceLines<'d>>>,
}

impl<'d> Debugging<'d> {
    /// For a file, whose sections are held in `sections` once they are read.
    pub(crate) const fn of(
        elf: &'d Elf<'d>,
        sections: &'d OnceCell<DebugSections<'d>>,
    ) -> Debugging<'d> {
        Debugging { elf, sections, places: OnceCell::new(), lines: OnceCell::new() }
    }

    fn places(&self) -> &Sections {
        self.places.get_or_init(|| Sections::of(self.elf))
    }

    fn lines(&self) -> Option<&SourceLines<'d>> {
        let read = || {
            let debug = |name: &[u8]| name.starts_with(b".debug_");
            let sizes = self.elf.sections().iter().filter(|of| debug(of.name.bytes()));
            let size = sizes.map(|section| section.size).fold(0, u64::saturating_add);
            let is_read = size > 0 && size <= MOST;
            is_read.then(|| self.sections.get_or_init(|| DebugSections::load(self.elf)).lines())
        };
        self.lines.get_or_init(read).as_ref()
    }

    /// What the code of a finding was made from, by its unit.
    pub(crate) fn origin(&self, finding: &Finding<'_>) -> Option<Origin<'static>> {
        let place = self.places().place_of(finding)?;
        self.lines()?.origin(place)
    }
}

/// Adds the source line to each finding that is not a case of a known defect, and to the functions without an entry.
pub(crate) fn add(record: &mut Record<'_>, debugging: &Debugging<'_>) {
    let without_entry = |record: &Record<'_>| {
        let found = record.coverage.as_ref().and_then(|coverage| coverage.without_entry.as_ref());
        found.is_some_and(|without| !without.largest.is_empty())
    };
    if record.findings.is_empty() && !without_entry(record) {
        return;
    }
    let sections = debugging.places();
    let place =
        |finding: &Finding<'_>| sections.place_of(finding).filter(|_| finding.known.is_none());
    let is_wanted = |record: &Record<'_>| {
        without_entry(record) || record.findings.iter().any(|finding| place(finding).is_some())
    };
    if !is_wanted(record) {
        return;
    }
    let Some(lines) = debugging.lines() else { return };
    for finding in &mut record.findings {
        finding.source = place(finding).and_then(|place| lines.find(place));
    }
    let found = record.coverage.as_mut().and_then(|coverage| coverage.without_entry.as_mut());
    for function in found.into_iter().flat_map(|without| &mut without.largest) {
        let place = sections.place(function.start, function.code_section.as_deref());
        function.source = place.and_then(|place| lines.find(place));
    }
}

/// The sections that records name: those of code in a relocatable object.
struct Sections {
    is_relocatable: bool,
    /// The index of each section by its name; `None` if sections share the name.
    indices: BTreeMap<String, Option<u32>>,
}

impl Sections {
    fn of(elf: &Elf<'_>) -> Sections {
        let is_relocatable = elf.kind() == ElfKind::Relocatable;
        let mut indices = BTreeMap::new();
        for section in elf.code_sections().filter(|_| is_relocatable) {
            let index = indices.entry(section.name.to_string());
            index.and_modify(|index| *index = None).or_insert(Some(section.index));
        }
        Sections { is_relocatable, indices }
    }

    /// The first PC of a finding, or the start of its function.
    fn place_of(&self, finding: &Finding<'_>) -> Option<CodeAddress> {
        let code = finding.code.as_ref().map(|code| (code.start, code.code_section.as_deref()));
        let function = finding.function.as_ref();
        let function = function.and_then(|of| Some((of.start?, of.code_section.as_deref())));
        let (start, section) = code.or(function)?;
        self.place(start, section)
    }

    /// A place in code that a record names by address or offset, and by section.
    fn place(&self, start: Address, section: Option<&str>) -> Option<CodeAddress> {
        if !self.is_relocatable {
            return Some(CodeAddress::absolute(start.0));
        }
        let section = (*self.indices.get(section?)?)?;
        Some(CodeAddress { section, address: start.0 })
    }
}

/// The source lines of a file.
pub struct SourceLines<'d> {
    context: Option<Context<Slice<'d>>>,
    layout: &'d Layout,
}

impl SourceLines<'_> {
    /// What the code at `place` was made from, by its unit.
    fn origin(&self, place: CodeAddress) -> Option<Origin<'static>> {
        let address = self.layout.address(place);
        address.checked_add(1)?;
        let context = self.context.as_ref()?;
        let unit = context.find_dwarf_and_unit(address).skip_all_loads()?;
        let file = context.find_location(address).ok().flatten().and_then(|found| found.file);
        of_unit(&unit, file)
    }

    /// The source line of the instruction at `place`.
    pub fn find(&self, place: CodeAddress) -> Option<SourceLine<'static>> {
        let address = self.layout.address(place);
        // addr2line adds 1 to the address.
        address.checked_add(1)?;
        let found = self.context.as_ref()?.find_location(address).ok()??;
        Some(SourceLine { file: found.file?.to_owned().into(), line: found.line? })
    }
}
