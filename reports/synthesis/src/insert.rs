//! A section added to a linked file.
//!
//! Nothing that the file has moves, except the program headers, which have to grow. A new segment at the end of the
//! file and of its memory contains them, and the SFrame section after them. New section headers and their names follow;
//! they are not loaded.
//!
//! The distance from file offset to address is that of the first segment, because Linux before 5.18 computes the
//! address of the program headers with it. The file is extended with zeros to such an offset.

mod fields;

use core::fmt;

use sframe_validator::elf::{
    Class, Elf, ElfKind, PF_R, PT_GNU_SFRAME, PT_LOAD, SHF_ALLOC, Segment,
};

use crate::place::{Place, section_type};
use fields::{FileHeader, ProgramHeader, SECTION_HEADER, SEGMENT_HEADER, SectionHeader};

/// `PT_PHDR`.
const PT_PHDR: u32 = 6;
/// The largest number of program headers or section headers that needs no extended numbering (gABI, "ELF Header").
const MOST_HEADERS: u16 = 0xfe00;
/// The smallest size of a page.
const PAGE: u64 = 0x1000;
/// The largest alignment of segments that linkers choose.
const MOST_ALIGNMENT: u64 = 0x20_0000;
/// The maximum number of zeros that the file gets.
const MOST_ZEROS: u64 = 0x400_0000;

/// Why a file cannot get a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CannotInsert {
    /// It is not linked.
    NotLinked,
    /// It has 32-bit headers.
    Class,
    /// It has an SFrame section or a PT_GNU_SFRAME segment.
    HasSframe,
    /// No segment is loaded, so the section would not be loaded either.
    NoSegment,
    /// The sizes in its headers, or their numbers, are unusual.
    Headers,
    /// There is no address after the last segment, or the first segment's address is lower than its file offset.
    NoAddress,
    /// The file would need this many zeros before the section, because its memory is much larger than the file.
    TooSparse(u64),
}

impl core::error::Error for CannotInsert {}

impl fmt::Display for CannotInsert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CannotInsert::NotLinked => f.write_str("the file is not a linked program or library"),
            CannotInsert::Class => f.write_str("the file has 32-bit headers"),
            CannotInsert::HasSframe => f.write_str("the file already has an SFrame section"),
            CannotInsert::NoSegment => f.write_str("the file has no loaded segment"),
            CannotInsert::Headers => {
                f.write_str("the sizes or numbers of the file's headers are unusual")
            }
            CannotInsert::NoAddress => f.write_str("there is no free address after the segments"),
            CannotInsert::TooSparse(zeros) => write!(
                f,
                "the file would need {zeros} zeros before the section, because its memory is much larger than the file"
            ),
        }
    }
}

/// A place in a linked file for a section.
///
/// ```
/// use sframe_oracle::cfi::Cfi;
/// use sframe_synthesis::{Encoding, Insertion, synthesize};
/// use sframe_validator::Version;
/// use sframe_validator::elf::Elf;
///
/// fn add(file: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
///     let elf = Elf::parse(file)?;
///     let insertion = Insertion::new(&elf)?;
///     let cfi = Cfi::load_all(&elf)?;
///     let made = synthesize(&elf, &cfi, Encoding::Smallest(Version::V3), insertion.place())?;
///     Ok(insertion.file(&made.written.bytes)?)
/// }
/// # assert!(add(b"no ELF file").is_err());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Insertion<'e> {
    elf: &'e Elf<'e>,
    header: FileHeader,
    /// The file offset and the address of the new segment.
    segment: (u64, u64),
    alignment: u64,
}

impl<'e> Insertion<'e> {
    /// Looks for a place.
    ///
    /// # Errors
    /// [`CannotInsert`].
    pub fn new(elf: &'e Elf<'e>) -> Result<Insertion<'e>, CannotInsert> {
        if !matches!(elf.kind(), ElfKind::Executable | ElfKind::Shared) {
            return Err(CannotInsert::NotLinked);
        }
        if elf.class() != Class::Elf64 {
            return Err(CannotInsert::Class);
        }
        let has_segment = elf.segments().iter().any(|segment| segment.p_type == PT_GNU_SFRAME);
        if has_segment || elf.sframe_sections().next().is_some() {
            return Err(CannotInsert::HasSframe);
        }
        if loaded(elf).next().is_none() {
            return Err(CannotInsert::NoSegment);
        }
        let header = FileHeader::read(elf.data(), elf.endian()).ok_or(CannotInsert::Headers)?;
        let is_usual = header.has_usual_sizes()
            && header.segments < MOST_HEADERS
            && header.sections < MOST_HEADERS
            && usize::from(header.segments) == elf.segments().len()
            && usize::from(header.sections) == elf.sections().len();
        if !is_usual {
            return Err(CannotInsert::Headers);
        }
        let alignment = alignment(elf, &header)?;
        let segment = free_segment(elf, alignment)?;
        Ok(Insertion { elf, header, segment, alignment })
    }

    /// The place of the section: in the new segment, after the program headers.
    #[must_use]
    pub const fn place(&self) -> Place {
        Place::Linked(self.segment.1 + self.table_size())
    }

    /// The bytes of the new program headers: two more than before.
    const fn table_size(&self) -> u64 {
        (self.header.segments as u64 + 2) * SEGMENT_HEADER
    }

    /// The file with the section, which was made for [`Insertion::place`].
    ///
    /// # Errors
    /// [`CannotInsert::Headers`] if the headers contradict each other, and [`CannotInsert::NoAddress`] if the section is
    /// too large.
    pub fn file(&self, section: &[u8]) -> Result<Vec<u8>, CannotInsert> {
        let endian = self.elf.endian();
        let (offset, address) = self.segment;
        let size = self.table_size().checked_add(section.len() as u64);
        let size = size.filter(|size| address.checked_add(*size).is_some());
        let size = size.ok_or(CannotInsert::NoAddress)?;
        let mut file = self.elf.data().to_vec();
        extend(&mut file, offset)?;
        for program in self.program_headers(size, section.len() as u64)? {
            program.write(&mut file, endian);
        }
        file.extend_from_slice(section);
        let mut header = self.header;
        header.segments_offset = offset;
        header.segments += 2;
        if header.sections > 0 {
            self.add_section_headers(&mut file, &mut header, section)?;
        }
        header.write(&mut file, endian).ok_or(CannotInsert::Headers)?;
        Ok(file)
    }

    /// The program headers: those of the file, the new segment after the other loaded ones, which have to be in order,
    /// and PT_GNU_SFRAME.
    fn program_headers(&self, size: u64, section: u64) -> Result<Vec<ProgramHeader>, CannotInsert> {
        let (offset, address) = self.segment;
        let mut table = self.header.program_headers(self.elf).ok_or(CannotInsert::Headers)?;
        for program in table.iter_mut().filter(|program| program.p_type == PT_PHDR) {
            *program = program.at(offset, address, self.table_size());
        }
        let last = table.iter().rposition(|program| program.p_type == PT_LOAD);
        let last = last.ok_or(CannotInsert::NoSegment)?;
        let loaded = ProgramHeader::new(PT_LOAD, PF_R, self.alignment);
        table.insert(last + 1, loaded.at(offset, address, size));
        let before = self.table_size();
        let sframe = ProgramHeader::new(PT_GNU_SFRAME, PF_R, 8);
        table.push(sframe.at(offset + before, address + before, section));
        Ok(table)
    }

    /// Appends the section headers with one more, and a copy of their names with one more.
    fn add_section_headers(
        &self,
        file: &mut Vec<u8>,
        header: &mut FileHeader,
        section: &[u8],
    ) -> Result<(), CannotInsert> {
        let endian = self.elf.endian();
        let mut table = header.section_headers(self.elf).ok_or(CannotInsert::Headers)?;
        let index = u32::from(header.names);
        let names = self.elf.section(index).and_then(|names| self.elf.section_data(names).ok());
        let mut names = names.ok_or(CannotInsert::Headers)?.to_vec();
        let name = u32::try_from(names.len()).map_err(|_| CannotInsert::Headers)?;
        // The new name must not become that of another section.
        let is_own = names.ends_with(&[0]) && table.iter().all(|section| section.name < name);
        is_own.then_some(()).ok_or(CannotInsert::Headers)?;
        names.extend(b".sframe\0");
        let own = table.get_mut(usize::from(header.names)).ok_or(CannotInsert::Headers)?;
        own.offset = file.len() as u64;
        own.size = names.len() as u64;
        file.extend(names);
        let (offset, address) = self.segment;
        table.push(SectionHeader {
            name,
            sh_type: section_type(section),
            flags: SHF_ALLOC,
            address: address + self.table_size(),
            offset: offset + self.table_size(),
            size: section.len() as u64,
            alignment: 8,
            ..SectionHeader::default()
        });
        header.sections_offset = (file.len() as u64).next_multiple_of(8);
        extend(file, header.sections_offset)?;
        header.sections += 1;
        table.iter().for_each(|section| section.write(file, endian));
        debug_assert_eq!(
            file.len() as u64,
            header.sections_offset + u64::from(header.sections) * SECTION_HEADER
        );
        Ok(())
    }
}

fn loaded<'e>(elf: &'e Elf<'_>) -> impl Iterator<Item = &'e Segment> {
    elf.segments().iter().filter(|segment| segment.p_type == PT_LOAD)
}

/// The largest alignment of the loaded segments: that of the largest pages on which the file can be loaded.
fn alignment(elf: &Elf<'_>, header: &FileHeader) -> Result<u64, CannotInsert> {
    let table = header.program_headers(elf).ok_or(CannotInsert::Headers)?;
    let loaded = table.iter().filter(|program| program.p_type == PT_LOAD);
    let most = loaded.map(|program| program.alignment).max().ok_or(CannotInsert::NoSegment)?;
    let is_usual = most <= MOST_ALIGNMENT && (most == 0 || most.is_power_of_two());
    is_usual.then_some(most.max(PAGE)).ok_or(CannotInsert::Headers)
}

/// The file offset and address of a segment after the file and its memory.
fn free_segment(elf: &Elf<'_>, alignment: u64) -> Result<(u64, u64), CannotInsert> {
    let first = loaded(elf).next().ok_or(CannotInsert::NoSegment)?;
    let distance = first.address.checked_sub(first.offset).ok_or(CannotInsert::NoAddress)?;
    let file = elf.data().len() as u64;
    let mut address = file.checked_add(distance).ok_or(CannotInsert::NoAddress)?;
    for segment in loaded(elf) {
        let end = segment.address.checked_add(segment.memory_size);
        address = address.max(end.ok_or(CannotInsert::NoAddress)?);
    }
    let address = address.checked_next_multiple_of(alignment).ok_or(CannotInsert::NoAddress)?;
    // The headers are at most a few megabytes.
    address.checked_add(MOST_ZEROS).ok_or(CannotInsert::NoAddress)?;
    let offset = address - distance;
    let zeros = offset - file;
    if zeros > MOST_ZEROS { Err(CannotInsert::TooSparse(zeros)) } else { Ok((offset, address)) }
}

/// Extends the file with zeros.
fn extend(file: &mut Vec<u8>, size: u64) -> Result<(), CannotInsert> {
    file.resize(usize::try_from(size).map_err(|_| CannotInsert::NoAddress)?, 0);
    Ok(())
}
