//! The bytes of an SFrame section: header, function table and rows. They are borrowed, decoded lazily, and never cause
//! a panic.
//!
//! [`Section::parse`] requires only a readable header. Everything after it is decoded on demand. A part that cannot be
//! decoded is an [`Error`] in its place, and the next function can still be read.

mod bytes;
mod error;
pub mod field;
mod function;
mod header;
mod interpret;
mod lookup;
mod placement;
mod plain;
mod row;
mod rows;
mod stored_rows;
#[cfg(test)]
mod tests;

pub use error::{Error, ErrorKind};
pub use field::FieldPlace;
pub use function::{
    Attributes, FdeType, Function, FunctionEntry, FunctionField, FunctionInfo, FunctionInfo2,
};
pub use header::{Flags, HEADER_SIZE, Header, MAGIC, PREAMBLE_SIZE, Preamble, Version};
pub use interpret::{Control, RowLayout, S390X_CFA_ADJUSTMENT, S390X_CFA_FACTOR};
pub use placement::{Placement, StartRelocation, Starts};
pub use plain::{PlainRow, PlainRows};
#[cfg(feature = "rules")]
pub(crate) use row::ShortRow;
pub use row::{FrameRowEntry, FreType, RowInfo, Words};
pub use rows::{RowBudget, Rows};
pub use stored_rows::FrameRowEntries;

use crate::abi::{Abi, Endian};
use bytes::Bytes;

/// An SFrame section: its bytes, its header and its placement.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    data: &'a [u8],
    header: Header,
    endian: Endian,
    placement: Placement<'a>,
    /// The function table and the FRE sub-section, as far as the section contains them.
    table: &'a [u8],
    rows: &'a [u8],
}

impl<'a> Section<'a> {
    /// Reads the header of the section at the start of `data`.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] for fewer than 28 bytes, [`ErrorKind::BadMagic`] and [`ErrorKind::UnknownVersion`]. No
    /// other value in the header is an error here. Parts that do not fit in the section are errors when they are read.
    pub fn parse(data: &'a [u8], placement: Placement<'a>) -> Result<Section<'a>, Error> {
        let (header, endian) = Header::parse(data, placement.endian)?;
        let bytes = Bytes::new(data, endian);
        let table = bytes.clipped(header.fde_table_start(), header.fde_table_end());
        let rows = bytes.clipped(header.fre_start(), header.fre_end());
        Ok(Section { data, header, endian, placement, table, rows })
    }

    /// The section's bytes.
    #[must_use]
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The decoded header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The byte order of the section.
    #[must_use]
    pub const fn endian(&self) -> Endian {
        self.endian
    }

    /// Where the section is.
    #[must_use]
    pub const fn placement(&self) -> &Placement<'a> {
        &self.placement
    }

    /// The ABI that determines the meaning of rows: the caller's if there is one, otherwise the header's.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownAbi`].
    pub fn abi(&self) -> Result<Abi, Error> {
        let id = self.header.abi_arch;
        self.placement.abi.or_else(|| Abi::from_id(id)).ok_or_else(|| {
            Error::new(field::ABI_ARCH.offset, field::ABI_ARCH.name, ErrorKind::UnknownAbi(id))
        })
    }

    /// The number of table entries in the section: `sfh_num_fdes`, or fewer if the section ends first.
    #[must_use]
    pub fn entry_count(&self) -> u32 {
        let whole = self.table_bytes().data.len() as u64 / self.header.version.entry_size();
        u32::try_from(whole).unwrap_or(u32::MAX)
    }

    /// Entry `index` of the function table; `None` if there are not that many ([`Section::entry_count`]).
    #[must_use]
    pub fn entry(&'a self, index: u32) -> Option<FunctionEntry<'a>> {
        FunctionEntry::decode(self, index, self.table_bytes())
    }

    /// The entries of the function table in stored order, as far as the section contains them.
    pub fn entries(&'a self) -> impl ExactSizeIterator<Item = FunctionEntry<'a>> + 'a {
        Entries { section: self, table: self.table_bytes(), next: 0, end: self.entry_count() }
    }

    /// All functions with their attributes, in stored order. If the section ends before the table, the last item is an
    /// [`ErrorKind::Truncated`] for the first missing entry.
    pub fn functions(&'a self) -> impl Iterator<Item = Result<Function<'a>, Error>> + 'a {
        let missing = (self.entry_count() < self.header.num_fdes).then(|| self.truncated_table());
        self.entries().map(FunctionEntry::function).chain(missing.map(Err))
    }

    /// A budget for reading every row of the section once; see [`RowBudget`].
    #[must_use]
    pub fn row_budget(&self) -> RowBudget {
        RowBudget { bytes: self.fre_bytes().data.len() as u64 }
    }

    fn truncated_table(&self) -> Error {
        let needed = self.header.version.entry_size();
        let offset = self.header.fde_table_start() + u64::from(self.entry_count()) * needed;
        let available = (self.data.len() as u64).saturating_sub(offset);
        let kind = ErrorKind::Truncated { needed, available };
        Error::new(offset, "sframe_func_desc_entry", kind)
    }

    const fn table_bytes(&self) -> Bytes<'a> {
        Bytes::new(self.table, self.endian)
    }

    const fn fre_bytes(&self) -> Bytes<'a> {
        Bytes::new(self.rows, self.endian)
    }
}

struct Entries<'a> {
    section: &'a Section<'a>,
    table: Bytes<'a>,
    next: u32,
    end: u32,
}

impl<'a> Iterator for Entries<'a> {
    type Item = FunctionEntry<'a>;

    fn next(&mut self) -> Option<FunctionEntry<'a>> {
        if self.next == self.end {
            return None;
        }
        let entry = FunctionEntry::decode(self.section, self.next, self.table);
        self.next += 1;
        entry
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Entries<'_> {}
