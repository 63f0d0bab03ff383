//! The section headers, and whether they can be used.

use alloc::vec::Vec;

use object::read::elf::{FileHeader, SectionHeader, SectionTable};
use object::{Endianness, pod};

use super::implied::{self, Format};
use super::{
    Elf, ElfError, ElfKind, ElfSection, PF_X, PT_LOAD, SHF_ALLOC, SHT_NOBITS, Segment,
    section_names, section_table,
};

/// The number of executable sections, and of segments, that are compared: real files have some ten.
const MOST_COMPARED: usize = 64;

/// What the section headers of a file are good for. In a linked file where they are of no use, the sections are those that
/// its program headers imply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SectionHeaders {
    /// They list the sections.
    Listed,
    /// There are none, as after `strip --strip-section-headers`.
    Absent,
    /// The table is outside the file, or contradicts itself.
    Unreadable,
    /// No section has a name: the table of names cannot be read.
    Unnamed,
    /// No executable section is where a segment loads code from, or one of them or `.eh_frame` has other bytes than segments load
    /// to its address.
    Contradicted,
}

/// The section headers of a file.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    state: SectionHeaders,
    /// The number of sections that the file's own headers list.
    listed: usize,
    /// The headers of implied sections, as bytes.
    encoded: Option<Vec<u8>>,
}

impl Headers {
    /// The headers, and the sections: those that are listed or, if the headers of a linked file are of no use, those that
    /// its segments imply. In an image of memory, the segments get the places that they have there.
    pub(super) fn read<'a, Header>(
        (header, order, data): (&Header, Endianness, &'a [u8]),
        kind: ElfKind,
        segments: &mut Vec<Segment>,
        format: Format,
    ) -> Result<(Headers, Vec<ElfSection<'a>>), ElfError>
    where
        Header: FileHeader<Endian = Endianness>,
    {
        let listed = listed(header, order, data);
        let state = match &listed {
            _ if kind == ElfKind::Relocatable => SectionHeaders::Listed,
            Ok(sections) if sections.iter().all(|section| section.sh_type == 0) => {
                SectionHeaders::Absent
            }
            // In a truncated file, the sections are more likely to be right.
            _ if !is_whole(data, segments) => SectionHeaders::Listed,
            Err(_) => SectionHeaders::Unreadable,
            Ok(sections) => judge(sections, segments),
        };
        let (encoded, listed, sections) = match state {
            SectionHeaders::Listed => {
                let mut sections = listed?;
                let count = sections.len();
                if kind != ElfKind::Relocatable {
                    add_cfi(&mut sections, data, segments, format);
                }
                (None, count, sections)
            }
            _ => {
                if let Some(moved) = implied::segments_of_image(data, segments, format) {
                    *segments = moved;
                }
                let sections = implied::sections(data, segments, format)?;
                (Some(implied::encode(&sections, format)), 0, sections)
            }
        };
        Ok((Headers { state, listed, encoded }, sections))
    }

    /// The table of the sections' headers, for `object`'s readers.
    pub(super) fn table<'t, Header>(
        &'t self,
        header: &Header,
        order: Endianness,
        data: &'t [u8],
    ) -> Result<SectionTable<'t, Header>, ElfError>
    where
        Header: FileHeader<Endian = Endianness>,
    {
        match &self.encoded {
            Some(encoded) => {
                let sections = pod::slice_from_all_bytes(encoded).unwrap_or_default();
                Ok(SectionTable::new(sections, object::read::StringTable::default()))
            }
            None => section_table(header, order, data),
        }
    }
}

impl<'a> Elf<'a> {
    /// What the file's section headers are good for.
    #[must_use]
    pub const fn section_headers(&self) -> SectionHeaders {
        self.headers.state
    }

    /// The sections that the file's own section headers list: the first ones of [`Elf::sections`], or none.
    #[must_use]
    pub fn listed_sections(&self) -> &[ElfSection<'a>] {
        self.sections.get(..self.headers.listed).unwrap_or_default()
    }

    /// Whether the file's own section headers list a section.
    #[must_use]
    pub fn is_listed(&self, section: &ElfSection<'_>) -> bool {
        let index = usize::try_from(section.index);
        index.is_ok_and(|index| (1..self.headers.listed).contains(&index))
    }
}

/// The sections in the file's own table.
fn listed<'a, Header>(
    header: &Header,
    order: Endianness,
    data: &'a [u8],
) -> Result<Vec<ElfSection<'a>>, ElfError>
where
    Header: FileHeader<Endian = Endianness>,
{
    let table = section_table(header, order, data)?;
    let names = section_names(header, order, data);
    let section = |(index, section): (object::SectionIndex, &Header::SectionHeader)| ElfSection {
        index: u32::try_from(index.0).unwrap_or(u32::MAX),
        name: names.get(section.sh_name(order)),
        sh_type: section.sh_type(order).0,
        flags: section.sh_flags(order).0,
        address: section.sh_addr(order).into(),
        offset: section.sh_offset(order).into(),
        size: section.sh_size(order).into(),
        link: section.sh_link(order),
        info: section.sh_info(order),
        alignment: section.sh_addralign(order).into(),
        entry_size: section.sh_entsize(order).into(),
    };
    Ok(table.enumerate().map(section).collect())
}

/// Whether a file loads anything, and all of it is there.
fn is_whole(data: &[u8], segments: &[Segment]) -> bool {
    let size = data.len() as u64;
    let mut loads = segments.iter().filter(|s| s.p_type == PT_LOAD && s.file_size > 0).peekable();
    loads.peek().is_some()
        && loads.all(|s| s.offset.checked_add(s.file_size).is_some_and(|end| end <= size))
}

/// What headers that can be read are good for.
fn judge(sections: &[ElfSection<'_>], segments: &[Segment]) -> SectionHeaders {
    if sections.iter().all(|section| section.name.is_empty()) {
        return SectionHeaders::Unnamed;
    }
    let code = |section: &&ElfSection<'_>| section.is_executable() && section.size > 0;
    let mut code = sections.iter().filter(code).take(MOST_COMPARED).peekable();
    let is_code = |segment: &&Segment| segment.p_type == PT_LOAD && segment.flags & PF_X != 0;
    let loads: Vec<_> = segments.iter().filter(is_code).take(MOST_COMPARED).collect();
    let is_elsewhere = |section: &ElfSection<'_>| {
        section.sh_type != SHT_NOBITS && !loads.iter().any(|segment| segment.loads(section))
    };
    if !loads.is_empty() && code.peek().is_some() && code.all(is_elsewhere) {
        return SectionHeaders::Contradicted;
    }
    let is_used = |section: &&ElfSection<'_>| {
        section.is_executable() || (section.is_loaded() && section.name.bytes() == b".eh_frame")
    };
    let mut used = sections.iter().filter(is_used).take(MOST_COMPARED);
    match used.any(|section| has_other_bytes(section, segments)) {
        true => SectionHeaders::Contradicted,
        false => SectionHeaders::Listed,
    }
}

/// Whether segments load other bytes to a section's address, or its bytes to another address.
fn has_other_bytes(section: &ElfSection<'_>, segments: &[Segment]) -> bool {
    let loads = segments.iter().filter(|segment| {
        let address = section.address.wrapping_sub(segment.address) < segment.file_size;
        let offset = section.offset.wrapping_sub(segment.offset) < segment.file_size;
        segment.p_type == PT_LOAD && (address || offset)
    });
    let mut loads = loads.take(MOST_COMPARED).peekable();
    let here = |segment: &Segment| {
        let distance = section.address.wrapping_sub(segment.address);
        section.offset.wrapping_sub(segment.offset) == distance
    };
    section.sh_type != SHT_NOBITS && section.size > 0 && loads.peek().is_some() && !loads.any(here)
}

/// Adds the CFI to which PT_GNU_EH_FRAME leads, unless there is a header for it.
fn add_cfi<'a>(
    sections: &mut Vec<ElfSection<'a>>,
    data: &'a [u8],
    segments: &[Segment],
    format: Format,
) {
    let is_listed = |name: &[u8]| sections.iter().any(|section| section.name.bytes() == name);
    let has_memory = sections.iter().any(|section| section.flags & SHF_ALLOC != 0);
    if !has_memory || is_listed(b".eh_frame") {
        return;
    }
    let has_index = is_listed(b".eh_frame_hdr");
    let mut index = sections.len();
    for section in implied::cfi(data, segments, format) {
        if section.name.bytes() != b".eh_frame_hdr" || !has_index {
            sections
                .push(ElfSection { index: u32::try_from(index).unwrap_or(u32::MAX), ..section });
            index += 1;
        }
    }
}
