//! Images of memory: the bytes of a file as they were loaded, each at the distance of its address from the first one.
//!
//! The headers of such a file are those of the file that was loaded. Its segments are not where `p_offset` says.

use alloc::vec::Vec;

use super::super::{PT_DYNAMIC, PT_LOAD, Segment};
use super::Format;

/// `DT_STRTAB` and `DT_SYMTAB`, which every dynamic section has.
const WANTED: [u64; 2] = [5, 6];
/// The smallest size of pages; the first segment starts in the page that the image starts with.
const PAGE: u64 = 0x1000;

/// The segments with the places that they have in the image; `None` if the file is no image. The dynamic section decides: it
/// is in memory that is written, which linkers put at another distance from the start than in the file.
pub(in super::super) fn segments(
    data: &[u8],
    segments: &[Segment],
    format: Format,
) -> Option<Vec<Segment>> {
    let loads = segments.iter().filter(|segment| segment.p_type == PT_LOAD);
    let base = loads.map(|segment| segment.address).min()? & !(PAGE - 1);
    let dynamic = segments.iter().find(|segment| segment.p_type == PT_DYNAMIC)?;
    let place = |segment: &Segment| segment.address.wrapping_sub(base);
    let is_dynamic_at = |offset: u64| {
        bytes(data, offset, dynamic.file_size).is_some_and(|bytes| is_dynamic(bytes, format))
    };
    if is_dynamic_at(dynamic.offset) || !is_dynamic_at(place(dynamic)) {
        return None;
    }
    Some(segments.iter().map(|segment| Segment { offset: place(segment), ..*segment }).collect())
}

fn bytes(data: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    data.get(usize::try_from(offset).ok()?..)?.get(..usize::try_from(size).ok()?)
}

/// Whether bytes are a dynamic section: it has an end, and the entries before the end are plausible.
fn is_dynamic(bytes: &[u8], format: Format) -> bool {
    let entries = bytes.chunks_exact(2 * format.numbers.word());
    let tags: Vec<u64> = entries
        .map(|entry| format.numbers.number(entry.split_at(format.numbers.word()).0))
        .take_while(|tag| *tag != 0)
        .collect();
    tags.len() < bytes.len() / (2 * format.numbers.word())
        && WANTED.iter().all(|tag| tags.contains(tag))
}
