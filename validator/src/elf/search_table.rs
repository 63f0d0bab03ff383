//! `.eh_frame_hdr`: where `.eh_frame` is, and a table of its functions that unwinders search (LSB 5.0, 10.6.2).

use core::fmt;

use super::implied::bytes_of_segment;
use super::numbers::Numbers;
use super::{Elf, ElfKind, PT_GNU_EH_FRAME, SHT_NOBITS, Segment};

/// The number of bytes before the pointer to `.eh_frame`: the version and three encodings.
const START: usize = 4;
/// `DW_EH_PE_omit`: there is no such value.
const OMIT: u8 = 0xff;

/// The table that unwinders search for the FDE of a PC, and the pointer to `.eh_frame` before it.
///
/// ```no_run
/// use sframe_validator::elf::Elf;
///
/// let file = std::fs::read("/usr/bin/true")?;
/// if let Some(table) = Elf::parse(&file)?.search_table() {
///     for entry in table?.entries()? {
///         println!("{:#x}: FDE at {:#x}", entry.start, entry.fde);
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SearchTable<'a> {
    address: u64,
    numbers: Numbers,
    eh_frame: Option<u64>,
    entries: Result<Option<Entries<'a>>, SearchTableError>,
}

/// The bytes of the entries.
#[derive(Clone, Copy, Debug)]
struct Entries<'a> {
    /// Where they start in the section.
    offset: usize,
    encoding: Encoding,
    data: &'a [u8],
}

/// An entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchEntry {
    /// The address of the function.
    pub start: u64,
    /// The address of its FDE in `.eh_frame`.
    pub fde: u64,
}

/// Why unwinders cannot read the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchTableError {
    /// The program header leads to bytes that the file does not load.
    NotLoaded,
    /// The section ends before the table.
    Truncated,
    /// A version other than 1.
    Version(u8),
    /// An encoding of numbers that is not defined, or has no fixed size and base here.
    Encoding(u8),
    /// There are more entries than bytes for them.
    Count {
        /// The stored number of entries.
        count: u64,
        /// The number of entries for which there is room.
        room: u64,
    },
}

impl core::error::Error for SearchTableError {}

impl fmt::Display for SearchTableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchTableError::NotLoaded => {
                f.write_str("PT_GNU_EH_FRAME leads to memory that no segment loads from the file")
            }
            SearchTableError::Truncated => f.write_str("it ends before its table"),
            SearchTableError::Version(version) => write!(f, "its version is {version}, not 1"),
            SearchTableError::Encoding(encoding) => {
                write!(f, "encoding {encoding:#04x} has no meaning in it")
            }
            SearchTableError::Count { count, room } => {
                write!(f, "it says that it has {count} entries, and has room for {room}")
            }
        }
    }
}

impl<'a> Elf<'a> {
    /// The table to which PT_GNU_EH_FRAME leads, as unwinders find it or, without such a program header, the section
    /// `.eh_frame_hdr`. `None` if the file has neither, is a relocatable object, or has no bytes for it (a separate debug
    /// file).
    #[must_use]
    pub fn search_table(&self) -> Option<Result<SearchTable<'a>, SearchTableError>> {
        if self.kind() == ElfKind::Relocatable {
            return None;
        }
        let section = self.sections().iter().find(|section| section.name == b".eh_frame_hdr");
        if section.is_some_and(|section| section.sh_type == SHT_NOBITS) {
            return None;
        }
        let (address, data) = match (self.search_table_segment(), section) {
            (Some(segment), _) => {
                (segment.address, bytes_of_segment(self.data(), self.segments(), segment))
            }
            (None, section) => (section?.address, self.section_data(section?).ok()),
        };
        let numbers = Numbers { class: self.class(), endian: self.endian() };
        let data = data.ok_or(SearchTableError::NotLoaded);
        Some(data.and_then(|data| SearchTable::read(numbers, address, data)))
    }

    /// The program header that leads unwinders to the table.
    #[must_use]
    pub fn search_table_segment(&self) -> Option<&Segment> {
        self.segments().iter().find(|segment| segment.p_type == PT_GNU_EH_FRAME)
    }
}

impl<'a> SearchTable<'a> {
    /// Reads the section's bytes, which are loaded at `address`.
    ///
    /// # Errors
    /// [`SearchTableError`], for what comes before the table.
    pub(super) fn read(
        numbers: Numbers,
        address: u64,
        data: &'a [u8],
    ) -> Result<SearchTable<'a>, SearchTableError> {
        let start = data.first_chunk::<START>().ok_or(SearchTableError::Truncated)?;
        let &[version, of_pointer, of_count, of_table] = start;
        if version != 1 {
            return Err(SearchTableError::Version(version));
        }
        let mut reading = Reading { numbers, address, data, at: START };
        let eh_frame = reading.next_unless_omitted(of_pointer)?;
        let entries = match of_table {
            OMIT => Ok(None),
            of_table => reading.entries(of_count, of_table),
        };
        Ok(SearchTable { address, numbers, eh_frame, entries })
    }

    /// The address of the section.
    #[must_use]
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// The address of `.eh_frame`; `None` if it was left out (`DW_EH_PE_omit`).
    #[must_use]
    pub const fn eh_frame(&self) -> Option<u64> {
        self.eh_frame
    }

    /// Whether there is a table. Without one (`DW_EH_PE_omit`), unwinders read `.eh_frame` from its start.
    #[must_use]
    pub const fn has_entries(&self) -> bool {
        matches!(self.entries, Ok(Some(_)))
    }

    /// The entries, in the order of the table; none if there is no table.
    ///
    /// # Errors
    /// [`SearchTableError`] if the table cannot be read.
    pub fn entries(
        &self,
    ) -> Result<impl ExactSizeIterator<Item = SearchEntry> + Clone + use<'a>, SearchTableError>
    {
        let &SearchTable { address, numbers, .. } = self;
        let none = Entries { offset: 0, encoding: Encoding::ABSOLUTE, data: &[] };
        let Entries { offset, encoding, data } = self.entries?.unwrap_or(none);
        let size = 2 * encoding.size;
        let table = address.wrapping_add(offset as u64);
        Ok(data.chunks_exact(size).enumerate().map(move |(index, bytes)| {
            let place = table.wrapping_add((index as u64).wrapping_mul(size as u64));
            let value = |at: usize| {
                let place = place.wrapping_add(at as u64);
                encoding.value(numbers, bytes, at, (place, address)).unwrap_or_default()
            };
            SearchEntry { start: value(0), fde: value(encoding.size) }
        }))
    }
}

/// How a number is stored (LSB 5.0, 10.5.1).
#[derive(Clone, Copy, Debug)]
struct Encoding {
    size: usize,
    is_signed: bool,
    base: Base,
}

/// What an encoded number counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    /// 0.
    Absolute,
    /// Its own address: `DW_EH_PE_pcrel`.
    Place,
    /// The start of `.eh_frame_hdr`: `DW_EH_PE_datarel`.
    Section,
}

impl Encoding {
    const ABSOLUTE: Encoding = Encoding { size: 8, is_signed: false, base: Base::Absolute };

    fn of(encoding: u8, numbers: Numbers) -> Result<Encoding, SearchTableError> {
        let (size, is_signed) = match encoding & 0x0f {
            0x00 => (numbers.word(), false),
            0x02 => (2, false),
            0x03 => (4, false),
            0x04 => (8, false),
            0x0a => (2, true),
            0x0b => (4, true),
            0x0c => (8, true),
            _ => return Err(SearchTableError::Encoding(encoding)),
        };
        let base = match encoding & 0xf0 {
            0x00 => Base::Absolute,
            0x10 => Base::Place,
            0x30 => Base::Section,
            _ => return Err(SearchTableError::Encoding(encoding)),
        };
        Ok(Encoding { size, is_signed, base })
    }

    /// The number at an offset in `data`, whose address is `place`, in a section at `section`.
    fn value(
        self,
        numbers: Numbers,
        data: &[u8],
        offset: usize,
        (place, section): (u64, u64),
    ) -> Option<u64> {
        let value = match self.is_signed {
            true => numbers.signed_at(data, offset, self.size)?,
            false => numbers.number_at(data, offset, self.size)?,
        };
        let base = match self.base {
            Base::Absolute => 0,
            Base::Place => place,
            Base::Section => section,
        };
        Some(base.wrapping_add(value))
    }
}

/// Reads the section from its start.
struct Reading<'a> {
    numbers: Numbers,
    address: u64,
    data: &'a [u8],
    at: usize,
}

impl<'a> Reading<'a> {
    /// The next number; `None` if its encoding says that it was left out.
    fn next_unless_omitted(&mut self, encoding: u8) -> Result<Option<u64>, SearchTableError> {
        if encoding == OMIT {
            return Ok(None);
        }
        let encoding = Encoding::of(encoding, self.numbers)?;
        let place = self.address.wrapping_add(self.at as u64);
        let value = encoding.value(self.numbers, self.data, self.at, (place, self.address));
        self.at = self.at.saturating_add(encoding.size);
        value.map(Some).ok_or(SearchTableError::Truncated)
    }

    /// The number of entries, and the entries; `None` if the number was left out.
    fn entries(
        &mut self,
        of_count: u8,
        of_table: u8,
    ) -> Result<Option<Entries<'a>>, SearchTableError> {
        let Some(count) = self.next_unless_omitted(of_count)? else { return Ok(None) };
        let encoding = Encoding::of(of_table, self.numbers)?;
        let rest = self.data.get(self.at..).unwrap_or_default();
        let entry = 2 * encoding.size;
        let room = (rest.len() / entry) as u64;
        let size = usize::try_from(count).ok().and_then(|count| count.checked_mul(entry));
        let data = size.and_then(|size| rest.get(..size));
        let data = data.ok_or(SearchTableError::Count { count, room })?;
        Ok(Some(Entries { offset: self.at, encoding, data }))
    }
}
