//! A section added to a file, or the program header for a section that it has.
//!
//! An object gets the section and its relocations, after everything that it has, and symbols for sections of code that have global
//! symbols only.
//!
//! Nothing that a linked file has moves, except the program headers, which have to grow. A new segment at the end of the
//! file and of its memory contains them, a note, and the SFrame section. New section headers and their names follow;
//! they are not loaded.
//!
//! The distance from file offset to address is that of the first segment, because Linux before 5.18 computes the
//! address of the program headers with it. The file is extended with zeros to such an offset.

mod fields;
mod object;
mod section_symbols;
mod sections;
mod segment;

use core::fmt;

use sframe_validator::elf::{Class, Elf, ElfKind, PT_GNU_SFRAME, SHF_ALLOC, Segment};

use crate::place::{Place, Written, section_type};
use fields::{FileHeader, SectionHeader};
use segment::{Extent, NewSegment, loaded};

/// The smallest number of program headers or section headers that needs extended numbering (gABI, "ELF Header").
const MOST_HEADERS: u16 = 0xfe00;

/// Why a file cannot get a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CannotInsert {
    /// It is neither an object, nor a linked program or library.
    Kind,
    /// It has 32-bit headers.
    Class,
    /// It has an SFrame section, or a PT_GNU_SFRAME segment that is not empty.
    HasSframe,
    /// It is an object, and has an SFrame section that is to be replaced.
    Object,
    /// It has several SFrame sections, or several program headers for them.
    SeveralSections,
    /// Its SFrame section is not in a loaded segment, or there is not exactly one.
    NotLoaded,
    /// No segment is loaded, so the section would not be loaded either.
    NoSegment,
    /// The sizes in its headers, or their numbers, are unusual.
    Headers,
    /// Its segments have physical addresses of their own, as those of a kernel.
    Physical,
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
            CannotInsert::Object => {
                f.write_str("the section of an object cannot be replaced")
            }
            CannotInsert::SeveralSections => f.write_str(
                "the file has several SFrame sections, and only a single one can be replaced",
            ),
            CannotInsert::NotLoaded => f.write_str("no loaded segment contains its SFrame section"),
            CannotInsert::NoSegment => f.write_str("the file has no loaded segment"),
            CannotInsert::Headers => {
                f.write_str("the sizes or numbers of the file's headers are unusual")
            }
            CannotInsert::Physical => f.write_str(
                "its segments have physical addresses of their own, like those of a kernel, whose loader would not \
                 know what to do with another segment; `--as raw` writes the section by itself",
            ),
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
    /// The index of the section that is replaced.
    replaced: Option<u32>,
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
        if has_segment(elf) || elf.sframe_sections().any(|section| !section.is_segment()) {
            return Err(CannotInsert::HasSframe);
        }
        Insertion::of(elf, None)
    }

    /// Looks for a place for a section that replaces the one that a linked file has. Its section header and its program
    /// header will lead to the new one. Its bytes stay where they are, and nothing leads to them. In a file without an
    /// SFrame section, this is [`Insertion::new`].
    ///
    /// # Errors
    /// [`CannotInsert`].
    pub fn replacing(elf: &'e Elf<'e>) -> Result<Insertion<'e>, CannotInsert> {
        if elf.class() != Class::Elf64 {
            return Err(CannotInsert::Class);
        }
        let mut sections = elf.sframe_sections().filter(|section| !section.is_segment());
        let replaced = sections.next().map(|section| section.index);
        let is_sframe = |segment: &&Segment| segment.p_type == PT_GNU_SFRAME;
        if sections.next().is_some() || elf.segments().iter().filter(is_sframe).count() > 1 {
            return Err(CannotInsert::SeveralSections);
        }
        if replaced.is_some() && elf.kind() == ElfKind::Relocatable {
            return Err(CannotInsert::Object);
        }
        Insertion::of(elf, replaced)
    }

    fn of(elf: &'e Elf<'e>, replaced: Option<u32>) -> Result<Insertion<'e>, CannotInsert> {
        let header = usual_header(elf)?;
        let segment = match elf.kind() {
            ElfKind::Relocatable => None,
            ElfKind::Executable | ElfKind::Shared => Some(NewSegment::new(elf, &header)?),
            ElfKind::Core | ElfKind::Other(_) => return Err(CannotInsert::Kind),
        };
        Ok(Insertion { elf, header, segment, replaced })
    }

    /// The place of the section.
    #[must_use]
    pub const fn place(&self) -> Place {
        match self.segment {
            Some(segment) => Place::Linked(segment.section_address()),
            None => Place::Relocatable,
        }
    }

    /// The file with the section, which was made for [`Insertion::place`].
    ///
    /// # Errors
    /// [`CannotInsert::Headers`] if the headers contradict each other, and [`CannotInsert::NoAddress`] if the section is
    /// too large.
    pub fn file(&self, written: &Written) -> Result<Vec<u8>, CannotInsert> {
        match &self.segment {
            Some(segment) => self.linked_file(segment, &written.bytes),
            None => object::file(self, written),
        }
    }

    fn linked_file(&self, segment: &NewSegment, section: &[u8]) -> Result<Vec<u8>, CannotInsert> {
        let mut header = self.header;
        let size = section.len() as u64;
        let place = segment.place(size).ok_or(CannotInsert::NoAddress)?;
        let mut file = segment.file(self.elf, &mut header, size, place)?;
        file.extend_from_slice(section);
        if header.sections > 0 {
            let new = SectionHeader {
                sh_type: section_type(section),
                flags: SHF_ALLOC,
                address: place.address,
                offset: place.offset,
                size: place.size,
                alignment: 8,
                ..SectionHeader::default()
            };
            let mut table = sections::table(self.elf, &header)?;
            let added = [segment.note(), (".sframe", new)];
            let added = match (self.replaced, added.as_slice()) {
                (Some(index), [note, _]) => {
                    sections::replace(&mut table, index, new)?;
                    core::slice::from_ref(note)
                }
                (_, added) => added,
            };
            sections::append(self.elf, &mut file, &mut header, table, added)?;
        }
        header.write(&mut file, self.elf.endian()).ok_or(CannotInsert::Headers)?;
        Ok(file)
    }
}

/// The file with a PT_GNU_SFRAME program header for the SFrame section that it has: linkers that do not know the section
/// write none. The section stays where it is.
///
/// # Errors
/// [`CannotInsert`].
pub fn add_segment(elf: &Elf<'_>) -> Result<Vec<u8>, CannotInsert> {
    if elf.class() != Class::Elf64 {
        return Err(CannotInsert::Class);
    }
    if !matches!(elf.kind(), ElfKind::Executable | ElfKind::Shared) {
        return Err(CannotInsert::Kind);
    }
    if has_segment(elf) {
        return Err(CannotInsert::HasSframe);
    }
    let mut header = usual_header(elf)?;
    let place = loaded_section(elf).ok_or(CannotInsert::NotLoaded)?;
    let segment = NewSegment::new(elf, &header)?;
    let mut file = segment.file(elf, &mut header, 0, place)?;
    if header.sections > 0 {
        let table = sections::table(elf, &header)?;
        sections::append(elf, &mut file, &mut header, table, &[segment.note()])?;
    }
    header.write(&mut file, elf.endian()).ok_or(CannotInsert::Headers)?;
    Ok(file)
}

/// The place of the only SFrame section, if a loaded segment contains it.
fn loaded_section(elf: &Elf<'_>) -> Option<Extent> {
    let mut sections = elf.sframe_sections();
    let section = sections.next().filter(|section| section.size > 0)?;
    let contains = |segment: &Segment| {
        let inside = section.offset.checked_sub(segment.offset);
        let end = inside.and_then(|inside| inside.checked_add(section.size));
        inside.is_some()
            && inside == section.address.checked_sub(segment.address)
            && end.is_some_and(|end| end <= segment.file_size)
    };
    let is_loaded = sections.next().is_none() && loaded(elf).any(contains);
    let place = Extent { offset: section.offset, address: section.address, size: section.size };
    is_loaded.then_some(place)
}

/// Whether PT_GNU_SFRAME leads to any bytes.
fn has_segment(elf: &Elf<'_>) -> bool {
    let mut own = elf.segments().iter().filter(|segment| segment.p_type == PT_GNU_SFRAME);
    own.any(|segment| segment.file_size > 0 || segment.memory_size > 0)
}

/// The file header, if tables of headers have the usual sizes.
fn usual_header(elf: &Elf<'_>) -> Result<FileHeader, CannotInsert> {
    let header = FileHeader::read(elf.data(), elf.endian()).ok_or(CannotInsert::Headers)?;
    let is_usual = header.has_usual_sizes()
        && header.segments < MOST_HEADERS
        && header.sections < MOST_HEADERS
        && usize::from(header.segments) == elf.segments().len()
        && usize::from(header.sections) == elf.listed_sections().len();
    is_usual.then_some(header).ok_or(CannotInsert::Headers)
}

/// Extends the file with zeros.
fn extend(file: &mut Vec<u8>, size: u64) -> Result<(), CannotInsert> {
    file.resize(usize::try_from(size).map_err(|_| CannotInsert::NoAddress)?, 0);
    Ok(())
}
