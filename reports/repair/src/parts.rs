//! Finds the sections that a linker appended to each other.

use sframe_validator::elf::Elf;
use sframe_validator::section::{Flags, HEADER_SIZE, MAGIC};
use sframe_validator::unwind::CodeAddress;
use sframe_validator::write::StoredSection;
use sframe_validator::{Endian, Placement, Section, Version};

use crate::error::RepairError;

/// One of the sections that were appended to each other.
pub(crate) struct Part<'a> {
    /// Its offset in the ELF section.
    pub(crate) offset: u64,
    pub(crate) data: &'a [u8],
    pub(crate) stored: StoredSection,
    /// Where each function starts, and the relocation that says so; `None` if nothing says so.
    pub(crate) starts: Vec<Option<Start>>,
}

/// The start of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) place: CodeAddress,
    /// In an object, the position in the table of relocations.
    pub(crate) relocation: Option<usize>,
}

impl Part<'_> {
    /// The address at which a start field leads if it counts from what the header says.
    pub(crate) fn stated(&self) -> Vec<u64> {
        self.stored.functions.iter().map(|function| function.start).collect()
    }

    /// Whether its start fields count from the section, as its header says.
    pub(crate) const fn counts_from_section(&self) -> bool {
        !self.stored.pcrel
    }

    /// Whether its header says that its functions are sorted.
    pub(crate) const fn is_sorted(&self) -> bool {
        Flags(self.stored.header.flags).sorted()
    }
}

/// Takes the section at `address` apart. Also returns the number of zero bytes after its
/// content.
pub(crate) fn split(data: &[u8], address: u64) -> Result<(Vec<Part<'_>>, u64), RepairError> {
    let (mut parts, mut offset) = (Vec::new(), 0_usize);
    loop {
        let part = read_part(data, offset, address)?;
        let end = offset.saturating_add(part.data.len());
        parts.push(part);
        match following(data, end)? {
            Some(next) => offset = next,
            None => return Ok((parts, data.len().saturating_sub(end) as u64)),
        }
    }
}

/// The number of functions whose code was replaced after the section was made; `None` if there are none.
pub(crate) fn replaced(elf: &Elf<'_>, parts: &[Part<'_>]) -> Option<u64> {
    let replaced = elf.replaced_code()?;
    let starts = parts.iter().flat_map(Part::stated).map(CodeAddress::absolute);
    let number = starts.filter(|start| replaced.contains(*start)).count() as u64;
    (number > 0).then_some(number)
}

fn read_part(data: &[u8], offset: usize, address: u64) -> Result<Part<'_>, RepairError> {
    let place = offset as u64;
    let rest = data.get(offset..).unwrap_or_default();
    let unreadable = RepairError::UnreadableHeader { offset: place };
    let at = address.wrapping_add(place);
    let section = Section::parse(rest, Placement::at(at)).map_err(|_| unreadable.clone())?;
    let end = section.header().fre_end().max(HEADER_SIZE);
    let end = usize::try_from(end).map_err(|_| unreadable)?;
    let unreadable = || RepairError::UnreadableContent { offset: place };
    let data = rest.get(..end).ok_or_else(unreadable)?;
    let stored = StoredSection::read(data, at).ok_or_else(unreadable)?;
    let starts = vec![None; stored.functions.len()];
    Ok(Part { offset: place, data, stored, starts })
}

/// The offset of the next header after the content that ends at `end`: directly after it, or at the next multiple of 8.
/// `None` if only zeros follow.
fn following(data: &[u8], end: usize) -> Result<Option<usize>, RepairError> {
    let rest = data.get(end..).unwrap_or_default();
    let aligned = end.next_multiple_of(8);
    let zeros = |from: usize, to: usize| {
        data.get(from..to).is_some_and(|bytes| bytes.iter().all(|byte| *byte == 0))
    };
    for next in [end, aligned] {
        if zeros(end, next) && is_header(data.get(next..).unwrap_or_default()) {
            return Ok(Some(next));
        }
    }
    match rest.iter().all(|byte| *byte == 0) {
        true => Ok(None),
        false => Err(RepairError::UnknownBytes { offset: end as u64 }),
    }
}

/// Whether bytes begin with a preamble of a known version, in either byte order.
fn is_header(bytes: &[u8]) -> bool {
    let Some([a, b, version, ..]) = bytes.first_chunk::<4>() else { return false };
    let is_magic = [Endian::Little, Endian::Big].iter().any(|endian| match endian {
        Endian::Little => u16::from_le_bytes([*a, *b]) == MAGIC,
        Endian::Big => u16::from_be_bytes([*a, *b]) == MAGIC,
    });
    is_magic && Version::from_number(*version).is_some()
}
