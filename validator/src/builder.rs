//! Writes sections: from functions and rows to bytes, of every version, ABI and byte order.
//!
//! What is left to the builder it does as the best producer would: the narrowest encodings, the
//! table sorted, nothing between the parts. What is said explicitly it writes as it is told, also
//! what no reader should accept: every field of the header, of a function and of a row can be
//! [overridden](HeaderOverrides), which tests and fuzzers live on.
//!
//! ```
//! use sframe_validator::builder::{FunctionBuilder, SectionBuilder};
//! use sframe_validator::unwind::{Cfa, Frame, Recovery};
//! use sframe_validator::{Abi, Placement, Section, Version};
//!
//! let frame = Frame {
//!     cfa: Cfa::RegisterOffset { register: Abi::Amd64.sp(), offset: 8 },
//!     ra: Recovery::AtCfa(-8),
//!     fp: Recovery::Unchanged,
//!     ra_signed: false,
//! };
//! let mut builder = SectionBuilder::new(Version::V3, Abi::Amd64);
//! builder.address(0x4000).function(FunctionBuilder::new(0x1000, 16).row(0, frame));
//! let bytes = builder.build()?.bytes;
//! let section = Section::parse(&bytes, Placement::at(0x4000))?;
//! assert_eq!(section.find(0x1008)?.expect("covered").1.frame, frame);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod encode;
mod function;

pub use function::{FunctionBuilder, FunctionOverrides, RowBuilder};

use alloc::vec::Vec;
use core::fmt;

use crate::abi::{Abi, Endian};
use crate::section::{Flags, HEADER_SIZE, MAGIC, Version};
use function::EncodedFunction;

/// A section to be written.
#[derive(Clone, Debug)]
pub struct SectionBuilder {
    version: Version,
    abi: Abi,
    endian: Endian,
    address: u64,
    relocatable: bool,
    functions: Vec<FunctionBuilder>,
    /// What to write in the header instead of what would be right.
    pub overrides: HeaderOverrides,
}

/// Values to write instead of what would be right; the other fields follow what is written, not
/// what is overridden.
#[derive(Clone, Debug, Default)]
pub struct HeaderOverrides {
    /// `sfp_magic`.
    pub magic: Option<u16>,
    /// `sfp_version`; the layout stays that of the builder's version.
    pub version: Option<u8>,
    /// `sfp_flags`; the table is sorted and start fields count from themselves as these say.
    pub flags: Option<u8>,
    /// `sfh_abi_arch`.
    pub abi_arch: Option<u8>,
    /// `sfh_cfa_fixed_fp_offset`.
    pub cfa_fixed_fp_offset: Option<i8>,
    /// `sfh_cfa_fixed_ra_offset`.
    pub cfa_fixed_ra_offset: Option<i8>,
    /// `sfh_auxhdr_len`.
    pub auxhdr_len: Option<u8>,
    /// `sfh_num_fdes`.
    pub num_fdes: Option<u32>,
    /// `sfh_num_fres`.
    pub num_fres: Option<u32>,
    /// `sfh_fre_len`.
    pub fre_len: Option<u32>,
    /// `sfh_fdeoff`.
    pub fdeoff: Option<u32>,
    /// `sfh_freoff`.
    pub freoff: Option<u32>,
    /// The auxiliary header's bytes.
    pub auxiliary: Vec<u8>,
    /// Bytes between the header and the function table.
    pub gap_before_functions: Vec<u8>,
    /// Bytes between the function table and the rows.
    pub gap_before_rows: Vec<u8>,
    /// Bytes behind the last function's rows that `sfh_fre_len` counts.
    pub unused_rows: Vec<u8>,
    /// Bytes behind the FRE sub-section.
    pub trailing: Vec<u8>,
}

/// A written section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The section's bytes.
    pub bytes: Vec<u8>,
    /// Section offsets of the functions' start fields, in the order in which the functions were
    /// given: where a relocatable object needs its relocations.
    pub start_fields: Vec<u64>,
}

/// What cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The version, or the ABI in it, has no encoding for what a row says.
    NotRepresentable {
        /// The function, in the order in which they were given.
        function: usize,
        /// The row in the function.
        row: usize,
    },
    /// The version has no place for what a function is marked as: a signal frame before version 3,
    /// or in version 1 the size of a repeated block.
    NotInVersion {
        /// The function, in the order in which they were given.
        function: usize,
    },
    /// A function is too far from the section for the version's start field.
    StartOutOfRange {
        /// The function, in the order in which they were given.
        function: usize,
    },
    /// More functions, rows or bytes than the format's fields can count: 65,535 rows a function in
    /// version 3.
    TooLarge,
}

impl core::error::Error for BuildError {}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::NotRepresentable { function, row } => {
                write!(f, "row {row} of function {function} has no encoding in this version")
            }
            BuildError::NotInVersion { function } => {
                write!(f, "the version has no mark for what function {function} is")
            }
            BuildError::StartOutOfRange { function } => {
                write!(f, "function {function} is too far away for the version's start field")
            }
            BuildError::TooLarge => f.write_str("the section is too large for the format's fields"),
        }
    }
}

impl SectionBuilder {
    /// A linked section at address 0 in the ABI's byte order, without functions.
    #[must_use]
    pub fn new(version: Version, abi: Abi) -> SectionBuilder {
        SectionBuilder {
            version,
            abi,
            endian: abi.endian(),
            address: 0,
            relocatable: false,
            functions: Vec::new(),
            overrides: HeaderOverrides::default(),
        }
    }

    /// The address that start fields are computed for.
    pub fn address(&mut self, address: u64) -> &mut SectionBuilder {
        self.address = address;
        self
    }

    /// The byte order, where it shall not be the ABI's.
    pub fn endian(&mut self, endian: Endian) -> &mut SectionBuilder {
        self.endian = endian;
        self
    }

    /// Makes it a section of a relocatable object: start fields are 0 and the table is unsorted.
    pub fn relocatable(&mut self) -> &mut SectionBuilder {
        self.relocatable = true;
        self
    }

    /// Adds a function.
    pub fn function(&mut self, function: FunctionBuilder) -> &mut SectionBuilder {
        self.functions.push(function);
        self
    }

    /// Changes header fields and the space between the parts.
    pub fn with(&mut self, change: impl FnOnce(&mut HeaderOverrides)) -> &mut SectionBuilder {
        change(&mut self.overrides);
        self
    }

    fn flags(&self) -> Flags {
        let usual = match (self.relocatable, self.version) {
            (false, Version::V1) => Flags::SORTED,
            (false, Version::V2 | Version::V3) => Flags::SORTED | Flags::PCREL,
            (true, Version::V1) => 0,
            (true, Version::V2 | Version::V3) => Flags::PCREL,
        };
        Flags(self.overrides.flags.unwrap_or(usual))
    }

    /// The functions' positions in the table: by address where the flags say that it is sorted.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.functions.len()).collect();
        if self.flags().sorted() {
            order.sort_by_key(|&index| self.functions.get(index).map(FunctionBuilder::start));
        }
        order
    }

    /// The section's bytes.
    ///
    /// # Errors
    /// [`BuildError`]: what is not overridden does not fit the format.
    pub fn build(&self) -> Result<Built, BuildError> {
        let order = self.order();
        let mut rows = Vec::new();
        let mut encoded = Vec::new();
        for (position, &index) in order.iter().enumerate() {
            let Some(function) = self.functions.get(index) else { continue };
            if !function.fits(self.version) {
                return Err(BuildError::NotInVersion { function: index });
            }
            let fre_offset = u32::try_from(rows.len()).map_err(|_| BuildError::TooLarge)?;
            let function = EncodedFunction::encode(self, function, fre_offset)
                .map_err(|row| BuildError::NotRepresentable { function: index, row })?;
            if function.num_fres > self.version.max_rows() {
                return Err(BuildError::TooLarge);
            }
            rows.extend_from_slice(&function.rows);
            encoded.push((position, index, function));
        }
        let num_fres = encoded.iter().map(|(_, _, function)| u64::from(function.num_fres)).sum();
        rows.extend_from_slice(&self.overrides.unused_rows);
        let mut out = Writer { bytes: Vec::new(), endian: self.endian };
        self.write_header(&mut out, num_fres, rows.len())?;
        out.bytes.extend_from_slice(&self.overrides.auxiliary);
        out.bytes.extend_from_slice(&self.overrides.gap_before_functions);
        let mut start_fields = alloc::vec![0; self.functions.len()];
        for (_, index, function) in &encoded {
            let field = out.bytes.len() as u64;
            if let Some(slot) = start_fields.get_mut(*index) {
                *slot = field;
            }
            function
                .write_entry(self, &mut out, field)
                .ok_or(BuildError::StartOutOfRange { function: *index })?;
        }
        out.bytes.extend_from_slice(&self.overrides.gap_before_rows);
        out.bytes.extend_from_slice(&rows);
        out.bytes.extend_from_slice(&self.overrides.trailing);
        Ok(Built { bytes: out.bytes, start_fields })
    }

    fn write_header(
        &self,
        out: &mut Writer,
        num_fres: u64,
        fre_len: usize,
    ) -> Result<(), BuildError> {
        let o = &self.overrides;
        let count = |value: u64| u32::try_from(value).map_err(|_| BuildError::TooLarge);
        let functions = self.functions.len() as u64;
        let fdeoff = o.gap_before_functions.len() as u64;
        let freoff =
            fdeoff + functions * self.version.entry_size() + o.gap_before_rows.len() as u64;
        let auxiliary = u8::try_from(o.auxiliary.len()).map_err(|_| BuildError::TooLarge)?;
        out.u16(o.magic.unwrap_or(MAGIC));
        out.u8(o.version.unwrap_or(self.version.number()));
        out.u8(self.flags().0);
        out.u8(o.abi_arch.unwrap_or(self.abi.id()));
        out.u8(o.cfa_fixed_fp_offset.unwrap_or(0).cast_unsigned());
        out.u8(o.cfa_fixed_ra_offset.unwrap_or(self.abi.fixed_ra_offset()).cast_unsigned());
        out.u8(o.auxhdr_len.unwrap_or(auxiliary));
        out.u32(o.num_fdes.unwrap_or(count(functions)?));
        out.u32(o.num_fres.unwrap_or(count(num_fres)?));
        out.u32(o.fre_len.unwrap_or(count(fre_len as u64)?));
        out.u32(o.fdeoff.unwrap_or(count(fdeoff)?));
        out.u32(o.freoff.unwrap_or(count(freoff)?));
        debug_assert_eq!(out.bytes.len() as u64, HEADER_SIZE);
        Ok(())
    }
}

/// Bytes in a byte order.
struct Writer {
    bytes: Vec<u8>,
    endian: Endian,
}

impl Writer {
    fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    fn u16(&mut self, value: u16) {
        self.ordered(value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.ordered(value.to_le_bytes());
    }

    fn i64(&mut self, value: i64) {
        self.ordered(value.to_le_bytes());
    }

    fn ordered<const N: usize>(&mut self, mut little: [u8; N]) {
        if self.endian == Endian::Big {
            little.reverse();
        }
        self.bytes.extend_from_slice(&little);
    }
}
