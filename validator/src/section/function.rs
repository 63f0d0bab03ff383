//! The function table: index entries and attributes, by version (V1 1.3, V2 2.3, V3 2.3).

use super::Section;
use super::bytes::Bytes;
use super::error::{Error, ErrorKind};
use super::field::FieldPlace;
use super::header::Version;
use super::placement::Starts;
use super::row::FreType;
use crate::unwind::CodeAddress;

/// The part of a function's description that is always in the table: where the function starts, its size, and where its
/// rows are.
#[derive(Clone, Copy, Debug)]
pub struct FunctionEntry<'a> {
    pub(super) section: &'a Section<'a>,
    pub(super) index: u32,
    pub(super) start_field: i64,
    pub(super) size: u32,
    pub(super) fre_offset: u32,
}

/// The part of a function's description that says how its rows are encoded. Up to version 2 it is in the table; since
/// version 3 it precedes the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// The number of rows.
    pub num_fres: u32,
    /// `sfde_func_info` / `sfda_func_info`.
    pub info: FunctionInfo,
    /// `sfda_func_info2`; 0 before version 3.
    pub info2: FunctionInfo2,
    /// The size of a repeated block in bytes; 0 in version 1, which does not record it.
    pub rep_size: u8,
    /// `sfde_func_padding2`; 0 in versions other than 2.
    pub padding: u16,
}

/// The first info byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionInfo(pub u8);

impl FunctionInfo {
    /// Bit 4: rows repeat in each block (`SFRAME_FDE_TYPE_PCMASK`, V3 `SFRAME_FDE_PCTYPE_MASK`).
    pub const PC_MASK: u8 = 0x10;
    /// Bit 5: return addresses are signed with the B key (AArch64).
    pub const PAUTH_KEY_B: u8 = 0x20;
    /// Bit 7: the function is a signal frame (version 3).
    pub const SIGNAL: u8 = 0x80;

    /// The stored code of the FRE type, in bits 0 to 3.
    #[must_use]
    pub const fn fre_type_code(self) -> u8 {
        self.0 & 0xf
    }

    /// Whether rows repeat in each block.
    #[must_use]
    pub const fn is_pc_mask(self) -> bool {
        self.0 & FunctionInfo::PC_MASK != 0
    }

    /// Whether return addresses are signed with the B key (AArch64).
    #[must_use]
    pub const fn pauth_key_b(self) -> bool {
        self.0 & FunctionInfo::PAUTH_KEY_B != 0
    }
}

/// The second info byte (version 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionInfo2(pub u8);

impl FunctionInfo2 {
    /// The code of `SFRAME_FDE_TYPE_DEFAULT`.
    pub const DEFAULT: u8 = 0;
    /// The code of `SFRAME_FDE_TYPE_FLEX`.
    pub const FLEX: u8 = 1;

    /// The stored code of the FDE type, in bits 0 to 4.
    #[must_use]
    pub const fn fde_type_code(self) -> u8 {
        self.0 & 0x1f
    }
}

/// How the data words of a function's rows are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FdeType {
    /// `SFRAME_FDE_TYPE_DEFAULT`: each word is an offset, or a register of s390x.
    Default,
    /// `SFRAME_FDE_TYPE_FLEX`: a control word precedes each offset.
    Flex,
}

/// A function with its attributes.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    entry: FunctionEntry<'a>,
    attributes: Attributes,
}

impl<'a> FunctionEntry<'a> {
    pub(super) fn decode(
        section: &'a Section<'a>,
        index: u32,
        table: Bytes<'a>,
    ) -> Option<FunctionEntry<'a>> {
        let version = section.header().version;
        let at = usize::try_from(u64::from(index) * version.entry_size()).ok()?;
        let (start_field, rest) = match version {
            Version::V1 | Version::V2 => (i64::from(table.i32(at)?), at + 4),
            Version::V3 => (table.i64(at)?, at + 8),
        };
        Some(FunctionEntry {
            section,
            index,
            start_field,
            size: table.u32(rest)?,
            fre_offset: table.u32(rest + 4)?,
        })
    }

    /// The index in the table, from 0.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// The section offset of the entry, whose first field is the start field.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        let header = self.section.header();
        header.fde_table_start() + self.index as u64 * header.version.entry_size()
    }

    /// The stored value of the start field.
    #[must_use]
    pub const fn start_field(&self) -> i64 {
        self.start_field
    }

    /// The size in bytes of code.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.size
    }

    /// The offset in bytes from the start of the FRE sub-section to the function's attributes (version 3) or first row
    /// (earlier versions).
    #[must_use]
    pub const fn fre_offset(&self) -> u32 {
        self.fre_offset
    }

    /// The section offset of the place to which `fre_offset` points.
    #[must_use]
    pub const fn rows_offset(&self) -> u64 {
        self.section.header().fre_start() + self.fre_offset as u64
    }

    /// The place where the function starts. Addresses wrap at 2^64, like the machine's.
    ///
    /// # Errors
    /// [`ErrorKind::MissingRelocation`] and [`ErrorKind::Discarded`] in relocatable objects.
    #[inline]
    pub fn start(&self) -> Result<CodeAddress, Error> {
        let placement = self.section.placement();
        let value = self.start_field.cast_unsigned();
        match placement.starts {
            Starts::Linked => {
                let base = if self.section.header().has_pcrel_starts() { self.offset() } else { 0 };
                let address = placement.address.wrapping_add(base).wrapping_add(value);
                Ok(CodeAddress::absolute(address))
            }
            Starts::Relocated(relocations) => {
                let offset = self.offset();
                let error = |kind| Error::new(offset, self.field(FunctionField::Start).name, kind);
                // GNU as and `ld -r` write one relocation for each function, in order.
                let relocation = usize::try_from(self.index)
                    .ok()
                    .and_then(|index| relocations.get(index))
                    .filter(|relocation| relocation.field_offset == offset)
                    .or_else(|| {
                        let found = relocations.binary_search_by_key(&offset, |r| r.field_offset);
                        relocations.get(found.ok()?)
                    })
                    .ok_or_else(|| error(ErrorKind::MissingRelocation))?;
                relocation.target.ok_or_else(|| error(ErrorKind::Discarded))
            }
        }
    }

    /// The place and name of a field of the function, in the table or in its attributes.
    #[must_use]
    pub const fn field(&self, field: FunctionField) -> FieldPlace {
        let version = self.section.header().version;
        let (entry, block) = (self.offset(), self.rows_offset());
        if version.number() < 3 {
            let place = field.in_table(version);
            return FieldPlace { offset: entry + place.offset, ..place };
        }
        match field {
            FunctionField::Start => FieldPlace::new(entry, 8, "sfdi_func_start_offset"),
            FunctionField::Size => FieldPlace::new(entry + 8, 4, "sfdi_func_size"),
            FunctionField::FreOffset => FieldPlace::new(entry + 12, 4, "sfdi_func_start_fre_off"),
            FunctionField::NumFres => FieldPlace::new(block, 2, "sfda_func_num_fres"),
            FunctionField::Info => FieldPlace::new(block + 2, 1, "sfda_func_info"),
            FunctionField::Info2 => FieldPlace::new(block + 3, 1, "sfda_func_info2"),
            FunctionField::RepSize | FunctionField::Padding => {
                FieldPlace::new(block + 4, 1, "sfda_func_rep_size")
            }
        }
    }

    /// The function with its attributes.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] if the attributes do not fit in the FRE sub-section (version 3).
    #[inline]
    pub fn function(self) -> Result<Function<'a>, Error> {
        let attributes = match self.section.header().version {
            Version::V1 | Version::V2 => self.table_attributes(),
            Version::V3 => self.block_attributes(),
        };
        match attributes {
            Some(attributes) => Ok(Function { entry: self, attributes }),
            None => Err(self.truncated_attributes()),
        }
    }

    #[cold]
    fn truncated_attributes(&self) -> Error {
        let available = self.section.fre_bytes().data.len() as u64;
        let available = available.saturating_sub(u64::from(self.fre_offset));
        let needed = self.section.header().version.attribute_size();
        let kind = ErrorKind::Truncated { needed, available };
        Error::new(self.rows_offset(), "sframe_func_desc_attr", kind)
    }

    fn table_attributes(&self) -> Option<Attributes> {
        let version = self.section.header().version;
        let table = self.section.table_bytes();
        let at = usize::try_from(u64::from(self.index) * version.entry_size()).ok()?;
        let (rep_size, padding) = match version {
            Version::V2 => (table.u8(at + 17)?, table.u16(at + 18)?),
            Version::V1 | Version::V3 => (0, 0),
        };
        Some(Attributes {
            num_fres: table.u32(at + 12)?,
            info: FunctionInfo(table.u8(at + 16)?),
            info2: FunctionInfo2(0),
            rep_size,
            padding,
        })
    }

    #[inline]
    fn block_attributes(&self) -> Option<Attributes> {
        let block = self.section.fre_bytes();
        let at = usize::try_from(self.fre_offset).ok()?;
        Some(Attributes {
            num_fres: u32::from(block.u16(at)?),
            info: FunctionInfo(block.u8(at + 2)?),
            info2: FunctionInfo2(block.u8(at + 3)?),
            rep_size: block.u8(at + 4)?,
            padding: 0,
        })
    }
}

impl<'a> Function<'a> {
    /// The function's entry in the table.
    #[must_use]
    pub const fn entry(&self) -> &FunctionEntry<'a> {
        &self.entry
    }

    /// How the function's rows are encoded.
    #[must_use]
    pub const fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// The section that contains the function.
    #[must_use]
    pub const fn section(&self) -> &'a Section<'a> {
        self.entry.section
    }

    /// The index in the table, from 0.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.entry.index
    }

    /// The size in bytes of code.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.entry.size
    }

    /// The place where the function starts; see [`FunctionEntry::start`].
    ///
    /// # Errors
    /// As for [`FunctionEntry::start`].
    pub fn start(&self) -> Result<CodeAddress, Error> {
        self.entry.start()
    }

    /// The stored number of rows. A version 3 function of FDE type DEFAULT without rows is an
    /// outermost frame (V3 1.2).
    #[must_use]
    pub const fn num_rows(&self) -> u32 {
        self.attributes.num_fres
    }

    /// Whether the function is marked as a signal frame, which is possible only in version 3.
    #[must_use]
    pub fn is_signal_frame(&self) -> bool {
        self.section().header().version == Version::V3
            && self.attributes.info.0 & FunctionInfo::SIGNAL != 0
    }

    /// Whether the function is marked as an outermost frame by having no rows: version 3, FDE type DEFAULT (V3 1.2).
    /// The text does not exempt signal frames, although GNU as also writes such an entry for signal frames that it
    /// cannot describe (observed: 2.47.50).
    #[must_use]
    pub fn is_outermost(&self) -> bool {
        self.section().header().version == Version::V3
            && self.attributes.num_fres == 0
            && self.attributes.info2.fde_type_code() == FunctionInfo2::DEFAULT
    }

    /// Whether its rows are flexible (version 3).
    #[must_use]
    pub const fn is_flexible(&self) -> bool {
        self.attributes.info2.fde_type_code() == FunctionInfo2::FLEX
    }

    /// The size in bytes of the repeated block to which the rows apply; `None` for ordinary code.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownRepeatSize`] if the rows repeat, but the size is 0 or the version does not record it
    /// (version 1).
    pub fn repeat_size(&self) -> Result<Option<u8>, Error> {
        if !self.attributes.info.is_pc_mask() {
            return Ok(None);
        }
        match self.attributes.rep_size {
            0 => {
                let place = self.entry.field(FunctionField::RepSize);
                Err(Error::new(place.offset, place.name, ErrorKind::UnknownRepeatSize))
            }
            size => Ok(Some(size)),
        }
    }

    /// The width of the rows' start fields.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownFreType`].
    pub fn fre_type(&self) -> Result<FreType, Error> {
        let code = self.attributes.info.fre_type_code();
        FreType::from_code(code).ok_or_else(|| {
            let place = self.entry.field(FunctionField::Info);
            Error::new(place.offset, place.name, ErrorKind::UnknownFreType(code))
        })
    }

    /// The section offset of the first row.
    #[must_use]
    pub const fn first_row_offset(&self) -> u64 {
        self.entry.rows_offset() + self.section().header().version.attribute_size()
    }
}

/// The fields of a function's description, in the table and in its attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionField {
    /// The place where the function starts.
    Start,
    /// The size in bytes of code.
    Size,
    /// The place of its rows.
    FreOffset,
    /// The number of rows.
    NumFres,
    /// The first info byte.
    Info,
    /// The second info byte (version 3; in earlier versions, the first one).
    Info2,
    /// The size of the repeated block (since version 2; in version 1, the info byte).
    RepSize,
    /// The padding (version 2; in other versions, the last field).
    Padding,
}

impl FunctionField {
    /// The field's place in a table entry of version 1 or 2.
    const fn in_table(self, version: Version) -> FieldPlace {
        match self {
            FunctionField::Start => FieldPlace::new(0, 4, "sfde_func_start_address"),
            FunctionField::Size => FieldPlace::new(4, 4, "sfde_func_size"),
            FunctionField::FreOffset => FieldPlace::new(8, 4, "sfde_func_start_fre_off"),
            FunctionField::NumFres => FieldPlace::new(12, 4, "sfde_func_num_fres"),
            FunctionField::RepSize if version.number() > 1 => {
                FieldPlace::new(17, 1, "sfde_func_rep_size")
            }
            FunctionField::Padding if version.number() > 1 => {
                FieldPlace::new(18, 2, "sfde_func_padding2")
            }
            FunctionField::Info
            | FunctionField::Info2
            | FunctionField::RepSize
            | FunctionField::Padding => FieldPlace::new(16, 1, "sfde_func_info"),
        }
    }
}
