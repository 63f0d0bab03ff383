//! The SFrame sections of a file, and what is left of one without section headers.

use alloc::vec::Vec;

use super::{Elf, ElfSection, PT_GNU_SFRAME, SHF_ALLOC, SHT_GNU_SFRAME, Segment};
use crate::section::Header;
use crate::text::Text;

/// Which sections are SFrame's, found once.
#[derive(Clone, Debug, Default)]
pub(super) struct SframeSections {
    /// The first ones, by index.
    known: Vec<u32>,
    /// How many there are besides.
    further: usize,
    /// What the PT_GNU_SFRAME segment holds, where there is none.
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

impl<'a> Elf<'a> {
    /// The largest number of SFrame sections that are looked at. A sound file has one; more of
    /// them, each with a look at the whole file, must not multiply the work.
    pub const MOST_SFRAME_SECTIONS: usize = 64;

    /// Sections named `.sframe` or of type `SHT_GNU_SFRAME`, in the table's order, up to
    /// [`Elf::MOST_SFRAME_SECTIONS`]. In a file that has lost their headers, what the
    /// PT_GNU_SFRAME segment holds.
    pub fn sframe_sections(&self) -> impl Iterator<Item = &ElfSection<'a>> {
        let known = self.sframe.known.iter().filter_map(|&index| self.section(index));
        known.chain(&self.sframe.segment)
    }

    /// How many SFrame sections there are besides those of [`Elf::sframe_sections`].
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

    /// Whether this is no section of the file, but what its PT_GNU_SFRAME segment holds.
    #[must_use]
    pub const fn is_segment(&self) -> bool {
        self.index == 0
    }

    /// For the bytes of a segment: the SFrame content they start with, by its own header. What a
    /// segment holds behind it is no part of a section.
    pub(crate) fn trimmed_to_content<'b>(&self, data: &'b [u8]) -> Option<(Self, &'b [u8])> {
        let (header, _) = Header::parse(data, None).ok().filter(|_| self.is_segment())?;
        let content = data.get(..usize::try_from(header.fre_end()).ok()?)?;
        Some((ElfSection { size: content.len() as u64, ..*self }, content))
    }
}
