//! The format of a CFI section and the encoding of its entries.

use gimli::{Reader, RunTimeEndian};

use super::error::CfiErrorKind;
use super::pointer::{Bases, Slice};

/// The format of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `.eh_frame` (LSB 10.6).
    EhFrame,
    /// `.debug_frame` (DWARF 5 6.4.1).
    DebugFrame,
}

/// The properties of a section that are needed for reading its entries.
#[derive(Clone, Debug)]
pub(crate) struct Layout<'a> {
    pub(crate) whole: Slice<'a>,
    pub(crate) kind: Kind,
    pub(crate) endian: RunTimeEndian,
    pub(crate) address_size: u8,
    pub(crate) bases: Bases,
}

impl<'a> Layout<'a> {
    pub(crate) fn offset_of(&self, input: &Slice<'a>) -> u64 {
        input.offset_from(self.whole) as u64
    }

    /// The rest of `input` as a range of section offsets.
    pub(crate) fn span(&self, input: &Slice<'a>) -> Result<(u32, u32), CfiErrorKind> {
        let start = input.offset_from(self.whole);
        let fits = |offset| u32::try_from(offset).map_err(|_| CfiErrorKind::Truncated);
        Ok((fits(start)?, fits(start + input.len())?))
    }
}
