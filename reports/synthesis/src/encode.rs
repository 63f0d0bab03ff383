//! Functions to bytes, through the validator's writer.

use sframe_validator::section::{Flags, FreType, StartRelocation};
use sframe_validator::write::{BuildError, FunctionBuilder, SectionBuilder};
use sframe_validator::{Abi, Version};

use crate::model::Function;
use crate::place::{Place, Written};

/// What determines the width of the start fields of a function's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartWidth {
    /// The start of its last row: the narrowest width.
    LastRow,
    /// The size of the function, as in GNU as.
    FunctionSize,
}

/// The form of a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) version: Version,
    pub(crate) abi: Abi,
    pub(crate) place: Place,
    pub(crate) start_width: StartWidth,
    /// Whether start fields count from themselves, and not from the start of the section.
    pub(crate) pcrel: bool,
}

impl Form {
    /// Converts a function for the builder.
    fn builder(&self, function: &Function) -> FunctionBuilder {
        let mut builder = FunctionBuilder::new(function.start.address, function.size);
        for row in &function.rows {
            let start = row.start.wrapping_sub(function.start.address);
            builder = builder.row(u32::try_from(start).unwrap_or(u32::MAX), row.frame);
        }
        if function.signal && self.version == Version::V3 {
            builder = builder.signal_frame();
        }
        if function.pauth_key_b {
            builder = builder.pauth_key_b();
        }
        match function.block {
            Some(block) if self.version > Version::V1 => builder = builder.repeat(block),
            Some(_) => builder = builder.with(|stored| stored.info |= 1 << 4),
            None => {}
        }
        match self.start_width {
            StartWidth::LastRow => builder,
            StartWidth::FunctionSize => builder.fre_type(FreType::for_start(function.size)),
        }
    }

    fn flags(&self) -> u8 {
        let sorted = if self.place == Place::Relocatable { 0 } else { Flags::SORTED };
        sorted | if self.pcrel { Flags::PCREL } else { 0 }
    }

    /// An empty section.
    fn section(&self) -> SectionBuilder {
        let mut section = SectionBuilder::new(self.version, self.abi);
        match self.place {
            Place::Linked(address) => section.address(address),
            Place::Relocatable => section.relocatable(),
        };
        let flags = self.flags();
        section.with(|stored| stored.header.flags = flags);
        section
    }

    /// Whether a function has an encoding.
    pub(crate) fn can_express(&self, function: &Function) -> bool {
        let mut section = Form { place: Place::Relocatable, ..*self }.section();
        section.function(self.builder(function)).stored().is_ok()
    }

    /// The section that describes these functions, each of which has an encoding.
    pub(crate) fn write(&self, functions: &[Function]) -> Result<Written, BuildError> {
        let mut section = self.section();
        for function in functions {
            section.function(self.builder(function));
        }
        let built = section.build()?;
        let mut relocations = Vec::new();
        if self.place == Place::Relocatable {
            let starts = built.start_fields.iter().zip(functions);
            relocations.extend(starts.map(|(field, function)| StartRelocation {
                field_offset: *field,
                target: Some(function.start),
            }));
        }
        Ok(Written { bytes: built.bytes, relocations })
    }
}
