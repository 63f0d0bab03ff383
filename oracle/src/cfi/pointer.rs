//! Encoded pointers (LSB 10.6) and the relocations that give them their values in objects.

use gimli::constants as dw;
use gimli::{DwEhPe, EndianSlice, Reader, RunTimeEndian};
use sframe_validator::elf::{EM_AARCH64, EM_S390, EM_X86_64, Relocation};
use sframe_validator::unwind::CodeAddress;

use super::error::CfiErrorKind;

pub(crate) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// `DW_EH_PE_indirect` as a bit.
const INDIRECT: u8 = 0x80;

/// Relocations of a CFI section, ordered by offset.
#[derive(Clone, Debug)]
pub(crate) struct Relocations {
    pub(crate) entries: Vec<Relocation>,
    pub(crate) machine: u16,
}

/// The computation of a relocation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Formula {
    /// `S + A`.
    Absolute,
    /// `S + A - P`.
    PcRelative,
}

impl Relocations {
    pub(crate) fn at(&self, offset: u64) -> Option<&Relocation> {
        let index = self.entries.partition_point(|relocation| relocation.offset < offset);
        self.entries.get(index).filter(|relocation| relocation.offset == offset)
    }

    /// The formula and the width in bytes of a relocation type, given by its number in the machine's ABI.
    const fn formula(&self, kind: u32) -> Option<(Formula, u8)> {
        Some(match (self.machine, kind) {
            // R_X86_64_PC32, _PC64, _64, _32, _32S.
            (EM_X86_64, 2) => (Formula::PcRelative, 4),
            (EM_X86_64, 24) => (Formula::PcRelative, 8),
            (EM_X86_64, 1) => (Formula::Absolute, 8),
            (EM_X86_64, 10 | 11) => (Formula::Absolute, 4),
            // R_AARCH64_PREL64, _PREL32, _ABS64, _ABS32.
            (EM_AARCH64, 260) => (Formula::PcRelative, 8),
            (EM_AARCH64, 261) => (Formula::PcRelative, 4),
            (EM_AARCH64, 257) => (Formula::Absolute, 8),
            (EM_AARCH64, 258) => (Formula::Absolute, 4),
            // R_390_PC32, _PC64, _32, _64.
            (EM_S390, 5) => (Formula::PcRelative, 4),
            (EM_S390, 23) => (Formula::PcRelative, 8),
            (EM_S390, 4) => (Formula::Absolute, 4),
            (EM_S390, 22) => (Formula::Absolute, 8),
            _ => return None,
        })
    }

    fn target(
        &self,
        offset: u64,
        wanted: Formula,
        width: usize,
    ) -> Result<CodeAddress, CfiErrorKind> {
        let relocation = self.at(offset).ok_or(CfiErrorKind::MissingRelocation)?;
        if relocation.is_none() {
            return Err(CfiErrorKind::Discarded);
        }
        let fits = self
            .formula(relocation.kind)
            .is_some_and(|(formula, bytes)| formula == wanted && usize::from(bytes) == width);
        if !fits {
            return Err(CfiErrorKind::RelocationType(relocation.kind));
        }
        relocation.target().ok_or(CfiErrorKind::UnresolvedRelocation)
    }

    /// The value of an absolute field; `None` if it lacks a relocation.
    pub(crate) fn absolute(
        &self,
        offset: u64,
        width: usize,
    ) -> Option<Result<CodeAddress, CfiErrorKind>> {
        self.at(offset)?;
        Some(self.target(offset, Formula::Absolute, width))
    }
}

/// The bases of a section's encoded pointers.
#[derive(Clone, Debug)]
pub(crate) struct Bases {
    /// The section's address.
    pub(crate) section: u64,
    /// The address of `.text`, for `DW_EH_PE_textrel`.
    pub(crate) text: Option<u64>,
    /// The address of `.got`, for `DW_EH_PE_datarel`.
    pub(crate) data: Option<u64>,
    /// Relocations, in a relocatable object.
    pub(crate) relocations: Option<Relocations>,
}

/// The signed 4-byte distance from the field to the target.
const PC_RELATIVE: u8 = dw::DW_EH_PE_pcrel.0 | dw::DW_EH_PE_sdata4.0;

/// Whether a pointer encoding is defined and denotes an address, whatever its base.
pub(crate) const fn is_defined(encoding: u8) -> bool {
    let format = matches!(encoding & 0xf, 0..=4 | 9..=12);
    let base = encoding & 0x70 <= dw::DW_EH_PE_aligned.0;
    format && base && encoding != dw::DW_EH_PE_omit.0
}

/// Reads an integer in the encoding's format, sign-extended if the format is signed.
#[inline]
pub(crate) fn read_value(
    input: &mut Slice<'_>,
    encoding: u8,
    address_size: u8,
) -> Result<u64, CfiErrorKind> {
    Ok(match DwEhPe(encoding & 0xf) {
        dw::DW_EH_PE_absptr => match address_size {
            2 => u64::from(input.read_u16()?),
            4 => u64::from(input.read_u32()?),
            _ => input.read_u64()?,
        },
        dw::DW_EH_PE_uleb128 => input.read_uleb128()?,
        dw::DW_EH_PE_udata2 => u64::from(input.read_u16()?),
        dw::DW_EH_PE_udata4 => u64::from(input.read_u32()?),
        dw::DW_EH_PE_udata8 => input.read_u64()?,
        dw::DW_EH_PE_sleb128 => input.read_sleb128()?.cast_unsigned(),
        dw::DW_EH_PE_sdata2 => i64::from(input.read_i16()?).cast_unsigned(),
        dw::DW_EH_PE_sdata4 => i64::from(input.read_i32()?).cast_unsigned(),
        dw::DW_EH_PE_sdata8 => input.read_i64()?.cast_unsigned(),
        _ => return Err(CfiErrorKind::PointerEncoding(encoding)),
    })
}

/// Truncates a wrapped sum to the size of an address.
const fn clip(value: u64, address_size: u8) -> u64 {
    match address_size {
        2 => value & 0xffff,
        4 => value & 0xffff_ffff,
        _ => value,
    }
}

impl Bases {
    /// Skips the padding of `DW_EH_PE_aligned`, which makes the field's address a multiple of the
    /// address size.
    fn align(
        &self,
        input: &mut Slice<'_>,
        whole: Slice<'_>,
        address_size: u8,
    ) -> Result<(), CfiErrorKind> {
        let at = self.section.wrapping_add(input.offset_from(whole) as u64);
        let size = u64::from(address_size.max(1));
        let padding = (size - at % size) % size;
        input.skip(usize::try_from(padding).unwrap_or_default())?;
        Ok(())
    }

    /// Skips a pointer whose value is not needed.
    pub(crate) fn skip(
        &self,
        input: &mut Slice<'_>,
        whole: Slice<'_>,
        encoding: u8,
        address_size: u8,
    ) -> Result<(), CfiErrorKind> {
        if encoding == dw::DW_EH_PE_omit.0 {
            return Ok(());
        }
        if encoding == dw::DW_EH_PE_aligned.0 {
            self.align(input, whole, address_size)?;
        }
        read_value(input, encoding, address_size).map(|_| ())
    }

    /// Reads a pointer into code.
    #[inline]
    pub(crate) fn read(
        &self,
        input: &mut Slice<'_>,
        whole: Slice<'_>,
        encoding: u8,
        address_size: u8,
    ) -> Result<CodeAddress, CfiErrorKind> {
        // The encoding of nearly all linked files.
        if encoding == PC_RELATIVE && address_size == 8 && self.relocations.is_none() {
            let place = self.section.wrapping_add(input.offset_from(whole) as u64);
            let distance = i64::from(input.read_i32()?);
            return Ok(CodeAddress::absolute(place.wrapping_add_signed(distance)));
        }
        if encoding == dw::DW_EH_PE_omit.0 {
            return Err(CfiErrorKind::PointerEncoding(encoding));
        }
        if encoding & INDIRECT != 0 {
            return Err(CfiErrorKind::IndirectPointer(encoding));
        }
        if encoding == dw::DW_EH_PE_aligned.0 {
            self.align(input, whole, address_size)?;
        }
        let offset = input.offset_from(whole) as u64;
        let before = input.len();
        let value = read_value(input, encoding, address_size)?;
        if let Some(relocations) = &self.relocations {
            let formula = match DwEhPe(encoding & 0x70) {
                dw::DW_EH_PE_absptr | dw::DW_EH_PE_aligned => Formula::Absolute,
                dw::DW_EH_PE_pcrel => Formula::PcRelative,
                _ => return Err(CfiErrorKind::PointerEncoding(encoding)),
            };
            return relocations.target(offset, formula, before - input.len());
        }
        let base = match DwEhPe(encoding & 0x70) {
            dw::DW_EH_PE_absptr | dw::DW_EH_PE_aligned => Some(0),
            dw::DW_EH_PE_pcrel => Some(self.section.wrapping_add(offset)),
            dw::DW_EH_PE_textrel => self.text,
            dw::DW_EH_PE_datarel => self.data,
            _ => None,
        };
        let base = base.ok_or(CfiErrorKind::PointerEncoding(encoding))?;
        Ok(CodeAddress::absolute(clip(base.wrapping_add(value), address_size)))
    }
}
