//! The SFrame sections of a file, with their relocations applied. A file whose section headers were removed still has
//! the PT_GNU_SFRAME segment.

use alloc::vec::Vec;

use super::relocations::RelocationTable;
use super::{
    Elf, ElfError, ElfKind, ElfSection, PT_GNU_SFRAME, SHF_ALLOC, SHT_GNU_SFRAME, Segment,
};
use crate::section::{Header, Placement, StartRelocation};
use crate::text::Text;

/// The sections that are SFrame sections, found once.
#[derive(Clone, Debug, Default)]
pub(super) struct SframeSections {
    /// The first ones, by index.
    known: Vec<u32>,
    /// The number of other ones.
    further: usize,
    /// If there are none: the content of the PT_GNU_SFRAME segment.
    segment: Option<ElfSection<'static>>,
}

impl SframeSections {
    pub(super) fn of(sections: &[ElfSection<'_>], segments: &[Segment]) -> SframeSections {
        let mut all = sections.iter().filter(|section| section.is_sframe()).map(|s| s.index);
        let known: Vec<u32> = all.by_ref().take(Elf::MOST_SFRAME_SECTIONS).collect();
        let further = all.count();
        let lost = known.is_empty();
        let segment = segments.iter().find(|segment| lost && segment.p_type == PT_GNU_SFRAME);
        SframeSections { known, further, segment: segment.map(ElfSection::of_segment) }
    }
}

/// An SFrame section of a file, as far as it can be read.
#[derive(Clone, Debug)]
pub struct SframeSection<'a> {
    /// Its section header; in a file without section headers, a header made from PT_GNU_SFRAME.
    pub header: ElfSection<'a>,
    /// Its bytes; empty if the section has no bytes in the file (`SHT_NOBITS`). A PT_GNU_SFRAME segment may be longer
    /// than its SFrame section, which then ends where its own header says.
    ///
    /// The error is [`ElfError::SectionOutsideFile`] or [`ElfError::SharedBytes`].
    pub data: Result<&'a [u8], ElfError>,
    /// In a relocatable object, the relocations that apply to it; otherwise, an empty table.
    ///
    /// The error is one that [`RelocationTable::load`] returns.
    pub relocations: Result<RelocationTable, ElfError>,
    /// The relocations of start fields, in a relocatable object.
    starts: Option<Vec<StartRelocation>>,
    red_zone: bool,
}

impl<'a> SframeSection<'a> {
    fn read(elf: &Elf<'a>, header: &ElfSection<'a>) -> SframeSection<'a> {
        let data = elf.section_data(header);
        let data = if header.is_segment() { data.map(trimmed_to_content) } else { data };
        let (relocations, starts) = match elf.kind() {
            ElfKind::Relocatable => {
                let table = RelocationTable::load(elf, header.index);
                let starts = table.as_ref().map(RelocationTable::starts).unwrap_or_default();
                (table, Some(starts))
            }
            ElfKind::Executable | ElfKind::Shared | ElfKind::Core | ElfKind::Other(_) => {
                (Ok(RelocationTable::default()), None)
            }
        };
        let red_zone = elf.has_red_zone();
        SframeSection { header: *header, data, relocations, starts, red_zone }
    }

    fn unread(header: &ElfSection<'a>, error: ElfError) -> SframeSection<'a> {
        let (data, relocations) = (Err(error), Err(error));
        SframeSection { header: *header, data, relocations, starts: None, red_zone: true }
    }

    /// The section's placement for [`Section::parse`](crate::Section::parse): its address in a linked file, or the
    /// relocations of its start fields in a relocatable object. ABI and byte order are those of the section's own
    /// header, unless the caller overrides them.
    ///
    /// # Errors
    /// Returns the error in [`SframeSection::relocations`], if there is one.
    pub fn placement(&self) -> Result<Placement<'_>, ElfError> {
        self.relocations.as_ref().map_err(|error| *error)?;
        let placement = match &self.starts {
            Some(starts) => Placement::relocated(starts),
            None => Placement::at(self.header.address),
        };
        Ok(placement.with_red_zone(self.red_zone))
    }
}

impl<'a> Elf<'a> {
    /// The largest number of SFrame sections that are read. A valid file has one. Since checking each requires a pass
    /// over the whole file, the number must be limited.
    pub const MOST_SFRAME_SECTIONS: usize = 64;

    /// The sections named `.sframe` or of type `SHT_GNU_SFRAME`, in the table's order, up to
    /// [`Elf::MOST_SFRAME_SECTIONS`]. If there are none, the content of the PT_GNU_SFRAME segment.
    pub fn sframe_sections(&self) -> impl Iterator<Item = &ElfSection<'a>> {
        let known = self.sframe.known.iter().filter_map(|&index| self.section(index));
        known.chain(&self.sframe.segment)
    }

    /// The sections of [`Elf::sframe_sections`] with their bytes and relocations, which is all that
    /// [`Section::parse`](crate::Section::parse) needs. Each is read when the iterator reaches it.
    ///
    /// Sections of a valid file do not overlap. A section that would make their total size exceed the file's size has
    /// [`ElfError::SharedBytes`] instead of its bytes.
    ///
    /// ```
    /// use sframe_validator::Section;
    /// use sframe_validator::elf::Elf;
    /// use sframe_validator::unwind::CodeAddress;
    ///
    /// /// The places where functions start: in a relocatable object, offsets in its sections of code.
    /// fn starts(file: &[u8]) -> Result<Vec<CodeAddress>, Box<dyn std::error::Error>> {
    ///     let elf = Elf::parse(file)?;
    ///     let mut starts = Vec::new();
    ///     for sframe in elf.sframe_contents() {
    ///         let section = Section::parse(sframe.data?, sframe.placement()?)?;
    ///         for function in section.functions() {
    ///             starts.push(function?.start()?);
    ///         }
    ///     }
    ///     Ok(starts)
    /// }
    /// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus/golden/2.47.50/x86_64");
    /// # let file = std::fs::read(format!("{folder}/alloca.o"))?;
    /// # // GNU readelf's print of .rela.sframe: the symbol .text, section 1, plus these addends.
    /// # let places = [0, 0x40, 0x60].map(|address| CodeAddress { section: 1, address });
    /// # assert_eq!(starts(&file)?, places);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sframe_contents(&self) -> impl Iterator<Item = SframeSection<'a>> {
        let mut left = self.data.len() as u64;
        self.sframe_sections().map(move |header| match left.checked_sub(header.size) {
            Some(rest) => {
                left = rest;
                SframeSection::read(self, header)
            }
            None => SframeSection::unread(header, ElfError::SharedBytes),
        })
    }

    /// The number of SFrame sections that [`Elf::sframe_sections`] leaves out.
    #[must_use]
    pub const fn further_sframe_sections(&self) -> usize {
        self.sframe.further
    }
}

impl ElfSection<'_> {
    const fn is_sframe(&self) -> bool {
        matches!(self.name.bytes(), b".sframe") || self.sh_type == SHT_GNU_SFRAME
    }

    /// The bytes of a PT_GNU_SFRAME segment as a section.
    const fn of_segment(segment: &Segment) -> ElfSection<'static> {
        ElfSection {
            index: 0,
            name: Text::of(b"PT_GNU_SFRAME"),
            sh_type: SHT_GNU_SFRAME,
            flags: SHF_ALLOC,
            address: segment.address,
            offset: segment.offset,
            size: segment.file_size,
            link: 0,
            info: 0,
            alignment: 8,
            entry_size: 0,
        }
    }

    /// Whether this describes the PT_GNU_SFRAME segment, and not a section of the file.
    #[must_use]
    pub const fn is_segment(&self) -> bool {
        self.index == 0
    }
}

/// The SFrame section at the start of a segment's bytes, with the size that its header states; all bytes if there is no
/// such header.
fn trimmed_to_content(data: &[u8]) -> &[u8] {
    let content = || {
        let (header, _) = Header::parse(data, None).ok()?;
        data.get(..usize::try_from(header.fre_end()).ok()?)
    };
    content().unwrap_or(data)
}
