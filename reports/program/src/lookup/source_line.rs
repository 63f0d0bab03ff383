//! Source lines from DWARF.

use std::borrow::Cow;
use std::collections::BTreeMap;

use addr2line::{Context, gimli};
use schemars::JsonSchema;
use serde::Serialize;
use sframe_oracle::cfi::section_bytes;
use sframe_validator::Endian;
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::unwind::CodeAddress;

use sframe_record::Text;

/// The maximum number of bytes of decompressed DWARF sections together.
const ROOM: u64 = 1 << 30;

type Slice<'d> = gimli::EndianSlice<'d, gimli::RunTimeEndian>;

/// A line of source code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SourceLine {
    /// The path of the file, as the compiler recorded it.
    pub file: Text<'static>,
    /// The number of the line, from 1.
    pub line: u32,
}

/// The DWARF sections of a file by name, decompressed.
pub(super) struct DebugSections<'a> {
    sections: BTreeMap<&'static str, Cow<'a, [u8]>>,
    endian: gimli::RunTimeEndian,
}

impl<'a> DebugSections<'a> {
    /// Reads the sections that lead from addresses to source lines. There are none in a relocatable object, whose
    /// debugging information is not relocated.
    pub(super) fn load(elf: &Elf<'a>) -> DebugSections<'a> {
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
    pub(super) fn lines(&self) -> SourceLines<'_> {
        let section = |id: gimli::SectionId| {
            let bytes = self.sections.get(id.name()).map(Cow::as_ref).unwrap_or_default();
            Ok::<_, gimli::Error>(Slice::new(bytes, self.endian))
        };
        let context = gimli::Dwarf::load(section).and_then(Context::from_dwarf);
        SourceLines { context: context.ok() }
    }
}

/// The source lines of a file.
pub(super) struct SourceLines<'d> {
    context: Option<Context<Slice<'d>>>,
}

impl SourceLines<'_> {
    /// The source line of the instruction at `place`.
    pub(super) fn find(&self, place: CodeAddress) -> Option<SourceLine> {
        // addr2line adds 1 to the address.
        place.address.checked_add(1)?;
        let found = self.context.as_ref()?.find_location(place.address).ok()??;
        Some(SourceLine { file: found.file?.to_owned().into(), line: found.line? })
    }
}
