//! libsframe: what its releases share. Each copies the table and the rows, and reads the copies without bounds.

mod flip;
mod inputs;
pub(crate) mod search;

use std::borrow::Cow;

use sframe_validator::section::Control;
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};
use sframe_validator::{Abi, Endian};

use crate::answer::Stop;
use crate::bytes::{Bytes, OUTSIDE};
use crate::frames::saved;
use crate::header::{Header, MAGIC};
use crate::input::Input;
use crate::rows::{Rows, SPENT, Step, Work};
use crate::table::Extent;

pub(crate) use inputs::open_input;

/// The row has too many words, or words of an unknown size.
pub(crate) const TOO_MANY_WORDS: Stop =
    Stop::error("the row has too many words, or words of an unknown size");
/// An assertion notices that a row's words were copied beyond their room.
const OVERFLOW: Stop = Stop::crash("it copies a row's words beyond their room, and aborts");
/// No assertion notices that.
const OVERWRITTEN: Stop = Stop::undecided("it copies a row's words beyond their room");
/// The library reads its own memory after a copy.
const BEYOND_COPY: Stop = Stop::undecided("it reads its own memory after a copied table");

/// What differs between releases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Release {
    /// The versions of the format that the header may have.
    pub(crate) versions: &'static [u8],
    /// The flags that may be set, by version.
    pub(crate) flags: fn(u8) -> u8,
    /// Whether the tables are read where the header says, not one after the other from the header's end.
    pub(crate) uses_offsets: bool,
    /// The size in bytes of an entry of the function table, by version.
    pub(crate) entry: fn(u8) -> i64,
    /// Room for a row's words, in bytes.
    pub(crate) room: i64,
    /// The largest number of words of a row that is used.
    pub(crate) most_words: i64,
    /// Whether a row without words is an outermost frame.
    pub(crate) has_outermost: bool,
    /// Whether CFA offsets of s390x are scaled.
    pub(crate) scales_s390x: bool,
}

/// A section that the library has decoded, in the byte order of the host.
pub(crate) struct Library<'a> {
    pub(crate) data: Cow<'a, [u8]>,
    pub(crate) header: Header,
    pub(crate) address: u64,
    release: Release,
    table: Place,
    rows: Place,
}

/// A part of the section that is copied.
#[derive(Clone, Copy)]
struct Place {
    at: i64,
    length: i64,
}

/// A function.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) start: i64,
    pub(crate) size: u32,
    rows_at: i64,
    pub(crate) rows: u32,
    pub(crate) info: u8,
    info2: u8,
    pub(crate) block: u8,
}

impl Entry {
    pub(crate) const fn repeats(&self) -> bool {
        self.info & 0x10 != 0
    }
}

/// Decodes a section as a release does on a little-endian host.
pub(crate) fn open<'a>(input: &Input<'a>, release: Release) -> Result<Library<'a>, Stop> {
    if input.bytes.len() < 28 {
        return Err(Stop::error("the section is too small"));
    }
    let mut data = Cow::Borrowed(input.bytes);
    let magic = Bytes::new(&data, Endian::Little).u16(0)?;
    if magic == MAGIC.swap_bytes() {
        data = Cow::Owned(flip::flip(input.bytes, release)?);
    } else if magic != MAGIC {
        return Err(Stop::error("the magic number is wrong"));
    }
    let header = Header::read(Bytes::new(&data, Endian::Little))?;
    sane(&header, release)?;
    let (table, rows) = places(&header, release)?;
    let library = Library { data, header, address: input.address, release, table, rows };
    library.copy()?;
    Ok(library)
}

/// The tests of the header.
fn sane(header: &Header, release: Release) -> Result<(), Stop> {
    if header.magic != MAGIC || !release.versions.contains(&header.version) {
        return Err(Stop::error("the version is not read"));
    }
    if header.flags & !(release.flags)(header.version) != 0 {
        return Err(Stop::error("an unknown flag is set"));
    }
    if header.function_offset > header.row_offset {
        return Err(Stop::error("fdeoff is larger than freoff"));
    }
    Ok(())
}

/// Where the tables are.
fn places(header: &Header, release: Release) -> Result<(Place, Place), Stop> {
    let entry = (release.entry)(header.version);
    let whole = i64::from(header.functions) * entry;
    let length = i64::from(header.rows_length);
    if release.uses_offsets {
        let table = Place { at: header.functions_at(), length: whole };
        return Ok((table, Place { at: header.rows_at(), length }));
    }
    // The size of the table is kept in 32 bits with a sign.
    let kept = u32::try_from(whole & 0xffff_ffff).unwrap_or(0).cast_signed();
    if kept < 0 {
        return Err(Stop::error("the table is too large"));
    }
    let table = Place { at: header.size(), length: i64::from(kept) };
    Ok((table, Place { at: header.size() + i64::from(kept), length }))
}

impl Library<'_> {
    fn bytes(&self) -> Bytes<'_> {
        Bytes::new(&self.data, Endian::Little)
    }

    /// Both copies, and in version 3 the attributes of all functions.
    fn copy(&self) -> Result<(), Stop> {
        let length = self.bytes().len();
        for place in [self.table, self.rows] {
            if place.length > 0 && place.at + place.length > length {
                return Err(OUTSIDE);
            }
        }
        if self.header.version == 3 {
            for index in 0..self.header.functions {
                let at = self.table.at + i64::from(index) * 16;
                let attributes = self.rows.at + i64::from(self.bytes().u32(at + 12)?);
                self.bytes().u8(attributes + 4)?;
            }
        }
        Ok(())
    }

    pub(crate) fn count(&self) -> u32 {
        let entry = (self.release.entry)(self.header.version);
        let copied = self.table.length / entry.max(1);
        self.header.functions.min(u32::try_from(copied).unwrap_or(u32::MAX))
    }

    /// The section offset of an entry if the table follows the header, as lookups believe.
    fn field(&self, index: u32) -> i64 {
        self.header.size() + i64::from(index) * (self.release.entry)(self.header.version)
    }

    /// An entry with its stored start.
    pub(crate) fn entry(&self, index: u32) -> Result<Entry, Stop> {
        let size = (self.release.entry)(self.header.version);
        let at = i64::from(index) * size;
        if at + size > self.table.length {
            return Err(BEYOND_COPY);
        }
        let (bytes, at) = (self.bytes(), self.table.at + at);
        if self.header.version == 3 {
            let offset = i64::from(bytes.u32(at + 12)?);
            let attributes = self.rows.at + offset;
            return Ok(Entry {
                start: bytes.i64(at)?,
                size: bytes.u32(at + 8)?,
                rows_at: offset + 5,
                rows: u32::from(bytes.u16(attributes)?),
                info: bytes.u8(attributes + 2)?,
                info2: bytes.u8(attributes + 3)?,
                block: bytes.u8(attributes + 4)?,
            });
        }
        Ok(Entry {
            start: i64::from(bytes.i32(at)?),
            size: bytes.u32(at + 4)?,
            rows_at: i64::from(bytes.u32(at + 8)?),
            rows: bytes.u32(at + 12)?,
            info: bytes.u8(at + 16)?,
            info2: 0,
            block: if size > 17 { bytes.u8(at + 17)? } else { 0 },
        })
    }

    /// The start relative to the section, if each start is relative to its field.
    pub(crate) fn relative_start(&self, index: u32, entry: &Entry) -> i64 {
        entry.start.wrapping_add(self.field(index))
    }

    /// The extent of a function that starts at an offset from the section.
    pub(crate) fn extent(&self, start: i64, entry: &Entry) -> Extent {
        let block = if entry.repeats() { entry.block.max(1) } else { 0 };
        Extent { start: self.address.wrapping_add_signed(start), size: entry.size, block }
    }

    /// The rows of a function, each with its last offset.
    pub(crate) fn rows(&self, entry: &Entry, work: &Work) -> Rows {
        let mut rows = Rows::default();
        let mut at = entry.rows_at;
        for index in 0..entry.rows {
            if !work.take() {
                rows.fail(SPENT);
                break;
            }
            match self.step(entry, at, index) {
                Ok((step, next)) => {
                    rows.push(step);
                    at = next;
                }
                Err(stop) => {
                    rows.fail(stop);
                    break;
                }
            }
        }
        rows
    }

    /// Row `index` of a function, which is at an offset in the copy, and the offset of the next one.
    fn step(&self, entry: &Entry, at: i64, index: u32) -> Result<(Step, i64), Stop> {
        let copy = self.copied_rows();
        let code = entry.info & 0xf;
        if code > 2 {
            return Err(Stop::crash("an assertion fails: the rows have an unknown type"));
        }
        let width = 1u8 << code;
        let start = copy.unsigned(at, width).map_err(|_| BEYOND_COPY)?;
        let words = at + i64::from(width) + 1;
        let info = copy.u8(words - 1).map_err(|_| BEYOND_COPY)?;
        let length = words_length(info);
        let next = words + length;
        if next > copy.len() {
            return Err(BEYOND_COPY);
        }
        if length > self.release.room {
            // The info byte is kept after the words, and is overwritten by one of them.
            let info = copy.u8(words + self.release.room).map_err(|_| BEYOND_COPY)?;
            let is_noticed = words_length(info) != length;
            return Err(if is_noticed { OVERFLOW } else { OVERWRITTEN });
        }
        let end = if index + 1 < entry.rows {
            copy.unsigned(next, width).map_err(|_| BEYOND_COPY)?.wrapping_sub(1)
        } else {
            entry.size.wrapping_sub(1)
        };
        let frame =
            self.frame(entry, &Words { copy, at: words, info, most: self.release.most_words });
        Ok((Step { start, end, frame }, next))
    }

    fn copied_rows(&self) -> Bytes<'_> {
        let at = usize::try_from(self.rows.at).unwrap_or(usize::MAX);
        let end = usize::try_from(self.rows.at + self.rows.length).unwrap_or(0);
        Bytes::new(self.data.get(at..end).unwrap_or_default(), Endian::Little)
    }

    fn machine(&self) -> Option<Abi> {
        Abi::from_id(self.header.abi)
    }

    fn frame(&self, entry: &Entry, words: &Words<'_>) -> Result<Frame, Stop> {
        if words.code() == 3 || words.count() > words.most {
            return Err(TOO_MANY_WORDS);
        }
        if words.count() == 0 && self.release.has_outermost {
            return Ok(Frame::OUTERMOST);
        }
        let signed = words.info & 0x80 != 0;
        let frame =
            if entry.info2 & 0x1f == 1 { self.flexible(words) } else { self.default(words) };
        Ok(Frame { ra_signed: signed, ..frame? })
    }

    fn cfa_offset(&self, word: i32) -> i64 {
        let scales = self.release.scales_s390x && self.machine() == Some(Abi::S390x);
        if scales { i64::from(word.wrapping_mul(8).wrapping_add(160)) } else { i64::from(word) }
    }

    fn default(&self, words: &Words<'_>) -> Result<Frame, Stop> {
        let offset = words.signed(0).ok_or(Stop::error("the row has no words"))?;
        let base = |machine: Abi| if words.info & 1 != 0 { machine.sp() } else { machine.fp() };
        let register = self.machine().map_or(Register(0), base);
        let is_s390x = self.machine() == Some(Abi::S390x);
        // A word 0 of s390x is padding: RA is not saved.
        let ra_word = words.signed(1).filter(|word| !is_s390x || *word != 0);
        let ra = self.fixed_or(self.header.fixed_ra, ra_word);
        let fp_at = if self.header.fixed_ra == 0 { 2 } else { 1 };
        let fp = self.fixed_or(self.header.fixed_fp, words.signed(fp_at));
        let cfa = Cfa::RegisterOffset { register, offset: self.cfa_offset(offset) };
        Ok(Frame { cfa, ra, fp, ra_signed: false })
    }

    fn fixed_or(&self, fixed: i8, word: Option<i32>) -> Recovery {
        let is_s390x = self.machine() == Some(Abi::S390x);
        let word = if fixed == 0 { word } else { Some(i32::from(fixed)) };
        match word {
            // A register: the library leaves this to its caller.
            Some(word) if is_s390x && self.header.version == 2 && word & 1 != 0 => {
                let register = Register((word >> 1).cast_unsigned());
                Recovery::RegisterOffset { register, offset: 0 }
            }
            word => saved(word),
        }
    }

    fn flexible(&self, words: &Words<'_>) -> Result<Frame, Stop> {
        let control = words.unsigned(0).map(Control);
        let (Some(control), Some(offset)) = (control, words.signed(1)) else {
            return Err(Stop::error("the row has no rule for the CFA"));
        };
        if !control.reg_p() {
            return Err(Stop::error("the CFA has no register"));
        }
        let (register, offset) = (control.register(), self.cfa_offset(offset));
        let cfa = if control.deref_p() {
            Cfa::Dereference { register, offset }
        } else {
            Cfa::RegisterOffset { register, offset }
        };
        let fixed = |offset: i8| saved((offset != 0).then_some(i32::from(offset)));
        let rule = |at: i64| {
            let control = Control(words.unsigned(at)?);
            Some(control.recovery(i64::from(words.signed(at + 1)?)))
        };
        let is_padding = words.unsigned(2) == Some(0);
        let has_half_a_rule = !is_padding && words.count() == 3;
        if has_half_a_rule && self.header.fixed_ra != 0 {
            return Err(Stop::undecided(
                "the rule for RA has no offset: its caller gets the fixed one",
            ));
        }
        let ra = if is_padding { None } else { rule(2) };
        let ra = ra.unwrap_or_else(|| fixed(self.header.fixed_ra));
        let fp = rule(if is_padding { 3 } else { 4 });
        let fp = fp.unwrap_or_else(|| fixed(self.header.fixed_fp));
        Ok(Frame { cfa, ra, fp, ra_signed: false })
    }
}

/// The bytes of a row's words. The library takes a reserved size for 1.
const fn words_length(info: u8) -> i64 {
    let (count, code) = ((info >> 1) & 0xf, (info >> 5) & 3);
    let size = match code {
        1 => 2,
        2 => 4,
        _ => 1,
    };
    count as i64 * size
}

/// A row's words.
struct Words<'a> {
    copy: Bytes<'a>,
    at: i64,
    info: u8,
    most: i64,
}

impl Words<'_> {
    const fn count(&self) -> i64 {
        (self.info as i64 >> 1) & 0xf
    }

    const fn code(&self) -> u8 {
        (self.info >> 5) & 3
    }

    fn place(&self, index: i64) -> Option<(i64, u8)> {
        let size = 1u8 << self.code();
        (index < self.count()).then_some((self.at + index * i64::from(size), size))
    }

    fn signed(&self, index: i64) -> Option<i32> {
        let (at, size) = self.place(index)?;
        self.copy.signed(at, size).ok()
    }

    fn unsigned(&self, index: i64) -> Option<u32> {
        let (at, size) = self.place(index)?;
        self.copy.unsigned(at, size).ok()
    }
}
