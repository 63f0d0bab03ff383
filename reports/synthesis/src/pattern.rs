//! The pattern of a function: its call frame instructions without what a forecast does not depend on.
//!
//! The frames of a function's rows depend on its instructions and not on the addresses between them, as long as all of
//! them are inside the function. So functions of one pattern have the same rows, apart from their starts, and the same
//! causes of loss. A pattern leaves out:
//!
//! - the operands of advances, and advances of nothing;
//! - `DW_CFA_nop` at the end, where it fills up the entry, and all but one of those in a row elsewhere;
//! - `DW_CFA_offset` and `DW_CFA_restore` of registers that no row shows.
//!
//! It keeps whether the last instruction is an advance, which no directive writes.
//!
//! A function with anything else that depends on its place has no pattern: `DW_CFA_set_loc`, other expressions than a
//! register and an offset, malformed instructions, instructions that compilers rarely write, an advance to the
//! function's end or past it, and stubs, whose expression depends on the PC.

use sframe_oracle::cfi::{Cfi, Cie, Fde, Instruction};
use sframe_validator::unwind::Register;
use sframe_validator::{Abi, Endian};

/// The maximum size of a pattern. Longer ones hardly repeat.
const MAX_BYTES: usize = 4096;
/// A CIE with more instructions has no pattern: assemblers and [`sframe_oracle::coverage`] do not read all of them.
const MAX_INITIAL: usize = 64;
/// An advance of any number of bytes.
const ADVANCE: u8 = 0x41;
/// The mark of a function whose last instruction is an advance: the code of `DW_CFA_set_loc`, which no pattern has.
const ENDS_WITH_ADVANCE: u8 = 0x01;
/// `DW_OP_deref`.
const DEREFERENCE: u8 = 0x06;

/// The pattern of a function, and the places at which its advances arrive. Its memory is reused for the next function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pattern {
    /// The number of the CIE's pattern, and the instructions.
    pub(crate) key: Vec<u8>,
    /// 0, and the offset from the function's start after each advance, in ascending order.
    pub(crate) places: Vec<u32>,
}

/// The properties of a CIE on which its functions depend.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CiePattern {
    abi: Abi,
    code_alignment_factor: u64,
    data_alignment_factor: i64,
    return_address: Register,
    signal: bool,
    pauth_key_b: bool,
    instructions: Vec<u8>,
}

impl CiePattern {
    /// The pattern of a CIE; `None` if its functions have none.
    pub(crate) fn of(cfi: &Cfi<'_>, cie: &Cie) -> Option<CiePattern> {
        cfi.kind()?;
        let mut instructions = cfi.initial_instructions(cie);
        let start = instructions.offset();
        let mut end = start;
        let mut count = 0;
        while let Some(instruction) = instructions.next() {
            count += 1;
            match instruction.ok().filter(|_| count <= MAX_INITIAL)? {
                Instruction::Nop => {}
                Instruction::AdvanceLoc(_)
                | Instruction::SetLoc(_)
                | Instruction::DefCfaExpression(_)
                | Instruction::Expression(..)
                | Instruction::ValExpression(..) => return None,
                _ => end = instructions.offset(),
            }
        }
        let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
        Some(CiePattern {
            abi: cfi.abi(),
            code_alignment_factor: cie.code_alignment_factor,
            data_alignment_factor: cie.data_alignment_factor,
            return_address: cie.return_address,
            signal: cie.signal,
            pauth_key_b: cie.pauth_key_b,
            instructions: cfi.data().get(range)?.to_vec(),
        })
    }

    /// The registers below 32 that rows show, one bit each.
    pub(crate) fn registers(&self) -> u32 {
        let registers = [self.abi.sp(), self.abi.fp(), self.abi.ra(), self.return_address];
        registers.iter().fold(0, |set, register| set | 1_u32.checked_shl(register.0).unwrap_or(0))
    }
}

impl Pattern {
    /// Reads the pattern of a function that is in no stub section, with the number of its CIE's pattern, and the
    /// registers that rows show. Returns whether it has one.
    pub(crate) fn read(&mut self, function: &Fde<'_>, cie: u32, registers: u32) -> bool {
        self.key.clear();
        self.places.clear();
        self.places.push(0);
        self.key.extend_from_slice(&cie.to_le_bytes());
        let Some(bytes) = instruction_bytes(function) else { return false };
        let Ok(size) = u32::try_from(function.size()) else { return false };
        let factor = function.cie().code_alignment_factor;
        let endian = function.cfi().abi().endian();
        self.read_all(bytes, &Limits { size, factor, endian, registers }).is_some()
    }

    fn read_all(&mut self, bytes: &[u8], limits: &Limits) -> Option<()> {
        let mut rest = bytes;
        let mut place = 0;
        let (mut is_nop, mut is_advance) = (false, false);
        (limits.size > 0 && bytes.len() <= MAX_BYTES).then_some(())?;
        while let [code, after @ ..] = rest {
            let was_nop = core::mem::replace(&mut is_nop, *code == 0);
            if was_nop && !is_nop {
                self.key.push(0);
            }
            if !is_nop {
                is_advance = matches!(code, 0x40..=0x7f | 0x02..=0x04);
            }
            let low = code & 0x3f;
            let is_shown = low >= 32 || limits.registers & (1 << low) != 0;
            rest = match code {
                0x40..=0x7f => self.advance(&mut place, low.into(), limits, after)?,
                0x80..=0xbf if is_shown => self.keep(rest, 1 + leb(after)?)?,
                0x80..=0xbf => match after {
                    [..0x80, after @ ..] => after,
                    _ => after.get(leb(after)?..)?,
                },
                0xc0..=0xff if is_shown => self.keep(rest, 1)?,
                0xc0..=0xff | 0x00 => after,
                // The wider advances.
                0x02 => {
                    let (delta, after) = after.split_first()?;
                    self.advance(&mut place, (*delta).into(), limits, after)?
                }
                0x03 => {
                    let (delta, after) = after.split_first_chunk()?;
                    let delta = match limits.endian {
                        Endian::Little => u16::from_le_bytes(*delta),
                        Endian::Big => u16::from_be_bytes(*delta),
                    };
                    self.advance(&mut place, delta.into(), limits, after)?
                }
                0x04 => {
                    let (delta, after) = after.split_first_chunk()?;
                    let delta = match limits.endian {
                        Endian::Little => u32::from_le_bytes(*delta),
                        Endian::Big => u32::from_be_bytes(*delta),
                    };
                    self.advance(&mut place, delta, limits, after)?
                }
                // The most frequent ones: `DW_CFA_def_cfa_offset`, and those that remember and restore the state.
                0x0e if after.first().is_some_and(|operand| *operand < 0x80) => {
                    let (operand, after) = after.split_first()?;
                    self.key.extend_from_slice(&[*code, *operand]);
                    after
                }
                0x0a | 0x0b => {
                    self.key.push(*code);
                    after
                }
                _ => self.keep(rest, length(*code, after)?)?,
            };
        }
        if is_advance {
            self.key.push(ENDS_WITH_ADVANCE);
        }
        Some(())
    }

    fn advance<'r>(
        &mut self,
        place: &mut u32,
        delta: u32,
        limits: &Limits,
        after: &'r [u8],
    ) -> Option<&'r [u8]> {
        let bytes = u64::from(delta).checked_mul(limits.factor)?;
        if bytes > 0 {
            let next = u64::from(*place).checked_add(bytes)?;
            *place = u32::try_from(next).ok().filter(|next| *next < limits.size)?;
            self.places.push(*place);
            self.key.push(ADVANCE);
        }
        Some(after)
    }

    /// Adds an instruction of `length` bytes. Returns what follows it.
    fn keep<'r>(&mut self, rest: &'r [u8], length: usize) -> Option<&'r [u8]> {
        let (instruction, after) = rest.split_at_checked(length)?;
        self.key.extend_from_slice(instruction);
        Some(after)
    }
}

/// What is the same for all instructions of a function.
struct Limits {
    size: u32,
    /// The factor of advances.
    factor: u64,
    endian: Endian,
    /// The registers that rows show.
    registers: u32,
}

/// The size of a LEB128 number, which fits in 63 bits.
fn leb(bytes: &[u8]) -> Option<usize> {
    bytes.iter().take(9).position(|byte| byte & 0x80 == 0).map(|last| last + 1)
}

/// The size of an instruction with one of the first 64 codes; `None` for those that a pattern does not keep.
fn length(code: u8, operands: &[u8]) -> Option<usize> {
    let numbers = match code {
        // remember_state, restore_state, and GNU_window_save, which is AARCH64_negate_ra_state.
        0x0a | 0x0b | 0x2d => 0,
        // restore_extended, undefined, same_value, def_cfa_register, def_cfa_offset, def_cfa_offset_sf, GNU_args_size.
        0x06..=0x08 | 0x0d | 0x0e | 0x13 | 0x2e => 1,
        // offset_extended, register, def_cfa, offset_extended_sf, def_cfa_sf.
        0x05 | 0x09 | 0x0c | 0x11 | 0x12 => 2,
        0x0f => return expression(operands).map(|bytes| 1 + bytes),
        // expression, of a register.
        0x10 => {
            let bytes = expression(operands.get(1..)?)?;
            let is_plain = operands.first()? < &0x80 && operands.get(1) == Some(&2);
            return is_plain.then_some(2 + bytes);
        }
        _ => return None,
    };
    let first = if numbers > 0 { leb(operands)? } else { 0 };
    let second = if numbers > 1 { leb(operands.get(first..)?)? } else { 0 };
    Some(1 + first + second)
}

/// The size of an expression with its length, if it is a register and an offset of one byte, loaded or not.
const fn expression(operands: &[u8]) -> Option<usize> {
    match operands {
        [2, 0x70..=0x8f, 0..=0x7f, ..] => Some(3),
        [3, 0x70..=0x8f, 0..=0x7f, DEREFERENCE, ..] => Some(4),
        _ => None,
    }
}

/// The bytes of a function's instructions, which extend to the end of its entry.
pub(crate) fn instruction_bytes<'c>(function: &Fde<'c>) -> Option<&'c [u8]> {
    let cfi = function.cfi();
    let entry = cfi.data().get(usize::try_from(function.offset()).ok()?..)?;
    let (short, after) = entry.split_first_chunk()?;
    let little = cfi.abi().endian() == Endian::Little;
    let short = if little { u32::from_le_bytes(*short) } else { u32::from_be_bytes(*short) };
    let end = if short == u32::MAX {
        let long = after.first_chunk()?;
        let long = if little { u64::from_le_bytes(*long) } else { u64::from_be_bytes(*long) };
        long.checked_add(12)?
    } else {
        u64::from(short).checked_add(4)?
    };
    let end = function.offset().checked_add(end)?;
    let start = usize::try_from(function.instructions().offset()).ok()?;
    cfi.data().get(start..usize::try_from(end).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pattern of instructions in a function of `size` bytes, of which rows show R6, R7 and R16; advances count in
    /// units of 4 bytes.
    fn read(instructions: &[u8], size: u32) -> Option<(Vec<u8>, Vec<u32>)> {
        let registers = 1 << 6 | 1 << 7 | 1 << 16;
        let limits = Limits { size, factor: 4, endian: Endian::Little, registers };
        let mut pattern = Pattern { key: Vec::new(), places: vec![0] };
        pattern.read_all(instructions, &limits)?;
        Some((pattern.key, pattern.places))
    }

    /// The codes are those of DWARF 5 7.24.
    #[test]
    fn a_pattern_has_what_rows_depend_on() {
        for (instructions, key, places) in [
            (&[][..], &[][..], &[0][..]),
            // advance_loc 1, def_cfa_offset 16, offset R6, nop.
            (&[0x41, 0x0e, 16, 0x86, 2, 0], &[0x41, 0x0e, 16, 0x86, 2], &[0, 4]),
            // An advance of nothing, and the wider ones: 2, 0x102 and 3 units.
            (
                &[0x40, 0x02, 2, 0x03, 2, 1, 0x04, 3, 0, 0, 0],
                &[0x41, 0x41, 0x41, 0x01],
                &[0, 8, 0x410, 0x41c],
            ),
            // An advance before the offset of a register that no row shows is not the last instruction.
            (&[0x41, 0x83, 1], &[0x41], &[0, 4]),
            // offset and restore of R3 and R7; R34 is the signing state of AArch64.
            (&[0x83, 0x80, 1, 0xc3, 0x87, 1, 0xc7, 0xe2], &[0x87, 1, 0xc7, 0xe2], &[0]),
            // remember_state, restore_state, def_cfa, def_cfa_offset of two bytes, GNU_args_size.
            (
                &[0x0a, 0x0b, 0x0c, 7, 8, 0x0e, 0x80, 1, 0x2e, 0],
                &[0x0a, 0x0b, 0x0c, 7, 8, 0x0e, 0x80, 1, 0x2e, 0],
                &[0],
            ),
            // def_cfa_expression: breg6 8, deref; expression of R3: breg6 16.
            (
                &[0x0f, 3, 0x76, 8, 6, 0x10, 3, 2, 0x76, 16],
                &[0x0f, 3, 0x76, 8, 6, 0x10, 3, 2, 0x76, 16],
                &[0],
            ),
        ] {
            let read = read(instructions, 0x420);
            assert_eq!(read, Some((key.to_vec(), places.to_vec())), "{instructions:x?}");
        }
    }

    #[test]
    fn what_depends_on_its_place_has_no_pattern() {
        // An advance to the end, and past it in two steps.
        assert!(read(&[0x43], 13).is_some() && read(&[0x43], 12).is_none());
        assert!(read(&[0x41, 0x42], 12).is_none());
        assert!(read(&[], 0).is_none());
        for instructions in [
            // set_loc, an unknown code, and operands that are cut off or too large.
            &[0x01, 0, 0, 0, 0, 0, 0, 0, 0][..],
            &[0x3f],
            &[0x0e],
            &[0x83],
            &[0x83, 0x80],
            &[0x02],
            &[0x03, 1],
            &[0x04, 1, 0, 0],
            &[0x0c, 7],
            &[0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1],
            // The start of a linker's expression for its stubs, val_expression, and a loaded address.
            &[0x0f, 11, 0x77, 8, 0x80, 0],
            &[0x16, 3, 2, 0x76, 8],
            &[0x10, 3, 3, 0x76, 8, 6],
        ] {
            assert_eq!(read(instructions, 100), None, "{instructions:x?}");
        }
    }
}
