//! Source lines from DWARF.

use std::borrow::Cow;
use std::collections::BTreeMap;

use addr2line::{Context, gimli};
use sframe_oracle::cfi::section_bytes;
use sframe_validator::Endian;
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::unwind::CodeAddress;

use sframe_record::{Finding, Record, SourceLine};

/// The maximum number of bytes of decompressed DWARF sections together.
const ROOM: u64 = 1 << 30;

type Slice<'d> = gimli::EndianSlice<'d, gimli::RunTimeEndian>;

/// The DWARF sections of a file by name, decompressed.
pub(crate) struct DebugSections<'a> {
    sections: BTreeMap<&'static str, Cow<'a, [u8]>>,
    endian: gimli::RunTimeEndian,
}

impl<'a> DebugSections<'a> {
    /// Reads the sections that lead from addresses to source lines. There are none in a relocatable object, whose
    /// debugging information is not relocated.
    pub(crate) fn load(elf: &Elf<'a>) -> DebugSections<'a> {
        let endian = match elf.endian() {
            Endian::Little => gimli::RunTimeEndian::Little,
            Endian::Big => gimli::RunTimeEndian::Big,
        };
        let mut sections = BTreeMap::new();
        let mut room = ROOM;
        let mut load = |id: gimli::SectionId| {
            let name = id.name();
            let found = elf.sections().iter().find(|s| s.name.bytes() == name.as_bytes());
            if let Some(bytes) = found.and_then(|found| section_bytes(elf, found, room).ok()) {
                room = room.saturating_sub(bytes.len() as u64);
                sections.insert(name, bytes);
            }
            Ok::<(), gimli::Error>(())
        };
        if elf.kind() != ElfKind::Relocatable {
            let _ = gimli::DwarfSections::load(&mut load);
        }
        DebugSections { sections, endian }
    }

    /// The source lines; none if the sections are absent or damaged.
    pub(crate) fn lines(&self) -> SourceLines<'_> {
        let section = |id: gimli::SectionId| {
            let bytes = self.sections.get(id.name()).map(Cow::as_ref).unwrap_or_default();
            Ok::<_, gimli::Error>(Slice::new(bytes, self.endian))
        };
        let context = gimli::Dwarf::load(section).and_then(Context::from_dwarf);
        SourceLines { context: context.ok() }
    }
}

/// The maximum number of bytes of line tables and debugging information that are read for the places of findings.
const MOST: u64 = 256 << 20;

/// Adds the source line to each finding of a linked file that is not a case of a known defect.
pub(crate) fn add(record: &mut Record<'_>, elf: &Elf<'_>) {
    let place = |finding: &Finding<'_>| {
        let code = finding.code.as_ref().map(|code| code.start);
        let start = code.or_else(|| finding.function.as_ref().and_then(|of| of.start));
        start.filter(|_| finding.known.is_none())
    };
    let debug = |name: &[u8]| name.starts_with(b".debug_");
    let sizes = elf.sections().iter().filter(|section| debug(section.name.bytes()));
    let size = sizes.map(|section| section.size).fold(0, u64::saturating_add);
    if size == 0 || size > MOST || !record.findings.iter().any(|finding| place(finding).is_some()) {
        return;
    }
    let sections = DebugSections::load(elf);
    let lines = sections.lines();
    for finding in &mut record.findings {
        let line = place(finding).and_then(|start| lines.find(CodeAddress::absolute(start.0)));
        finding.source = line;
    }
}

/// The source lines of a file.
pub(crate) struct SourceLines<'d> {
    context: Option<Context<Slice<'d>>>,
}

impl SourceLines<'_> {
    /// The source line of the instruction at `place`.
    pub(crate) fn find(&self, place: CodeAddress) -> Option<SourceLine<'static>> {
        // addr2line adds 1 to the address.
        place.address.checked_add(1)?;
        let found = self.context.as_ref()?.find_location(place.address).ok()??;
        Some(SourceLine { file: found.file?.to_owned().into(), line: found.line? })
    }
}
