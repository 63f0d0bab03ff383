//! `.eh_frame_hdr`, which PT_GNU_EH_FRAME contains, and `.eh_frame`, to which it leads (LSB 5.0, 10.6.2).

use alloc::vec::Vec;

use super::super::Segment;
use super::super::search_table::SearchTable;
use super::loads::Loads;
use super::{Content, Format, Piece};

/// The two sections; the second one only if the pointer to it can be read.
pub(super) fn pieces(loads: &Loads<'_>, segment: &Segment, format: Format) -> Vec<Piece> {
    let place = (segment.address, segment.file_size);
    let Some(data) = loads.bytes(segment.address, segment.file_size) else { return Vec::new() };
    let Ok(table) = SearchTable::read(format.numbers, segment.address, data) else {
        return Vec::new();
    };
    let mut pieces = Vec::from([Piece::new(place, b".eh_frame_hdr", Content::Data)]);
    let start = table.eh_frame();
    if let Some((start, bytes)) = start.and_then(|start| Some((start, loads.from(start)?))) {
        let last = table.entries().ok().and_then(|all| all.map(|entry| entry.fde).max());
        let size = size(bytes, last.and_then(|at| at.checked_sub(start)), format);
        pieces.push(Piece::new((start, size), b".eh_frame", Content::Data));
    }
    pieces
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
    let short = format.numbers.number_at(bytes, at, 4)?;
    let (id, length) = match short {
        0 => return Some(Entry::Terminator),
        0xffff_ffff => {
            (at.checked_add(12)?, format.numbers.number_at(bytes, at.checked_add(4)?, 8)?)
        }
        length => (at.checked_add(4)?, length),
    };
    let next = id.checked_add(usize::try_from(length).ok()?)?;
    if length < 4 || next > bytes.len() {
        return None;
    }
    // In `.eh_frame`, the field has 4 bytes in either format.
    match usize::try_from(format.numbers.number_at(bytes, id, 4)?).ok()? {
        0 => Some(Entry::Cie { next }),
        distance => Some(Entry::Fde { cie: id.checked_sub(distance)?, next }),
    }
}
