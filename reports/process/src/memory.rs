//! Memory as a list of ranges with bytes.

/// A range of memory whose bytes are known.
#[derive(Clone, Copy, Debug)]
struct Piece<'s> {
    start: u64,
    bytes: &'s [u8],
}

/// Ranges of memory by address, without overlaps.
#[derive(Clone, Debug, Default)]
pub struct Image<'s> {
    pieces: Vec<Piece<'s>>,
}

impl<'s> Image<'s> {
    /// The memory that consists of these bytes at these addresses. Where ranges overlap, which is possible only in a
    /// damaged core dump, the one that starts first is used.
    pub fn new(ranges: impl IntoIterator<Item = (u64, &'s [u8])>) -> Image<'s> {
        let ranges = ranges.into_iter().filter(|(_, bytes)| !bytes.is_empty());
        let mut pieces: Vec<Piece<'s>> =
            ranges.map(|(start, bytes)| Piece { start, bytes }).collect();
        pieces.sort_by_key(|piece| piece.start);
        let mut free = Some(0_u64);
        pieces.retain_mut(|piece| {
            let Some(first) = free.map(|free| free.max(piece.start)) else { return false };
            let skipped = usize::try_from(first - piece.start).unwrap_or(usize::MAX);
            piece.bytes = piece.bytes.get(skipped..).unwrap_or_default();
            piece.start = first;
            // Addresses end at 2^64.
            let room = usize::try_from(u64::MAX - first).unwrap_or(usize::MAX).saturating_add(1);
            piece.bytes = piece.bytes.get(..room).unwrap_or(piece.bytes);
            let keep = !piece.bytes.is_empty();
            if keep {
                free = first.checked_add(piece.bytes.len() as u64);
            }
            keep
        });
        Image { pieces }
    }

    /// The known bytes from `address` to the end of their range; empty if they are unknown.
    #[must_use]
    pub fn rest(&self, address: u64) -> &'s [u8] {
        let after = self.pieces.partition_point(|piece| piece.start <= address);
        let piece = after.checked_sub(1).and_then(|number| self.pieces.get(number));
        let rest =
            piece.and_then(|piece| piece.bytes.get(usize::try_from(address - piece.start).ok()?..));
        rest.unwrap_or_default()
    }

    /// Copies the bytes from `address` on, up to the first one that is unknown. Returns how many were copied.
    pub fn copy(&self, address: u64, bytes: &mut [u8]) -> usize {
        let mut filled = 0;
        while let Some(place) = bytes.get_mut(filled..).filter(|place| !place.is_empty()) {
            let Some(next) = address.checked_add(filled as u64) else { break };
            let rest = self.rest(next);
            let length = rest.len().min(place.len());
            match (place.get_mut(..length), rest.get(..length)) {
                (Some(place), Some(known)) if length > 0 => place.copy_from_slice(known),
                _ => break,
            }
            filled += length;
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_across_adjacent_ranges() {
        let image = Image::new([(8, &b"efgh"[..]), (4, b"abcd"), (20, b"z"), (u64::MAX, b"!?")]);
        let read = |address, length| {
            let mut bytes = vec![0; length];
            let filled = image.copy(address, &mut bytes);
            bytes.truncate(filled);
            String::from_utf8(bytes).expect("text")
        };
        assert_eq!(read(4, 8), "abcdefgh");
        assert_eq!(read(6, 4), "cdef");
        assert_eq!(read(10, 4), "gh");
        assert_eq!(
            (read(0, 4), read(12, 4), read(20, 1)),
            (String::new(), String::new(), "z".into())
        );
        assert_eq!(read(u64::MAX, 2), "!");
    }

    #[test]
    fn overlapping_ranges_are_cut() {
        let image = Image::new([(0, &b"aaaa"[..]), (2, b"bbbb"), (1, b"c"), (5, b"dd")]);
        let mut bytes = [0; 8];
        assert_eq!(image.copy(0, &mut bytes), 7);
        assert_eq!(&bytes, b"aaaabbd\0");
    }
}
