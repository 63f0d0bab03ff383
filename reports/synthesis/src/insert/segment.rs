//! A new segment at the end of a linked file and of its memory, which begins with the program headers and a note.
//!
//! The note says who added the segment. It also is a section that stays in the segment: GNU strip and objcopy write a
//! segment without sections, or one whose only section they remove, to a file offset that does not fit its address, so that
//! the program cannot run (observed: 2.40 to 2.47.50).
//!
//! GNU strip and objcopy write such a segment directly after the bytes before it. Release 2.40 also lowers its address
//! then, by less than its alignment (observed). So much address space before it is free.

use sframe_validator::Abi;
use sframe_validator::elf::{
    Elf, PF_R, PT_GNU_SFRAME, PT_LOAD, PT_PHDR, SHF_ALLOC, SHT_NOTE, Segment,
};

use super::CannotInsert;
use super::fields::{FileHeader, ProgramHeader, SEGMENT_HEADER, SectionHeader, push};

/// The smallest size of a page, and the only one on AMD64 and s390x.
const PAGE: u64 = 0x1000;
/// The largest size of a page on AArch64.
const LARGE_PAGE: u64 = 0x1_0000;
/// The largest alignment of segments that linkers choose.
const MOST_ALIGNMENT: u64 = 0x20_0000;
/// The maximum number of zeros that the file gets.
const MOST_ZEROS: u64 = 0x400_0000;

/// The name of the section with the note.
const NOTE_SECTION: &str = ".note.sframe-check";
/// The owner in the note, with the zero at its end, as long as the next multiple of 4.
const OWNER: &[u8; 16] = b"sframe-check\0\0\0\0";
/// The size of the owner without the padding.
const OWNER_SIZE: u64 = 13;
/// The type of the note, `NT_VERSION`, and its description: the version of what it says, in 4 bytes.
const NT_VERSION: u64 = 1;
const VERSION: u64 = 1;
/// The bytes of the note. The SFrame section has to follow without padding: GNU strip 2.40 keeps both sections in the
/// segment then (observed).
const NOTE: u64 = 32;

/// The new segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewSegment {
    pub(super) offset: u64,
    pub(super) address: u64,
    alignment: u64,
    /// The bytes of the program headers at its start.
    table: u64,
    /// How many more there are than the file has: two, or one if it has an empty PT_GNU_SFRAME.
    added: u16,
}

/// The bytes of an SFrame section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) size: u64,
}

impl NewSegment {
    pub(super) fn new(elf: &Elf<'_>, header: &FileHeader) -> Result<NewSegment, CannotInsert> {
        let alignment = alignment(elf, header)?;
        let (offset, address) = free_segment(elf, alignment)?;
        let is_sframe = |segment: &Segment| segment.p_type == PT_GNU_SFRAME;
        let added = if elf.segments().iter().any(is_sframe) { 1 } else { 2 };
        let table = (u64::from(header.segments) + u64::from(added)) * SEGMENT_HEADER;
        Ok(NewSegment { offset, address, alignment, table, added })
    }

    /// The address of a section after the program headers and the note.
    pub(super) const fn section_address(&self) -> u64 {
        self.address + self.table + NOTE
    }

    /// The place of such a section with this size; `None` if there is no such address.
    pub(super) fn place(&self, size: u64) -> Option<Extent> {
        let (offset, address) = (self.offset + self.table + NOTE, self.section_address());
        address.checked_add(size).map(|_| Extent { offset, address, size })
    }

    /// The section header of the note, and the name.
    pub(super) fn note(&self) -> (&'static str, SectionHeader) {
        let header = SectionHeader {
            sh_type: SHT_NOTE,
            flags: SHF_ALLOC,
            address: self.address + self.table,
            offset: self.offset + self.table,
            size: NOTE,
            alignment: 4,
            ..SectionHeader::default()
        };
        (NOTE_SECTION, header)
    }

    /// The file with the program headers and the note, up to the end of the note. `header` gets the place of the program
    /// headers. `size` is the number of bytes that follow in the segment.
    pub(super) fn file(
        &self,
        elf: &Elf<'_>,
        header: &mut FileHeader,
        size: u64,
        sframe: Extent,
    ) -> Result<Vec<u8>, CannotInsert> {
        let mut file = elf.data().to_vec();
        super::extend(&mut file, self.offset)?;
        let size = size.checked_add(self.table + NOTE).ok_or(CannotInsert::NoAddress)?;
        for program in self.program_headers(elf, header, size, sframe)? {
            program.write(&mut file, elf.endian());
        }
        for number in [OWNER_SIZE, 4, NT_VERSION] {
            push(&mut file, elf.endian(), number, 4);
        }
        file.extend_from_slice(OWNER);
        push(&mut file, elf.endian(), VERSION, 4);
        header.segments_offset = self.offset;
        header.segments += self.added;
        Ok(file)
    }

    /// The program headers: those of the file, the new segment after the other loaded ones, which have to be in order,
    /// and PT_GNU_SFRAME. `objcopy --remove-section` leaves an empty one.
    fn program_headers(
        &self,
        elf: &Elf<'_>,
        header: &FileHeader,
        size: u64,
        sframe: Extent,
    ) -> Result<Vec<ProgramHeader>, CannotInsert> {
        let NewSegment { offset, address, alignment, table: before, .. } = *self;
        let mut table = header.program_headers(elf).ok_or(CannotInsert::Headers)?;
        for program in table.iter_mut().filter(|program| program.p_type == PT_PHDR) {
            *program = program.at(offset, address, before);
        }
        let last = table.iter().rposition(|program| program.p_type == PT_LOAD);
        let last = last.ok_or(CannotInsert::NoSegment)?;
        let loaded = ProgramHeader::new(PT_LOAD, PF_R, alignment);
        table.insert(last + 1, loaded.at(offset, address, size));
        let of_sframe = ProgramHeader::new(PT_GNU_SFRAME, PF_R, 8);
        let of_sframe = of_sframe.at(sframe.offset, sframe.address, sframe.size);
        match table.iter_mut().find(|program| program.p_type == PT_GNU_SFRAME) {
            Some(empty) => *empty = of_sframe,
            None => table.push(of_sframe),
        }
        Ok(table)
    }
}

pub(super) fn loaded<'e>(elf: &'e Elf<'_>) -> impl Iterator<Item = &'e Segment> {
    elf.segments().iter().filter(|segment| segment.p_type == PT_LOAD)
}

/// The largest alignment of the loaded segments, if the machine has such pages: that of the largest pages on which the
/// file can be loaded.
fn alignment(elf: &Elf<'_>, header: &FileHeader) -> Result<u64, CannotInsert> {
    let table = header.program_headers(elf).ok_or(CannotInsert::Headers)?;
    let loaded = || table.iter().filter(|program| program.p_type == PT_LOAD);
    if loaded().any(ProgramHeader::has_own_physical) {
        return Err(CannotInsert::Physical);
    }
    let most = loaded().map(|program| program.alignment).max().ok_or(CannotInsert::NoSegment)?;
    let is_usual = most <= MOST_ALIGNMENT && (most == 0 || most.is_power_of_two());
    let largest_page = match elf.abi() {
        Some(Abi::Amd64 | Abi::S390x) => PAGE,
        _ => LARGE_PAGE,
    };
    is_usual.then_some(most.clamp(PAGE, largest_page)).ok_or(CannotInsert::Headers)
}

/// The file offset and address of a segment after the file and its memory, and after as much free memory as its
/// alignment.
fn free_segment(elf: &Elf<'_>, alignment: u64) -> Result<(u64, u64), CannotInsert> {
    let first = loaded(elf).next().ok_or(CannotInsert::NoSegment)?;
    let distance = first.address.checked_sub(first.offset).ok_or(CannotInsert::NoAddress)?;
    let file = elf.data().len() as u64;
    let mut address = file.checked_add(distance).ok_or(CannotInsert::NoAddress)?;
    for segment in loaded(elf) {
        let end = segment.address.checked_add(segment.memory_size);
        let end = end.and_then(|end| end.checked_next_multiple_of(alignment));
        let end = end.and_then(|end| end.checked_add(alignment));
        address = address.max(end.ok_or(CannotInsert::NoAddress)?);
    }
    let address = address.checked_next_multiple_of(alignment).ok_or(CannotInsert::NoAddress)?;
    // The headers are at most a few megabytes.
    address.checked_add(MOST_ZEROS).ok_or(CannotInsert::NoAddress)?;
    let offset = address - distance;
    let zeros = offset - file;
    if zeros > MOST_ZEROS { Err(CannotInsert::TooSparse(zeros)) } else { Ok((offset, address)) }
}
