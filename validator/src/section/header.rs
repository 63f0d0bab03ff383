//! The preamble and the header, whose 28 bytes have the same layout in every version (V3 2.1, 2.2).

use super::bytes::Bytes;
use super::error::{Error, ErrorKind};
use super::field;
use crate::abi::Endian;

/// `SFRAME_MAGIC` in the section's own byte order.
pub const MAGIC: u16 = 0xdee2;
/// The size of the preamble in bytes.
pub const PREAMBLE_SIZE: u64 = 4;
/// The size in bytes of the header without its auxiliary part.
pub const HEADER_SIZE: u64 = 28;

/// A version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// `SFRAME_VERSION_1`, binutils 2.40; obsolete.
    V1,
    /// `SFRAME_VERSION_2`, binutils 2.41 to 2.45 and LLVM.
    V2,
    /// `SFRAME_VERSION_3`, binutils since 2.46.
    V3,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Version; 3] = [Version::V1, Version::V2, Version::V3];

    /// The version with a number; `None` if there is no such version.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Version> {
        match number {
            1 => Some(Version::V1),
            2 => Some(Version::V2),
            3 => Some(Version::V3),
            _ => None,
        }
    }

    /// The number stored in `sfp_version`.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Version::V1 => 1,
            Version::V2 => 2,
            Version::V3 => 3,
        }
    }

    /// The size in bytes of an entry of the function table.
    #[must_use]
    pub const fn entry_size(self) -> u64 {
        match self {
            Version::V1 => 17,
            Version::V2 => 20,
            Version::V3 => 16,
        }
    }

    /// The size in bytes of the attributes before a function's rows (V3 2.3.2); 0 before version 3.
    #[must_use]
    pub const fn attribute_size(self) -> u64 {
        match self {
            Version::V1 | Version::V2 => 0,
            Version::V3 => 5,
        }
    }

    /// The largest number of rows that a function can state.
    #[must_use]
    pub const fn max_rows(self) -> u32 {
        match self {
            Version::V1 | Version::V2 => u32::MAX,
            Version::V3 => u16::MAX as u32,
        }
    }

    /// The flags that the version defines; all other bits must be zero.
    #[must_use]
    pub const fn defined_flags(self) -> u8 {
        match self {
            Version::V1 => Flags::SORTED | Flags::FRAME_POINTER,
            Version::V2 => Flags::SORTED | Flags::FRAME_POINTER | Flags::PCREL,
            Version::V3 => Flags::SORTED | Flags::PCREL,
        }
    }
}

/// `sfp_flags`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// `SFRAME_F_FDE_SORTED`: the function table is ordered by address.
    pub const SORTED: u8 = 0x1;
    /// `SFRAME_F_FRAME_POINTER`: every function keeps the frame pointer (versions 1 and 2).
    pub const FRAME_POINTER: u8 = 0x2;
    /// `SFRAME_F_FDE_FUNC_START_PCREL`: a start field is relative to itself (version 2, errata 1).
    pub const PCREL: u8 = 0x4;

    /// Whether the function table is ordered by address.
    #[must_use]
    pub const fn sorted(self) -> bool {
        self.0 & Flags::SORTED != 0
    }

    /// Whether every function keeps the frame pointer.
    #[must_use]
    pub const fn frame_pointer(self) -> bool {
        self.0 & Flags::FRAME_POINTER != 0
    }

    /// Whether a function's start field is relative to the field itself instead of the section, if the version defines
    /// the flag: see [`Header::has_pcrel_starts`].
    #[must_use]
    pub const fn pcrel(self) -> bool {
        self.0 & Flags::PCREL != 0
    }
}

/// The preamble, whose layout is the same in every version, even in one that does not exist (V3 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preamble {
    /// The byte order in which the magic number is right.
    pub endian: Endian,
    /// The number in `sfp_version`.
    pub version: u8,
    /// `sfp_flags`.
    pub flags: Flags,
}

impl Preamble {
    /// Reads the preamble; `None` if it is truncated, or if the magic number is wrong.
    #[must_use]
    pub const fn read(data: &[u8]) -> Option<Preamble> {
        let (endian, version, flags) = match *data {
            [0xe2, 0xde, version, flags, ..] => (Endian::Little, version, flags),
            [0xde, 0xe2, version, flags, ..] => (Endian::Big, version, flags),
            _ => return None,
        };
        Some(Preamble { endian, version, flags: Flags(flags) })
    }
}

/// The decoded header. It has the stored values, which are not checked for consistency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// `sfp_version`.
    pub version: Version,
    /// `sfp_flags`.
    pub flags: Flags,
    /// `sfh_abi_arch`; see [`Abi::from_id`](crate::Abi::from_id).
    pub abi_arch: u8,
    /// `sfh_cfa_fixed_fp_offset`: FP is always at this offset from the CFA; 0 if it is not fixed.
    pub cfa_fixed_fp_offset: i8,
    /// `sfh_cfa_fixed_ra_offset`: RA is always at this offset from the CFA; 0 if it is not fixed.
    pub cfa_fixed_ra_offset: i8,
    /// `sfh_auxhdr_len`: the size in bytes of the auxiliary header, which follows the 28 bytes.
    pub auxhdr_len: u8,
    /// `sfh_num_fdes`: the number of functions.
    pub num_fdes: u32,
    /// `sfh_num_fres`: the number of rows of all functions.
    pub num_fres: u32,
    /// `sfh_fre_len`: the size in bytes of the FRE sub-section.
    pub fre_len: u32,
    /// `sfh_fdeoff`: bytes from the header's end to the function table.
    pub fdeoff: u32,
    /// `sfh_freoff`: bytes from the header's end to the FRE sub-section.
    pub freoff: u32,
}

impl Header {
    /// Whether start fields are relative to themselves. Version 1 does not define the flag for it.
    #[must_use]
    pub const fn has_pcrel_starts(&self) -> bool {
        self.flags.pcrel() && !matches!(self.version, Version::V1)
    }

    /// Decodes the header. The byte order is `endian` if the caller requires one, otherwise the one in which the magic
    /// number is right.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`], [`ErrorKind::BadMagic`], [`ErrorKind::UnknownVersion`].
    pub fn parse(data: &[u8], endian: Option<Endian>) -> Result<(Header, Endian), Error> {
        let endian = endian.unwrap_or(match data {
            [0xde, 0xe2, ..] => Endian::Big,
            _ => Endian::Little,
        });
        let bytes = Bytes::new(data, endian);
        let magic = bytes.u16(0).ok_or_else(|| truncated(data, PREAMBLE_SIZE))?;
        if magic != MAGIC {
            return Err(Error::new(
                field::MAGIC.offset,
                field::MAGIC.name,
                ErrorKind::BadMagic(magic),
            ));
        }
        let number = bytes.u8(2).ok_or_else(|| truncated(data, PREAMBLE_SIZE))?;
        let version = Version::from_number(number).ok_or_else(|| {
            Error::new(
                field::VERSION.offset,
                field::VERSION.name,
                ErrorKind::UnknownVersion(number),
            )
        })?;
        let header = Header::decode(bytes, version).ok_or_else(|| truncated(data, HEADER_SIZE))?;
        Ok((header, endian))
    }

    fn decode(bytes: Bytes<'_>, version: Version) -> Option<Header> {
        Some(Header {
            version,
            flags: Flags(bytes.u8(3)?),
            abi_arch: bytes.u8(4)?,
            cfa_fixed_fp_offset: bytes.u8(5)?.cast_signed(),
            cfa_fixed_ra_offset: bytes.u8(6)?.cast_signed(),
            auxhdr_len: bytes.u8(7)?,
            num_fdes: bytes.u32(8)?,
            num_fres: bytes.u32(12)?,
            fre_len: bytes.u32(16)?,
            fdeoff: bytes.u32(20)?,
            freoff: bytes.u32(24)?,
        })
    }

    /// The size in bytes of the header with its auxiliary part, from whose end `fdeoff` and `freoff` count.
    #[must_use]
    pub const fn size(&self) -> u64 {
        HEADER_SIZE + self.auxhdr_len as u64
    }

    /// The section offset of the function table.
    #[must_use]
    pub const fn fde_table_start(&self) -> u64 {
        self.size() + self.fdeoff as u64
    }

    /// The section offset of the function table's end, exclusive.
    #[must_use]
    pub const fn fde_table_end(&self) -> u64 {
        self.fde_table_start() + self.num_fdes as u64 * self.version.entry_size()
    }

    /// The section offset of the FRE sub-section.
    #[must_use]
    pub const fn fre_start(&self) -> u64 {
        self.size() + self.freoff as u64
    }

    /// The section offset of the FRE sub-section's end, exclusive.
    #[must_use]
    pub const fn fre_end(&self) -> u64 {
        self.fre_start() + self.fre_len as u64
    }
}

fn truncated(data: &[u8], needed: u64) -> Error {
    let available = data.len() as u64;
    Error::new(0, "sframe_header", ErrorKind::Truncated { needed, available })
}
