//! The rows of one function as they are stored, in order.

use super::bytes::Bytes;
use super::error::{Error, ErrorKind};
use super::function::Function;
use super::row::{FrameRowEntry, FreType, RowInfo, ShortRow, Words};

impl<'a> Function<'a> {
    /// The rows as they are stored.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownFreType`], because no row can be found without the type.
    pub fn frame_row_entries(&self) -> Result<FrameRowEntries<'a>, Error> {
        Ok(FrameRowEntries::new(self, self.fre_type()?))
    }
}

/// The stored rows of one function, in order. Iteration ends after the first row that cannot be read.
#[derive(Clone, Debug)]
pub struct FrameRowEntries<'a> {
    bytes: Bytes<'a>,
    base: u64,
    position: usize,
    remaining: u32,
    fre_type: FreType,
}

impl<'a> FrameRowEntries<'a> {
    pub(super) fn new(function: &Function<'a>, fre_type: FreType) -> FrameRowEntries<'a> {
        let section = function.section();
        let base = section.header().fre_start();
        let first = function.first_row_offset().saturating_sub(base);
        FrameRowEntries {
            bytes: section.fre_bytes(),
            base,
            position: usize::try_from(first).unwrap_or(usize::MAX),
            remaining: function.num_rows(),
            fre_type,
        }
    }

    /// The section offset of the next row, or of the end after the last one.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.base.saturating_add(self.position as u64)
    }

    /// The number of rows left, according to the function's count.
    #[must_use]
    pub const fn remaining(&self) -> u32 {
        self.remaining
    }

    /// The start of the next row, if it can be read.
    #[inline]
    pub(crate) fn peek_start(&self) -> Option<u32> {
        let rest = self.bytes.data.get(self.position..).filter(|_| self.remaining > 0)?;
        match rest {
            // The info byte must exist as well: a start field alone is not the start of a row.
            [a, b, c, d, _, ..] => Some(self.fre_type.start([*a, *b, *c, *d], self.bytes.endian)),
            _ => self.head(rest).map(|(start, _, _)| start),
        }
    }

    /// Ends the iteration.
    pub(super) fn end(&mut self) {
        self.remaining = 0;
    }

    /// The next row if it is short and enough bytes follow it. [`FrameRowEntries::pass`] skips it.
    #[inline]
    pub(crate) fn short(&self) -> Option<ShortRow<'a>> {
        let rest = self.bytes.data.get(self.position..).filter(|_| self.remaining > 0)?;
        ShortRow::read(rest.first_chunk()?, self.fre_type, self.bytes.endian)
    }

    /// Skips the next row, which is short.
    #[inline]
    pub(crate) fn pass(&mut self, row: &ShortRow<'_>) {
        self.position += row.size;
        self.remaining -= 1;
    }

    /// The row that ends at the start of the next row, given its size.
    #[cfg(feature = "rules")]
    pub(crate) fn before(&self, size: usize) -> Option<FrameRowEntry<'a>> {
        let position = self.position.checked_sub(size)?;
        FrameRowEntries { position, ..self.clone() }.read().ok()
    }

    fn read(&mut self) -> Result<FrameRowEntry<'a>, Error> {
        let width = self.fre_type.width();
        let rest = self.bytes.data.get(self.position..).unwrap_or_default();
        let (start, info, tail) =
            self.head(rest).ok_or_else(|| self.truncated(width as u64 + 1))?;
        let size = info.word_size().ok_or_else(|| self.reserved_word_size())?;
        let length = usize::from(info.word_count()) * usize::from(size);
        let words =
            tail.get(..length).ok_or_else(|| self.truncated(width as u64 + 1 + length as u64))?;
        let entry = FrameRowEntry {
            offset: self.offset(),
            start,
            info,
            words: Words { bytes: words, size, endian: self.bytes.endian },
            fre_type: self.fre_type,
        };
        self.position += width + 1 + length;
        Ok(entry)
    }

    /// The start field, the info byte, and the bytes after them.
    fn head(&self, rest: &'a [u8]) -> Option<(u32, RowInfo, &'a [u8])> {
        let (start, rest) = rest.split_at_checked(self.fre_type.width())?;
        let (info, tail) = rest.split_first()?;
        let mut field = [0; 4];
        field.iter_mut().zip(start).for_each(|(to, byte)| *to = *byte);
        Some((self.fre_type.start(field, self.bytes.endian), RowInfo(*info), tail))
    }

    #[cold]
    fn reserved_word_size(&self) -> Error {
        let offset = self.offset() + self.fre_type.width() as u64;
        Error::new(offset, "sfre_info", ErrorKind::ReservedWordSize)
    }

    #[cold]
    fn truncated(&self, needed: u64) -> Error {
        let available = self.bytes.data.len().saturating_sub(self.position) as u64;
        Error::new(
            self.offset(),
            "sframe_frame_row_entry",
            ErrorKind::Truncated { needed, available },
        )
    }
}

impl<'a> Iterator for FrameRowEntries<'a> {
    type Item = Result<FrameRowEntry<'a>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.remaining == 0 {
            return None;
        }
        let entry = self.read();
        self.remaining = if entry.is_ok() { self.remaining - 1 } else { 0 };
        Some(entry)
    }
}

impl core::iter::FusedIterator for FrameRowEntries<'_> {}
