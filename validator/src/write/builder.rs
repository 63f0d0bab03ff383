//! Converts functions and frames to a stored section.
//!
//! The builder chooses what an ideal producer would choose: the narrowest encodings, a sorted table, and no gaps
//! between the parts. A value that is set explicitly is written unchanged, even if every reader should reject it.

mod encode;
mod function;

pub use function::FunctionBuilder;

use alloc::vec::Vec;
use core::fmt;

use super::stored::StoredSection;
use crate::abi::{Abi, Endian};
use crate::section::{Flags, Version};

/// A section to be written.
#[derive(Clone, Debug)]
pub struct SectionBuilder {
    /// The section without its functions.
    section: StoredSection,
    relocatable: bool,
    functions: Vec<FunctionBuilder>,
}

/// A written section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The section's bytes.
    pub bytes: Vec<u8>,
    /// Section offsets of the functions' start fields, in the order in which the functions were added. In a relocatable
    /// object, they need relocations.
    pub start_fields: Vec<u64>,
}

/// Why a section cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// The version, or its variant for the ABI, has no encoding for a row's frame.
    NotRepresentable {
        /// The function's position in the order in which functions were added.
        function: usize,
        /// The row's number in the function.
        row: usize,
    },
    /// The version cannot express a property of a function: a signal frame before version 3, or the size of a repeated
    /// block in version 1.
    NotInVersion {
        /// The function's position in the order in which functions were added.
        function: usize,
    },
    /// A function is too far from the section for the version's start field.
    StartOutOfRange {
        /// The function's position in the order in which functions were added.
        function: usize,
    },
    /// There are more functions, rows or bytes than the format's fields can count. In version 3, for example, a
    /// function has at most 65,535 rows.
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
                write!(f, "the version cannot express a property of function {function}")
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
    pub const fn new(version: Version, abi: Abi) -> SectionBuilder {
        let section = StoredSection::new(version, abi);
        SectionBuilder { section, relocatable: false, functions: Vec::new() }
    }

    /// Sets the address from which start fields are computed.
    pub const fn address(&mut self, address: u64) -> &mut SectionBuilder {
        self.section.address = address;
        self
    }

    /// Sets a byte order other than the ABI's.
    pub const fn endian(&mut self, endian: Endian) -> &mut SectionBuilder {
        self.section.endian = endian;
        self
    }

    /// Makes this a section of a relocatable object: start fields are 0, and the table is unsorted.
    pub const fn relocatable(&mut self) -> &mut SectionBuilder {
        self.section.header.flags &= !Flags::SORTED;
        self.relocatable = true;
        self
    }

    /// Adds a function.
    pub fn function(&mut self, function: FunctionBuilder) -> &mut SectionBuilder {
        self.functions.push(function);
        self
    }

    /// Changes header fields and the gaps between the parts. The flags determine whether the table is sorted and from
    /// where start fields count. Other fields change only themselves.
    pub fn with(&mut self, change: impl FnOnce(&mut StoredSection)) -> &mut SectionBuilder {
        change(&mut self.section);
        self
    }

    const fn flags(&self) -> Flags {
        Flags(self.section.header.flags)
    }

    /// The functions' positions in the table, by address if the flags say that it is sorted.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.functions.len()).collect();
        if self.flags().sorted() {
            order.sort_by_key(|&index| self.functions.get(index).map(FunctionBuilder::start));
        }
        order
    }

    /// The section as it will be stored. Its functions and rows can be changed before [`StoredSection::bytes`] is
    /// called.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if a value that is not set explicitly does not fit the format.
    pub fn stored(&self) -> Result<StoredSection, BuildError> {
        self.in_order(&self.order())
    }

    /// The section's bytes.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if a value that is not set explicitly does not fit the format.
    pub fn build(&self) -> Result<Built, BuildError> {
        let order = self.order();
        let section = self.in_order(&order)?;
        let bytes = section.bytes();
        u32::try_from(bytes.len()).map_err(|_| BuildError::TooLarge)?;
        let mut start_fields = alloc::vec![0; self.functions.len()];
        for (position, index) in order.into_iter().enumerate() {
            if let Some(field) = start_fields.get_mut(index) {
                *field = section.entry_offset(position);
            }
        }
        Ok(Built { bytes, start_fields })
    }

    fn in_order(&self, order: &[usize]) -> Result<StoredSection, BuildError> {
        let mut section = self.section.clone();
        section.pcrel = self.flags().pcrel() && section.version > Version::V1;
        u8::try_from(section.auxiliary.len()).map_err(|_| BuildError::TooLarge)?;
        let mut rows = 0_u32;
        for &index in order {
            let Some(function) = self.functions.get(index) else { continue };
            if !function.fits(section.version) {
                return Err(BuildError::NotInVersion { function: index });
            }
            let mut stored = function
                .stored(section.version, section.abi)
                .map_err(|row| BuildError::NotRepresentable { function: index, row })?;
            if self.relocatable {
                stored.start_field.get_or_insert(0);
            }
            let count = stored.stored_count();
            rows = rows.checked_add(count).ok_or(BuildError::TooLarge)?;
            if count > section.version.max_rows() {
                return Err(BuildError::TooLarge);
            }
            let start = section.start_value(section.functions.len(), &stored);
            if section.version < Version::V3 && i32::try_from(start).is_err() {
                return Err(BuildError::StartOutOfRange { function: index });
            }
            section.push(stored);
        }
        // The sum of the numbers that the functions state, which may exceed the number of stored rows.
        section.header.num_fres = section.header.num_fres.or(Some(rows));
        Ok(section)
    }
}
