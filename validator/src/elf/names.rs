//! String tables of sections and symbols.

use object::read::elf::{FileHeader, SectionHeader};

use crate::text::Text;

/// A string table from which strings are read only up to a limit, because its end may be missing, and many names may
/// start at the same place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Names<'a> {
    pub(super) bytes: &'a [u8],
}

impl<'a> Names<'a> {
    /// Longer names are truncated.
    const LIMIT: usize = 4096;

    pub(super) fn get(self, offset: u32) -> Text<'a> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.bytes.get(offset..));
        let rest = rest.unwrap_or_default();
        let rest = rest.get(..Names::LIMIT).unwrap_or(rest);
        Text::of(rest.split(|&byte| byte == 0).next().unwrap_or_default())
    }
}

/// The names of sections; empty if the file has no table for them.
pub(super) fn section_names<'a, Header: FileHeader>(
    header: &Header,
    order: Header::Endian,
    data: &'a [u8],
) -> Names<'a> {
    let bytes = || {
        let sections = header.section_headers(order, data).ok()?;
        let index = usize::try_from(header.shstrndx(order, data).ok()?).ok()?;
        sections.get(index)?.data(order, data).ok()
    };
    Names { bytes: bytes().unwrap_or_default() }
}
