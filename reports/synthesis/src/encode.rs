//! Functions to bytes, through the validator's writer.

use std::slice;

use sframe_validator::section::{Flags, S390X_CFA_ADJUSTMENT, S390X_CFA_FACTOR, StartRelocation};
use sframe_validator::unwind::{Cfa, Frame, Recovery};
use sframe_validator::write::{BuildError, FunctionBuilder, SectionBuilder, StoredFunction};
use sframe_validator::{Abi, Version};

use crate::model::Function;
use crate::place::{Place, Written};

/// The form of a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) version: Version,
    pub(crate) abi: Abi,
    pub(crate) place: Place,
    /// Whether words cannot have the lowest value of their size, as in GNU as 2.40 and 2.44.
    pub(crate) without_lowest: bool,
    /// Whether start fields count from themselves, and not from the start of the section.
    pub(crate) pcrel: bool,
    /// Whether zeros extend the section to a multiple of 8 bytes.
    pub(crate) padded: bool,
    /// Whether default rows have the word 0 for slots at the CFA itself. For RA on s390x, readers take it for "not
    /// saved".
    pub(crate) zero_slots: bool,
}

impl Form {
    /// Converts a function for the builder.
    fn builder(&self, function: &Function) -> FunctionBuilder {
        let mut builder = FunctionBuilder::new(function.start.address, function.size);
        for row in &function.rows {
            let start = row.start.wrapping_sub(function.start.address);
            let start = u32::try_from(start).unwrap_or(u32::MAX);
            builder = match self.zero_slot(&row.frame).filter(|_| !function.flexible) {
                Some((info, words)) => builder.raw_row(start, info, &words),
                None => builder.row(start, row.frame),
            };
        }
        if function.signal && self.version == Version::V3 {
            builder = builder.signal_frame();
        }
        if function.flexible {
            builder = builder.flexible();
        }
        if function.pauth_key_b {
            builder = builder.pauth_key_b();
        }
        match function.block {
            Some(block) if self.version > Version::V1 => builder = builder.repeat(block),
            Some(_) => builder = builder.with(|stored| stored.info |= 1 << 4),
            None => {}
        }
        match function.start_width {
            Some(width) => builder.fre_type(width),
            None => builder,
        }
    }

    /// The info byte and the words of a default row on s390x that saves RA or FP at the CFA itself (V3 2.3).
    fn zero_slot(&self, frame: &Frame) -> Option<(u8, Vec<u8>)> {
        let at_cfa = Recovery::AtCfa(0);
        let is_zero = self.zero_slots && (frame.ra == at_cfa || frame.fp == at_cfa);
        let Cfa::RegisterOffset { register, offset } = frame.cfa else { return None };
        let base = [self.abi.fp(), self.abi.sp()].iter().position(|base| *base == register)?;
        let slot = |rule| match rule {
            Recovery::Unchanged => Some(0),
            Recovery::AtCfa(offset) => i32::try_from(offset).ok(),
            _ => None,
        };
        let cfa =
            i32::try_from(offset.saturating_sub(S390X_CFA_ADJUSTMENT) / S390X_CFA_FACTOR).ok()?;
        let mut values = vec![cfa, slot(frame.ra)?];
        if frame.fp != Recovery::Unchanged {
            values.push(slot(frame.fp)?);
        }
        let code = values.iter().map(|value| match value {
            -0x80..=0x7f => 0_u8,
            -0x8000..=0x7fff => 1,
            _ => 2,
        });
        let code = code.max().filter(|_| is_zero)?;
        let bytes = |value: &i32| value.to_be_bytes().into_iter().skip(4 - (1 << code));
        let info = u8::try_from(base).ok()? | u8::try_from(values.len()).ok()? << 1 | code << 5;
        Some((info, values.iter().flat_map(bytes).collect()))
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

    /// Why the form has no encoding for a function, whose number in the section is `index`.
    pub(crate) fn refusal(&self, function: &Function, index: u64) -> BuildError {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        match self.write(slice::from_ref(function)) {
            Err(BuildError::NotRepresentable { row, .. }) => {
                BuildError::NotRepresentable { function: index, row }
            }
            Err(BuildError::StartOutOfRange { .. }) => {
                BuildError::StartOutOfRange { function: index }
            }
            Err(BuildError::TooLarge) => BuildError::TooLarge,
            _ => BuildError::NotInVersion { function: index },
        }
    }

    /// The section that describes these functions, each of which has an encoding.
    pub(crate) fn write(&self, functions: &[Function]) -> Result<Written, BuildError> {
        let mut section = self.section();
        for function in functions {
            section.function(self.builder(function));
        }
        let mut stored = section.stored()?;
        if self.without_lowest {
            stored.functions.iter_mut().for_each(avoid_lowest);
        }
        let mut relocations = Vec::new();
        if self.place == Place::Relocatable {
            relocations.extend(functions.iter().enumerate().map(|(index, function)| {
                let field_offset = stored.entry_offset(index);
                StartRelocation { field_offset, target: Some(function.start) }
            }));
        }
        let mut bytes = stored.bytes();
        if self.padded {
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        u32::try_from(bytes.len()).map_err(|_| BuildError::TooLarge)?;
        Ok(Written { bytes, relocations })
    }
}

/// Widens words that have the lowest value of their size.
fn avoid_lowest(function: &mut StoredFunction) {
    let fde_type = function.fde_type();
    for row in &mut function.rows {
        let words = 0..row.words.len();
        let mut values = words.filter_map(|index| row.signed(index));
        if row.width == 1 && values.any(|value| value == i32::from(i8::MIN)) {
            row.widen(fde_type, 2);
        } else if row.width == 2 && values.any(|value| value == i32::from(i16::MIN)) {
            row.widen(fde_type, 4);
        }
    }
}
