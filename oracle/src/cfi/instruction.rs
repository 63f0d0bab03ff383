//! Call frame instructions (DWARF 5 6.4.2) and their vendors' additions, decoded one at a time.
//!
//! gimli's own iterator stops at anything that it does not know: the vendors' instructions below, and entries whose
//! augmentation contains `B` or `G`. Therefore decoding is done here, with gimli's cursor. The tests compare the
//! results with gimli's tables.

use gimli::Reader;
use gimli::constants as dw;
use sframe_validator::unwind::{CodeAddress, Expression, Register};

use super::error::{CfiError, CfiErrorKind};
use super::pointer::{Bases, Slice};

/// `DW_CFA_MIPS_advance_loc8`.
const MIPS_ADVANCE_LOC8: u8 = 0x1d;
/// `DW_CFA_AARCH64_set_ra_state` (DWARF for the Arm 64-bit Architecture, 2025Q4).
const SET_RA_STATE: u8 = 0x2b;
/// `DW_CFA_AARCH64_negate_ra_state_with_pc`.
const NEGATE_RA_STATE_WITH_PC: u8 = 0x2c;
/// `DW_CFA_AARCH64_negate_ra_state`, elsewhere `DW_CFA_GNU_window_save`.
const NEGATE_RA_STATE: u8 = 0x2d;
/// `DW_CFA_GNU_negative_offset_extended`.
const NEGATIVE_OFFSET_EXTENDED: u8 = 0x2f;

/// A call frame instruction with its operands as stored: locations and offsets that the standard calls factored are not
/// multiplied yet, and unsigned ones may represent negative numbers by wrapping (observed: LLVM writes `def_cfa_offset`
/// in this way). Forms that differ only in the width of an operand are one variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// `DW_CFA_nop`.
    Nop,
    /// `DW_CFA_set_loc`.
    SetLoc(CodeAddress),
    /// `DW_CFA_advance_loc`, `_loc1`, `_loc2`, `_loc4`, `DW_CFA_MIPS_advance_loc8`; factored.
    AdvanceLoc(u64),
    /// `DW_CFA_def_cfa`.
    DefCfa(Register, u64),
    /// `DW_CFA_def_cfa_sf`; factored.
    DefCfaSf(Register, i64),
    /// `DW_CFA_def_cfa_register`.
    DefCfaRegister(Register),
    /// `DW_CFA_def_cfa_offset`.
    DefCfaOffset(u64),
    /// `DW_CFA_def_cfa_offset_sf`; factored.
    DefCfaOffsetSf(i64),
    /// `DW_CFA_def_cfa_expression`.
    DefCfaExpression(Expression),
    /// `DW_CFA_undefined`.
    Undefined(Register),
    /// `DW_CFA_same_value`.
    SameValue(Register),
    /// `DW_CFA_offset`, `DW_CFA_offset_extended`; factored.
    Offset(Register, u64),
    /// `DW_CFA_offset_extended_sf`; factored.
    OffsetSf(Register, i64),
    /// `DW_CFA_GNU_negative_offset_extended`; factored, and negative.
    NegativeOffset(Register, u64),
    /// `DW_CFA_val_offset`; factored.
    ValOffset(Register, u64),
    /// `DW_CFA_val_offset_sf`; factored.
    ValOffsetSf(Register, i64),
    /// `DW_CFA_register`: the first register is saved in the second.
    Register(Register, Register),
    /// `DW_CFA_expression`.
    Expression(Register, Expression),
    /// `DW_CFA_val_expression`.
    ValExpression(Register, Expression),
    /// `DW_CFA_restore`, `DW_CFA_restore_extended`.
    Restore(Register),
    /// `DW_CFA_remember_state`.
    RememberState,
    /// `DW_CFA_restore_state`.
    RestoreState,
    /// `DW_CFA_GNU_args_size`.
    ArgsSize(u64),
    /// `DW_CFA_GNU_window_save`, on machines other than AArch64.
    WindowSave,
    /// `DW_CFA_AARCH64_negate_ra_state`.
    NegateRaState,
    /// `DW_CFA_AARCH64_negate_ra_state_with_pc`.
    NegateRaStateWithPc,
    /// `DW_CFA_AARCH64_set_ra_state`: 0 if the return address is not signed, 1 if it is signed with SP, 2 if it is signed with SP
    /// and with the address of an instruction, whose distance follows.
    SetRaState(u64, i64),
}

/// The data besides the bytes that decoding needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Environment<'c> {
    pub(crate) whole: Slice<'c>,
    pub(crate) bases: &'c Bases,
    pub(crate) aarch64: bool,
}

/// The instructions of an entry, in order. An error ends them, because the start of the next instruction is unknown.
#[derive(Clone, Debug)]
pub struct Instructions<'c> {
    pub(crate) input: Slice<'c>,
    pub(crate) environment: Environment<'c>,
    pub(crate) encoding: u8,
    pub(crate) address_size: u8,
}

impl<'c> Instructions<'c> {
    pub(crate) const fn new(
        input: Slice<'c>,
        environment: Environment<'c>,
        encoding: u8,
        address_size: u8,
    ) -> Instructions<'c> {
        Instructions { input, environment, encoding, address_size }
    }

    /// Section offset of the next instruction.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.input.offset_from(self.environment.whole) as u64
    }

    #[inline]
    pub(crate) fn decode(&mut self) -> Result<Instruction, CfiErrorKind> {
        let code = self.input.read_u8()?;
        let low = code & 0x3f;
        match code & 0xc0 {
            0x40 => return Ok(Instruction::AdvanceLoc(u64::from(low))),
            0x80 => {
                let register = Register(u32::from(low));
                return Ok(Instruction::Offset(register, self.input.read_uleb128()?));
            }
            0xc0 => return Ok(Instruction::Restore(Register(u32::from(low)))),
            _ => {}
        }
        Ok(match gimli::DwCfa(code) {
            dw::DW_CFA_nop => Instruction::Nop,
            dw::DW_CFA_set_loc => Instruction::SetLoc(self.environment.bases.read(
                &mut self.input,
                self.environment.whole,
                self.encoding,
                self.address_size,
            )?),
            dw::DW_CFA_advance_loc1 => Instruction::AdvanceLoc(self.input.read_u8()?.into()),
            dw::DW_CFA_advance_loc2 => Instruction::AdvanceLoc(self.input.read_u16()?.into()),
            dw::DW_CFA_advance_loc4 => Instruction::AdvanceLoc(self.input.read_u32()?.into()),
            gimli::DwCfa(MIPS_ADVANCE_LOC8) => Instruction::AdvanceLoc(self.input.read_u64()?),
            dw::DW_CFA_def_cfa => Instruction::DefCfa(self.register()?, self.unsigned()?),
            dw::DW_CFA_def_cfa_sf => Instruction::DefCfaSf(self.register()?, self.signed()?),
            dw::DW_CFA_def_cfa_register => Instruction::DefCfaRegister(self.register()?),
            dw::DW_CFA_def_cfa_offset => Instruction::DefCfaOffset(self.unsigned()?),
            dw::DW_CFA_def_cfa_offset_sf => Instruction::DefCfaOffsetSf(self.signed()?),
            dw::DW_CFA_def_cfa_expression => Instruction::DefCfaExpression(self.expression()?),
            dw::DW_CFA_undefined => Instruction::Undefined(self.register()?),
            dw::DW_CFA_same_value => Instruction::SameValue(self.register()?),
            dw::DW_CFA_offset_extended => Instruction::Offset(self.register()?, self.unsigned()?),
            dw::DW_CFA_offset_extended_sf => {
                Instruction::OffsetSf(self.register()?, self.signed()?)
            }
            dw::DW_CFA_val_offset => Instruction::ValOffset(self.register()?, self.unsigned()?),
            dw::DW_CFA_val_offset_sf => Instruction::ValOffsetSf(self.register()?, self.signed()?),
            dw::DW_CFA_register => Instruction::Register(self.register()?, self.register()?),
            dw::DW_CFA_expression => Instruction::Expression(self.register()?, self.expression()?),
            dw::DW_CFA_val_expression => {
                Instruction::ValExpression(self.register()?, self.expression()?)
            }
            dw::DW_CFA_restore_extended => Instruction::Restore(self.register()?),
            dw::DW_CFA_remember_state => Instruction::RememberState,
            dw::DW_CFA_restore_state => Instruction::RestoreState,
            dw::DW_CFA_GNU_args_size => Instruction::ArgsSize(self.unsigned()?),
            gimli::DwCfa(NEGATIVE_OFFSET_EXTENDED) => {
                Instruction::NegativeOffset(self.register()?, self.unsigned()?)
            }
            gimli::DwCfa(NEGATE_RA_STATE) if self.environment.aarch64 => Instruction::NegateRaState,
            gimli::DwCfa(NEGATE_RA_STATE) => Instruction::WindowSave,
            gimli::DwCfa(NEGATE_RA_STATE_WITH_PC) if self.environment.aarch64 => {
                Instruction::NegateRaStateWithPc
            }
            gimli::DwCfa(SET_RA_STATE) if self.environment.aarch64 => {
                Instruction::SetRaState(self.unsigned()?, self.signed()?)
            }
            gimli::DwCfa(other) => return Err(CfiErrorKind::UnknownInstruction(other)),
        })
    }

    #[inline]
    fn register(&mut self) -> Result<Register, CfiErrorKind> {
        let number = self.input.read_uleb128()?;
        u32::try_from(number).map(Register).map_err(|_| CfiErrorKind::RegisterNumber(number))
    }

    #[inline]
    fn unsigned(&mut self) -> Result<u64, CfiErrorKind> {
        Ok(self.input.read_uleb128()?)
    }

    #[inline]
    fn signed(&mut self) -> Result<i64, CfiErrorKind> {
        Ok(self.input.read_sleb128()?)
    }

    /// Cannot truncate: the section has at most 4 GiB, so both numbers fit.
    fn expression(&mut self) -> Result<Expression, CfiErrorKind> {
        let length = self.input.read_uleb128()?;
        let length = u32::try_from(length).map_err(|_| CfiErrorKind::Truncated)?;
        let offset = u32::try_from(self.input.offset_from(self.environment.whole))
            .map_err(|_| CfiErrorKind::Truncated)?;
        self.input.skip(usize::try_from(length).map_err(|_| CfiErrorKind::Truncated)?)?;
        Ok(Expression { offset, length })
    }
}

impl Iterator for Instructions<'_> {
    type Item = Result<Instruction, CfiError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.input.is_empty() {
            return None;
        }
        let offset = self.offset();
        let decoded = self.decode();
        if decoded.is_err() {
            self.input.empty();
        }
        Some(decoded.map_err(|kind| kind.at(offset)))
    }
}
