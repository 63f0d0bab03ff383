//! Encoded pointers (LSB 10.6) and the relocations that give them their values in objects.

use gimli::constants as dw;
use gimli::{DwEhPe, EndianSlice, Reader, RunTimeEndian};
use sframe_validator::Endian;
use sframe_validator::elf::{EM_AARCH64, EM_S390, EM_X86_64, Relocation};
use sframe_validator::unwind::CodeAddress;

use super::error::CfiErrorKind;

pub(crate) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// gimli's name of a byte order.
pub(crate) const fn byte_order(endian: Endian) -> RunTimeEndian {
    match endian {
        Endian::Little => RunTimeEndian::Little,
        Endian::Big => RunTimeEndian::Big,
    }
}

/// `DW_EH_PE_indirect` as a bit.
const INDIRECT: u8 = 0x80;

/// Relocations of a section with data, ordered by offset.
#[derive(Clone, Debug)]
pub(crate) struct Relocations {
    pub(crate) entries: Vec<Relocation>,
    pub(crate) machine: u16,
}

/// The computation of a relocation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Formula {
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

    /// The target of a field of `width` bytes, and how its value is computed; `None` if it has no such relocation.
    pub(crate) fn field(&self, offset: u64, width: usize) -> Option<(CodeAddress, Formula)> {
        let relocation = self.at(offset)?;
        let (formula, bytes) = self.formula(relocation.kind)?;
        Some((relocation.target().filter(|_| usize::from(bytes) == width)?, formula))
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

/// The signed 4-byte distance from the field to the target: `DW_EH_PE_pcrel` and `DW_EH_PE_sdata4`.
const PC_RELATIVE: u8 = 0x1b;

/// Whether a pointer encoding is defined and denotes an address, whatever its base. The format of `DW_EH_PE_omit` is not
/// defined.
pub(crate) const fn is_defined(encoding: u8) -> bool {
    let format = matches!(encoding & 0xf, 0..=4 | 9..=12);
    format && encoding & 0x70 <= dw::DW_EH_PE_aligned.0
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The psABIs of AMD64 (table "Relocation Types"), AArch64 ("Static Data relocations") and s390x ("Relocation
    /// Types"): the computation, and the width in bytes.
    #[test]
    fn relocation_types_of_addresses() {
        let absolute = [
            (EM_X86_64, 1, 8),
            (EM_X86_64, 10, 4),
            (EM_X86_64, 11, 4),
            (EM_AARCH64, 257, 8),
            (EM_AARCH64, 258, 4),
            (EM_S390, 4, 4),
            (EM_S390, 22, 8),
        ];
        let relative = [
            (EM_X86_64, 2, 4),
            (EM_X86_64, 24, 8),
            (EM_AARCH64, 260, 8),
            (EM_AARCH64, 261, 4),
            (EM_S390, 5, 4),
            (EM_S390, 23, 8),
        ];
        // R_X86_64_NONE, R_X86_64_PLT32, R_AARCH64_ABS16, R_390_16, and a number of another machine.
        let other =
            [(EM_X86_64, 0), (EM_X86_64, 4), (EM_AARCH64, 259), (EM_S390, 3), (EM_AARCH64, 2)];
        let formula = |machine, kind| Relocations { entries: Vec::new(), machine }.formula(kind);
        for (machine, kind, width) in absolute {
            assert!(formula(machine, kind) == Some((Formula::Absolute, width)), "{machine} {kind}");
        }
        for (machine, kind, width) in relative {
            let wanted = Some((Formula::PcRelative, width));
            assert!(formula(machine, kind) == wanted, "{machine} {kind}");
        }
        for (machine, kind) in other {
            assert!(formula(machine, kind).is_none(), "{machine} {kind}");
        }
    }

    /// LSB 10.5.1: formats 0 to 4 and 9 to 12, applications 0 (absolute) to 0x50 (aligned), and the bit for an indirect
    /// address. 0xff means that there is no value.
    #[test]
    fn encodings_of_the_lsb() {
        for encoding in 0..=0xff_u8 {
            let format = [0, 1, 2, 3, 4, 9, 10, 11, 12].contains(&(encoding % 16));
            let application = encoding / 16 % 8 <= 5;
            assert_eq!(is_defined(encoding), format && application, "{encoding:#x}");
        }
        assert!(!is_defined(0xff));
    }

    /// A section of 4 GiB would be needed to reach these addresses otherwise.
    #[test]
    fn sums_wrap_at_the_size_of_an_address() {
        let bases =
            |section| Bases { section, text: Some(0x20), data: Some(0x30), relocations: None };
        // The distance -0x20, in each width, and in the size of an address.
        let bytes = [0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        for (encoding, address_size, section, wanted) in [
            (0x1b, 8, 0x10, u64::MAX - 0xf),
            (0x1b, 4, 0x10, 0xffff_fff0),
            (0x1b, 2, 0x10, 0xfff0),
            (0x1a, 4, 0x10, 0xffff_fff0),
            (0x1b, 4, 0x1_0020, 0x1_0000),
            (0x1b, 2, 0x1_0020, 0),
            (0x2b, 4, 0, 0),
            (0x3b, 4, 0, 0x10),
            (0x0b, 4, 0, 0xffff_ffe0),
            (0x00, 2, 0, 0xffe0),
            (0x00, 4, 0, 0xffff_ffe0),
            (0x00, 8, 0, u64::MAX - 0x1f),
        ] {
            let whole = Slice::new(&bytes, RunTimeEndian::Little);
            let mut input = whole;
            let read = bases(section).read(&mut input, whole, encoding, address_size);
            let wanted = Ok(CodeAddress::absolute(wanted));
            assert_eq!(read, wanted, "{encoding:#x} {address_size} {section:#x}");
        }
    }

    /// Padding makes the field's address, which is the section's plus the offset, a multiple of the address size.
    #[test]
    fn padding_depends_on_the_address() {
        for (section, size, padding) in
            [(0, 8, 0), (1, 8, 7), (7, 8, 1), (8, 8, 0), (6, 4, 2), (5, 2, 1), (4, 2, 0)]
        {
            let bases = Bases { section, text: None, data: None, relocations: None };
            let whole = Slice::new(&[0; 16], RunTimeEndian::Little);
            let mut input = whole;
            assert_eq!(bases.skip(&mut input, whole, 0x50, size), Ok(()));
            assert_eq!(16 - input.len(), padding + usize::from(size), "{section} {size}");
            // Without padding, and without a value.
            for (encoding, width) in [(0x00, usize::from(size)), (0x1a, 2), (0x9b, 4), (0xff, 0)] {
                let mut input = whole;
                assert_eq!(bases.skip(&mut input, whole, encoding, size), Ok(()));
                assert_eq!(16 - input.len(), width, "{encoding:#x}");
            }
        }
    }
}
