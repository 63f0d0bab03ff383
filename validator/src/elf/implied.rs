//! The sections of a linked file without usable section headers, as its program headers imply them.
//!
//! Program headers are what loaders and unwinders use, so they lead to all that is needed at run time: code by the
//! executable segments, CFI by PT_GNU_EH_FRAME, SFrame by PT_GNU_SFRAME, symbols and dynamic relocations by PT_DYNAMIC.
//! [`sections`] lists these as sections, with the names that linkers give them; what is left of each segment is a
//! section of its own. So every reader of sections finds them where it always looks.
//!
//! What only section headers have is lost: `.symtab`, debugging information, and the places where code ends within an
//! executable segment.

mod dynamic;
mod eh_frame;
mod encode;
mod image;
mod loads;
mod stubs;

use alloc::vec::Vec;

use super::numbers::Numbers;
use super::{
    Class, ElfError, ElfSection, PF_W, PF_X, PT_DYNAMIC, PT_GNU_EH_FRAME, PT_GNU_SFRAME, PT_INTERP,
    PT_NOTE, SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE, SHT_GNU_SFRAME, SHT_NOBITS, SHT_NOTE,
    SHT_PROGBITS, Segment,
};
use crate::section::Header;
use crate::text::Text;
pub(super) use encode::encode;
pub(super) use image::segments as segments_of_image;
use loads::{Load, Loads};

/// The maximum number of notes of a segment that are sections of their own. Real files have some three.
const MOST_NOTES: usize = 64;

/// What the ELF header says about the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    pub(super) numbers: Numbers,
    pub(super) machine: u16,
    /// The place and size of the program headers in the file.
    pub(super) headers: (u64, u64),
}

/// A part of a segment whose content is known.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u64,
    size: u64,
    name: &'static [u8],
    content: Content,
    sh_type: u32,
    entry_size: u64,
}

/// What a piece contains, as far as it matters to the sections around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Machine code.
    Code,
    /// Headers, or a table for the dynamic linker. What lies between two of them is another one.
    Table,
    /// A table that refers to the dynamic symbols.
    OfSymbols,
    /// The dynamic symbols.
    Symbols,
    /// Their names.
    Strings,
    /// Anything else.
    Data,
}

impl Piece {
    const fn new(place: (u64, u64), name: &'static [u8], content: Content) -> Piece {
        let (start, size) = place;
        Piece { start, size, name, content, sh_type: SHT_PROGBITS, entry_size: 0 }
    }

    const fn of_type(self, sh_type: u32, entry_size: u64) -> Piece {
        Piece { sh_type, entry_size, ..self }
    }
}

/// The sections that segments imply, after a null section, by address.
///
/// # Errors
/// [`ElfError::SharedBytes`] if segments refer to the same bytes so often that together they are longer than the file.
pub(super) fn sections<'a>(
    data: &'a [u8],
    segments: &[Segment],
    format: Format,
) -> Result<Vec<ElfSection<'a>>, ElfError> {
    let loads = Loads::of(data, segments)?;
    let mut pieces = pieces(&loads, segments, format);
    pieces.retain(|piece| piece.size > 0);
    pieces.sort_by_key(|piece| piece.start);
    let mut out = Sections::default();
    out.add(0, (0, 0), Piece::new((0, 0), b"", Content::Data).of_type(0, 0));
    let mut pieces = pieces.into_iter().peekable();
    for load in loads.all() {
        let mut last = None;
        let mut at = load.start;
        while let Some(piece) = pieces.next_if(|piece| piece.start < load.end) {
            let end = piece.start.saturating_add(piece.size);
            // One that starts before the segment, overlaps the one before it, or ends elsewhere, is none.
            if piece.start < at || end > load.end {
                continue;
            }
            out.rest(load, (at, piece.start), last, Some(piece.content));
            out.piece(load, piece);
            (at, last) = (end, Some(piece.content));
        }
        out.rest(load, (at, load.end), last, None);
        out.without_bytes(load);
    }
    out.link();
    Ok(out.sections)
}

/// The sections of CFI that PT_GNU_EH_FRAME implies, for a file whose section headers do not list them.
pub(super) fn cfi<'a>(data: &'a [u8], segments: &[Segment], format: Format) -> Vec<ElfSection<'a>> {
    let is_cfi = |segment: &Segment| segment.p_type == PT_GNU_EH_FRAME;
    let Some(segment) = segments.iter().copied().find(is_cfi) else { return Vec::new() };
    let Ok(loads) = Loads::of(data, segments) else { return Vec::new() };
    let mut out = Sections::default();
    for piece in eh_frame::pieces(&loads, &segment, format) {
        let end = piece.start.saturating_add(piece.size);
        if let Some(load) = loads.at(piece.start).filter(|load| end <= load.end) {
            out.piece(load, piece);
        }
    }
    out.sections
}

/// The bytes of the file to whose place in memory a segment leads; `None` if no segment loads them from the file.
pub(super) fn bytes_of_segment<'a>(
    data: &'a [u8],
    segments: &[Segment],
    segment: &Segment,
) -> Option<&'a [u8]> {
    Loads::of(data, segments).ok()?.bytes(segment.address, segment.file_size)
}

/// All pieces of known content, in any order.
fn pieces(loads: &Loads<'_>, segments: &[Segment], format: Format) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let file_header = if format.numbers.class == Class::Elf32 { 52 } else { 64 };
    for (offset, size) in [(0, file_header), format.headers] {
        if let Some(address) = loads.address_of(offset) {
            pieces.push(Piece::new((address, size), b"", Content::Table));
        }
    }
    let mut tables = None;
    // Only the first segments of a kind count where each needs work, and notes are no longer than the file.
    let (mut has_cfi, mut room) = (false, loads.file_size());
    for segment in segments {
        let place = (segment.address, segment.file_size);
        match segment.p_type {
            PT_GNU_EH_FRAME if !has_cfi => {
                pieces.extend(eh_frame::pieces(loads, segment, format));
                has_cfi = true;
            }
            PT_GNU_SFRAME => {
                let place = (segment.address, sframe_size(loads, segment));
                let piece = Piece::new(place, b".sframe", Content::Data);
                pieces.push(piece.of_type(SHT_GNU_SFRAME, 0));
            }
            PT_INTERP => pieces.push(Piece::new(place, b".interp", Content::Table)),
            PT_NOTE => {
                let Some(rest) = room.checked_sub(segment.file_size) else { continue };
                pieces.extend(notes(loads, segment, format));
                room = rest;
            }
            PT_DYNAMIC if tables.is_none() => {
                let dynamic = dynamic::Dynamic::of(loads, segment, format);
                pieces.extend(dynamic.pieces(loads));
                tables = Some(dynamic);
            }
            _ => {}
        }
    }
    if let Some(dynamic) = tables {
        pieces.extend(stubs::pieces(loads, &dynamic, format));
    }
    pieces
}

/// The size of the SFrame section in a PT_GNU_SFRAME segment, which may be longer: what the section's own header says, or
/// the size of the segment if there is no such header.
fn sframe_size(loads: &Loads<'_>, segment: &Segment) -> u64 {
    let size = segment.file_size;
    let bytes = loads.bytes(segment.address, size).unwrap_or_default();
    let header = Header::parse(bytes, None).ok();
    header.map(|(header, _)| header.fre_end()).filter(|end| *end <= size).unwrap_or(size)
}

/// The notes in a PT_NOTE segment (gABI, "Note Section"), with the names of sections that they usually have.
fn notes(loads: &Loads<'_>, segment: &Segment, format: Format) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let bytes = loads.bytes(segment.address, segment.file_size).unwrap_or_default();
    let mut at = 0_usize;
    while let Some(note) = bytes.get(at..).filter(|note| note.len() >= 12) {
        let field = |offset: usize| format.numbers.number_at(note, offset, 4).unwrap_or_default();
        let (owner, content, kind) = (field(0), field(4), field(8));
        let size = |size: u64| usize::try_from(size).ok();
        // Where notes are aligned to 8 bytes, their sizes are multiples of 8, too.
        let padded = |size: usize| size.checked_next_multiple_of(4);
        let end = || {
            let content_at = padded(size(owner)?.checked_add(12)?)?;
            padded(content_at.checked_add(size(content)?)?)
        };
        let end = end().filter(|_| pieces.len() < MOST_NOTES);
        let end = end.map_or(note.len(), |end| end.min(note.len()));
        let is_gnu = note.get(12..).is_some_and(|rest| rest.starts_with(b"GNU\0"));
        let name: &[u8] = match kind {
            1 if is_gnu => b".note.ABI-tag",
            3 if is_gnu => b".note.gnu.build-id",
            5 if is_gnu => b".note.gnu.property",
            _ => b".note",
        };
        let place = (segment.address.saturating_add(at as u64), end as u64);
        pieces.push(Piece::new(place, name, Content::Table).of_type(SHT_NOTE, 0));
        at = at.saturating_add(end);
    }
    pieces
}

/// Sections that are being listed.
#[derive(Default)]
struct Sections<'a> {
    sections: Vec<ElfSection<'a>>,
    /// The index of the dynamic symbols, and of their names.
    symbols: Option<u32>,
    strings: Option<u32>,
    /// The positions of the sections that refer to the dynamic symbols.
    of_symbols: Vec<usize>,
}

impl Sections<'_> {
    /// Adds a section with these flags, address and file offset.
    fn add(&mut self, flags: u64, (address, offset): (u64, u64), piece: Piece) {
        let index = u32::try_from(self.sections.len()).unwrap_or(u32::MAX);
        match piece.content {
            Content::Symbols => self.symbols = Some(index),
            Content::Strings => self.strings = Some(index),
            Content::OfSymbols => self.of_symbols.push(self.sections.len()),
            Content::Code | Content::Table | Content::Data => {}
        }
        self.sections.push(ElfSection {
            index,
            name: Text::of(piece.name),
            sh_type: piece.sh_type,
            flags,
            address,
            offset,
            size: piece.size,
            link: 0,
            info: 0,
            alignment: if piece.sh_type == SHT_GNU_SFRAME { 8 } else { 1 },
            entry_size: piece.entry_size,
        });
    }

    fn piece(&mut self, load: &Load, piece: Piece) {
        let code = if piece.content == Content::Code { SHF_EXECINSTR } else { 0 };
        let place = (piece.start, load.offset_of(piece.start));
        self.add(flags(load) & !SHF_EXECINSTR | code, place, piece);
    }

    /// Adds what is left of a segment from one address to another, between pieces with such contents.
    fn rest(
        &mut self,
        load: &Load,
        (start, end): (u64, u64),
        before: Option<Content>,
        after: Option<Content>,
    ) {
        let is_table = |content| !matches!(content, Content::Code | Content::Data);
        if start >= end {
            return;
        }
        let is_code = load.flags & PF_X != 0
            && !(before.is_some_and(is_table) && after.is_some_and(is_table));
        // The code of a file is in `.text`, but for a few bytes.
        let (content, name): (_, &[u8]) =
            if is_code { (Content::Code, b".text") } else { (Content::Data, b"PT_LOAD") };
        self.piece(load, Piece::new((start, end - start), name, content));
    }

    /// Adds the memory of a segment that has no bytes in the file.
    fn without_bytes(&mut self, load: &Load) {
        if load.memory_end > load.end {
            let place = (load.end, load.memory_end - load.end);
            let piece = Piece::new(place, b"PT_LOAD", Content::Data).of_type(SHT_NOBITS, 0);
            self.add(flags(load), (load.end, load.offset_of(load.end)), piece);
        }
    }

    /// Sets the links between the dynamic symbols, their names, and what refers to them.
    fn link(&mut self) {
        let (symbols, strings) = (self.symbols.unwrap_or(0), self.strings.unwrap_or(0));
        let own = usize::try_from(symbols).ok().filter(|index| *index > 0);
        if let Some(section) = own.and_then(|index| self.sections.get_mut(index)) {
            section.link = strings;
        }
        for position in &self.of_symbols {
            if let Some(section) = self.sections.get_mut(*position) {
                section.link = symbols;
            }
        }
    }
}

/// The flags of sections in a segment.
const fn flags(load: &Load) -> u64 {
    let write = if load.flags & PF_W != 0 { SHF_WRITE } else { 0 };
    let execute = if load.flags & PF_X != 0 { SHF_EXECINSTR } else { 0 };
    SHF_ALLOC | write | execute
}
