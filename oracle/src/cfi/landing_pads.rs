//! Where exceptions continue: the call-site table in a function's language-specific data (LSDA), as `gcc` and `clang`
//! write it for C++ and for C with cleanups. It says nothing about frames, only where control may go after a call.

use gimli::Reader;
use gimli::constants::DW_EH_PE_omit;
use sframe_validator::unwind::CodeAddress;

use super::entry::{Entry, read_prefix};
use super::function::Fde;
use super::instruction::Instruction;
use super::pointer::{Slice, read_value};

/// Calls, and where an exception that passes them continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LandingPad {
    /// The address of the first call.
    pub start: u64,
    /// The end of the code with these calls, exclusive.
    pub end: u64,
    /// The address at which the exception continues.
    pub pad: u64,
}

impl Fde<'_> {
    /// The place of the function's language-specific data, if there is any.
    #[must_use]
    pub fn lsda(&self) -> Option<CodeAddress> {
        let layout = &self.cfi().layout;
        let cie = self.cie();
        let encoding = cie.lsda_encoding.filter(|encoding| *encoding != DW_EH_PE_omit.0)?;
        let mut input = layout.whole;
        input.skip(usize::try_from(self.offset()).ok()?).ok()?;
        let Entry::Some(prefix) = read_prefix(&mut input, layout).ok()? else { return None };
        let mut rest = prefix.rest;
        let input = &mut rest;
        input.skip(usize::from(cie.segment_size)).ok()?;
        layout.bases.skip(input, layout.whole, cie.encoding, cie.address_size).ok()?;
        read_value(input, cie.encoding, cie.address_size).ok()?;
        let length = usize::try_from(input.read_uleb128().ok()?).ok()?;
        let mut data = input.split(length).ok()?;
        let pointer =
            layout.bases.read(&mut data, layout.whole, encoding, cie.address_size).ok()?;
        // A function without such data has a null pointer, whatever it is relative to.
        (pointer != CodeAddress::absolute(0)).then_some(pointer)
    }

    /// The landing pads of the function's calls, in the order of the table. `data` is the file's content from
    /// [`Fde::lsda`] on. Ends at the first call site that cannot be read, or after `most` call sites: functions may share
    /// a table.
    #[must_use]
    pub fn landing_pads(&self, data: &[u8], most: usize) -> Vec<LandingPad> {
        let mut pads = Vec::new();
        // Reading ends with the table, or where it is damaged.
        let _ = self.read_landing_pads(data, most, &mut pads);
        pads
    }

    /// The bytes of arguments on the stack that an exception removes before it continues at a landing pad: pairs of the
    /// address from which a number is valid and the number, in the order of addresses. Empty in most functions.
    #[must_use]
    pub fn argument_sizes(&self) -> Vec<(u64, u64)> {
        let mut sizes = Vec::new();
        let mut address = self.start().address;
        for instruction in self.instructions().map_while(Result::ok) {
            match instruction {
                Instruction::AdvanceLoc(units) => {
                    let bytes = units.wrapping_mul(self.cie().code_alignment_factor);
                    address = address.wrapping_add(bytes);
                }
                Instruction::SetLoc(place) => address = place.address,
                Instruction::ArgsSize(size) => sizes.push((address, size)),
                _ => {}
            }
        }
        sizes
    }

    fn read_landing_pads(
        &self,
        data: &[u8],
        most: usize,
        pads: &mut Vec<LandingPad>,
    ) -> Result<(), super::CfiErrorKind> {
        let size = self.cie().address_size;
        let function = self.start().address;
        let mut input = Slice::new(data, self.cfi().layout.endian);
        // The base of landing pads. Compilers write one only for code in several sections, relative to nothing.
        let base = match input.read_u8()? {
            encoding if encoding == DW_EH_PE_omit.0 => function,
            encoding if encoding & 0x70 == 0 => read_value(&mut input, encoding, size)?,
            _ => return Ok(()),
        };
        let types = input.read_u8()?;
        if types != DW_EH_PE_omit.0 {
            input.read_uleb128()?;
        }
        let encoding = input.read_u8()?;
        let length = usize::try_from(input.read_uleb128()?).unwrap_or(usize::MAX);
        let mut sites = input.split(length)?;
        for _ in 0..most {
            if sites.is_empty() {
                break;
            }
            let start = function.wrapping_add(read_value(&mut sites, encoding, size)?);
            let length = read_value(&mut sites, encoding, size)?;
            let pad = read_value(&mut sites, encoding, size)?;
            sites.read_uleb128()?;
            if pad != 0 {
                let end = start.saturating_add(length);
                pads.push(LandingPad { start, end, pad: base.wrapping_add(pad) });
            }
        }
        Ok(())
    }
}
