//! `.eh_frame_hdr`, which PT_GNU_EH_FRAME contains, and `.eh_frame`, to which it leads (LSB 5.0, 10.6.2).

use alloc::vec::Vec;

use super::super::Segment;
use super::loads::Loads;
use super::{Content, Format, Piece};

/// The place of the pointer to `.eh_frame`, after the version and three encodings.
const POINTER: usize = 4;
/// `DW_EH_PE_udata4`.
const UDATA4: u8 = 0x03;
/// `DW_EH_PE_datarel | DW_EH_PE_sdata4`.
const DATAREL_SDATA4: u8 = 0x3b;

/// The two sections; the second one only if the pointer to it can be read.
pub(super) fn pieces(loads: &Loads<'_>, segment: &Segment, format: Format) -> Vec<Piece> {
    let index = Index { address: segment.address, format, data: &[] };
    let place = (segment.address, segment.file_size);
    let Some(data) = loads.bytes(segment.address, segment.file_size) else { return Vec::new() };
    let index = Index { data, ..index };
    let Some((start, after)) = index.pointer() else { return Vec::new() };
    let mut pieces = Vec::from([Piece::new(place, b".eh_frame_hdr", Content::Data)]);
    if let Some(bytes) = loads.from(start) {
        let size = size(bytes, index.last(after).and_then(|at| at.checked_sub(start)), format);
        pieces.push(Piece::new((start, size), b".eh_frame", Content::Data));
    }
    pieces
}

/// `.eh_frame_hdr`.
struct Index<'a> {
    address: u64,
    format: Format,
    data: &'a [u8],
}

impl Index<'_> {
    /// The address of `.eh_frame`, and the place after the pointer to it.
    fn pointer(&self) -> Option<(u64, usize)> {
        let &[1, encoding, ..] = self.data else { return None };
        let (size, is_signed) = match encoding & 0x0f {
            0x00 => (self.format.word(), false),
            0x02 => (2, false),
            0x03 => (4, false),
            0x04 => (8, false),
            0x0a => (2, true),
            0x0b => (4, true),
            0x0c => (8, true),
            _ => return None,
        };
        let value = match is_signed {
            true => self.format.signed_at(self.data, POINTER, size)?,
            false => self.format.number_at(self.data, POINTER, size)?,
        };
        let base = match encoding & 0xf0 {
            0x00 => 0,
            0x10 => self.address.wrapping_add(POINTER as u64),
            0x30 => self.address,
            _ => return None,
        };
        Some((base.wrapping_add(value), POINTER + size))
    }

    /// The address of the last FDE in the table, which starts after the pointer; `None` if there is no table in the
    /// encodings that linkers write.
    fn last(&self, after: usize) -> Option<u64> {
        let (&[_, _, UDATA4, DATAREL_SDATA4], rest) = self.data.split_first_chunk::<4>()? else {
            return None;
        };
        let rest = rest.get(after.checked_sub(4)?..)?;
        let count = usize::try_from(self.format.number_at(rest, 0, 4)?).ok()?;
        let entries = rest.get(4..)?.chunks_exact(8).take(count);
        let place =
            |entry: &[u8]| Some(self.address.wrapping_add(self.format.signed_at(entry, 4, 4)?));
        entries.filter_map(place).max()
    }
}

/// The size of `.eh_frame` in these bytes, of which the last FDE in the table is at `last`. It ends with its terminator or,
/// if that is missing, where entries end. The table leads past both.
fn size(bytes: &[u8], last: Option<u64>, format: Format) -> u64 {
    let is_over = |at: usize| last.is_none_or(|last| at as u64 > last);
    let mut cies: Vec<usize> = Vec::new();
    let mut at = 0_usize;
    loop {
        let next = match entry(bytes, at, format) {
            Some(Entry::Terminator) if is_over(at) => return at as u64 + 4,
            Some(Entry::Terminator) => Some(at + 4),
            Some(Entry::Cie { next }) => {
                cies.push(at);
                Some(next)
            }
            Some(Entry::Fde { cie, next }) => cies.binary_search(&cie).is_ok().then_some(next),
            None => None,
        };
        match next {
            Some(next) => at = next,
            None if is_over(at) => return at as u64,
            // An entry that the table needs cannot be read: whoever reads the section has to see that.
            None => return bytes.len() as u64,
        }
    }
}

/// An entry of `.eh_frame`, and where the next one is.
enum Entry {
    Terminator,
    Cie { next: usize },
    Fde { cie: usize, next: usize },
}

/// The entry at an offset, if it ends within the bytes.
fn entry(bytes: &[u8], at: usize, format: Format) -> Option<Entry> {
    let short = format.number_at(bytes, at, 4)?;
    let (id, length) = match short {
        0 => return Some(Entry::Terminator),
        0xffff_ffff => (at.checked_add(12)?, format.number_at(bytes, at.checked_add(4)?, 8)?),
        length => (at.checked_add(4)?, length),
    };
    let next = id.checked_add(usize::try_from(length).ok()?)?;
    if length < 4 || next > bytes.len() {
        return None;
    }
    // In `.eh_frame`, the field has 4 bytes in either format.
    match usize::try_from(format.number_at(bytes, id, 4)?).ok()? {
        0 => Some(Entry::Cie { next }),
        distance => Some(Entry::Fde { cie: id.checked_sub(distance)?, next }),
    }
}
