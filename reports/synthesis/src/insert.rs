//! A section added to a file.
//!
//! An object gets the section and its relocations, after everything that it has.
//!
//! Nothing that a linked file has moves, except the program headers, which have to grow. A new segment at the end of the
//! file and of its memory contains them, and the SFrame section after them. New section headers and their names follow;
//! they are not loaded.
//!
//! The distance from file offset to address is that of the first segment, because Linux before 5.18 computes the
//! address of the program headers with it. The file is extended with zeros to such an offset.

mod fields;
mod object;
mod sections;

use core::fmt;

use sframe_validator::elf::{
    Class, Elf, ElfKind, PF_R, PT_GNU_SFRAME, PT_LOAD, SHF_ALLOC, Segment,
};

use crate::place::{Place, Written, section_type};
use fields::{FileHeader, ProgramHeader, SEGMENT_HEADER, SectionHeader};

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
    /// It is neither an object, nor a linked program or library.
    Kind,
    /// It has 32-bit headers.
    Class,
    /// It has an SFrame section or a PT_GNU_SFRAME segment.
    HasSframe,
    /// No segment is loaded, so the section would not be loaded either.
    NoSegment,
    /// The sizes in its headers, or their numbers, are unusual.
    Headers,
    /// No local symbol is in the section of code with this index, so no relocation can refer to it.
    NoSymbol(u32),
    /// There is no address after the last segment, or the first segment's address is lower than its file offset.
    NoAddress,
    /// The file would need this many zeros before the section, because its memory is much larger than the file.
    TooSparse(u64),
}

impl core::error::Error for CannotInsert {}

impl fmt::Display for CannotInsert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CannotInsert::Kind => f.write_str("the file is no object, program or library"),
            CannotInsert::Class => f.write_str("the file has 32-bit headers"),
            CannotInsert::HasSframe => f.write_str("the file already has an SFrame section"),
            CannotInsert::NoSegment => f.write_str("the file has no loaded segment"),
            CannotInsert::Headers => {
                f.write_str("the sizes or numbers of the file's headers are unusual")
            }
            CannotInsert::NoSymbol(section) => {
                write!(
                    f,
                    "section {section} has code and no local symbol to which relocations can refer"
                )
            }
            CannotInsert::NoAddress => f.write_str("there is no free address after the segments"),
            CannotInsert::TooSparse(zeros) => write!(
                f,
                "the file would need {zeros} zeros before the section, because its memory is much larger than the file"
            ),
        }
    }
}

/// A place in a file for a section.
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
///     Ok(insertion.file(&made.written)?)
/// }
/// # assert!(add(b"no ELF file").is_err());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Insertion<'e> {
    elf: &'e Elf<'e>,
    header: FileHeader,
    /// `None` in an object.
    segment: Option<NewSegment>,
}

/// The new segment of a linked file.
#[derive(Clone, Copy, Debug)]
struct NewSegment {
    offset: u64,
    address: u64,
    alignment: u64,
    /// The bytes of the program headers before the section: two more than the file has.
    table: u64,
}

impl<'e> Insertion<'e> {
    /// Looks for a place.
    ///
    /// # Errors
    /// [`CannotInsert`].
    pub fn new(elf: &'e Elf<'e>) -> Result<Insertion<'e>, CannotInsert> {
        if elf.class() != Class::Elf64 {
            return Err(CannotInsert::Class);
        }
        let has_segment = elf.segments().iter().any(|segment| segment.p_type == PT_GNU_SFRAME);
        if has_segment || elf.sframe_sections().next().is_some() {
            return Err(CannotInsert::HasSframe);
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
        let segment = match elf.kind() {
            ElfKind::Relocatable => None,
            ElfKind::Executable | ElfKind::Shared => Some(NewSegment::new(elf, &header)?),
            ElfKind::Other(_) => return Err(CannotInsert::Kind),
        };
        Ok(Insertion { elf, header, segment })
    }

    /// The place of the section.
    #[must_use]
    pub const fn place(&self) -> Place {
        match self.segment {
            Some(segment) => Place::Linked(segment.address + segment.table),
            None => Place::Relocatable,
        }
    }

    /// The file with the section, which was made for [`Insertion::place`].
    ///
    /// # Errors
    /// [`CannotInsert::Headers`] if the headers contradict each other, [`CannotInsert::NoAddress`] if the section is too
    /// large, and [`CannotInsert::NoSymbol`].
    pub fn file(&self, written: &Written) -> Result<Vec<u8>, CannotInsert> {
        match &self.segment {
            Some(segment) => segment.file(self, &written.bytes),
            None => object::file(self, written),
        }
    }
}

impl NewSegment {
    fn new(elf: &Elf<'_>, header: &FileHeader) -> Result<NewSegment, CannotInsert> {
        let alignment = alignment(elf, header)?;
        let (offset, address) = free_segment(elf, alignment)?;
        let table = (u64::from(header.segments) + 2) * SEGMENT_HEADER;
        Ok(NewSegment { offset, address, alignment, table })
    }

    fn file(&self, insertion: &Insertion<'_>, section: &[u8]) -> Result<Vec<u8>, CannotInsert> {
        let elf = insertion.elf;
        let size = self.table.checked_add(section.len() as u64);
        let size = size.filter(|size| self.address.checked_add(*size).is_some());
        let size = size.ok_or(CannotInsert::NoAddress)?;
        let mut header = insertion.header;
        let mut file = elf.data().to_vec();
        extend(&mut file, self.offset)?;
        for program in self.program_headers(elf, &header, size)? {
            program.write(&mut file, elf.endian());
        }
        file.extend_from_slice(section);
        header.segments_offset = self.offset;
        header.segments += 2;
        if header.sections > 0 {
            let new = SectionHeader {
                sh_type: section_type(section),
                flags: SHF_ALLOC,
                address: self.address + self.table,
                offset: self.offset + self.table,
                size: section.len() as u64,
                alignment: 8,
                ..SectionHeader::default()
            };
            sections::append(elf, &mut file, &mut header, &[(".sframe", new)])?;
        }
        header.write(&mut file, elf.endian()).ok_or(CannotInsert::Headers)?;
        Ok(file)
    }

    /// The program headers: those of the file, the new segment after the other loaded ones, which have to be in order,
    /// and PT_GNU_SFRAME.
    fn program_headers(
        &self,
        elf: &Elf<'_>,
        header: &FileHeader,
        size: u64,
    ) -> Result<Vec<ProgramHeader>, CannotInsert> {
        let NewSegment { offset, address, alignment, table: before } = *self;
        let mut table = header.program_headers(elf).ok_or(CannotInsert::Headers)?;
        for program in table.iter_mut().filter(|program| program.p_type == PT_PHDR) {
            *program = program.at(offset, address, before);
        }
        let last = table.iter().rposition(|program| program.p_type == PT_LOAD);
        let last = last.ok_or(CannotInsert::NoSegment)?;
        let loaded = ProgramHeader::new(PT_LOAD, PF_R, alignment);
        table.insert(last + 1, loaded.at(offset, address, size));
        let sframe = ProgramHeader::new(PT_GNU_SFRAME, PF_R, 8);
        table.push(sframe.at(offset + before, address + before, size - before));
        Ok(table)
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
