//! Executes any call frame instruction.

use sframe_validator::unwind::Recovery;

use super::{Machine, Standing, Step, factored};
use crate::cfi::error::CfiErrorKind;
use crate::cfi::instruction::Instruction;
use crate::cfi::state::State;
use crate::cfi::traces::Traces;

impl Machine<'_> {
    /// Decodes and executes one instruction.
    #[inline(never)]
    pub(crate) fn step(
        &mut self,
        states: &mut Vec<State>,
        standing: Standing,
    ) -> Result<Step, CfiErrorKind> {
        match self.instructions.decode()? {
            Instruction::Nop => {}
            Instruction::ArgsSize(size) => self.args_size(size),
            Instruction::WindowSave => self.traces.add(Traces::ESCAPE),
            Instruction::AdvanceLoc(delta) => return self.advance(delta),
            Instruction::SetLoc(place) => return Ok(Step::MoveTo(place)),
            Instruction::DefCfa(register, offset) => self.cfa(register, offset.cast_signed()),
            Instruction::DefCfaSf(register, offset) => {
                self.cfa(register, factored(offset, self.data_factor)?);
            }
            Instruction::DefCfaRegister(register) => {
                let (_, offset) = self.cfa_parts()?;
                self.cfa(register, offset);
            }
            Instruction::DefCfaOffset(offset) => {
                let (register, _) = self.cfa_parts()?;
                self.cfa(register, offset.cast_signed());
            }
            Instruction::DefCfaOffsetSf(offset) => {
                let (register, _) = self.cfa_parts()?;
                self.cfa(register, factored(offset, self.data_factor)?);
            }
            Instruction::DefCfaExpression(expression) => self.cfa_expression(expression),
            Instruction::Undefined(register) => {
                if register == self.columns.sp {
                    self.traces.add(Traces::UNDEFINED_SP);
                }
                self.set(register, Recovery::Undefined);
            }
            Instruction::SameValue(register) => self.set(register, Recovery::Unchanged),
            Instruction::Offset(register, offset) => self.saved(register, offset.cast_signed())?,
            Instruction::OffsetSf(register, offset) => self.saved(register, offset)?,
            Instruction::NegativeOffset(register, offset) => {
                let offset =
                    offset.cast_signed().checked_neg().ok_or(CfiErrorKind::OffsetOverflow)?;
                self.saved(register, offset)?;
            }
            Instruction::ValOffset(register, offset) => {
                self.is_value(register, offset.cast_signed())?;
            }
            Instruction::ValOffsetSf(register, offset) => self.is_value(register, offset)?,
            Instruction::Register(register, source) if register == source => {
                self.set(register, Recovery::Unchanged);
            }
            Instruction::Register(register, source) => {
                if register == self.columns.sp {
                    self.traces.add(Traces::SAVED_SP);
                }
                self.set(register, Recovery::RegisterOffset { register: source, offset: 0 });
            }
            Instruction::Expression(register, expression) => {
                self.saved_at_expression(register, expression);
            }
            Instruction::ValExpression(register, expression) => {
                self.value_expression(register, expression);
            }
            Instruction::Restore(register) => self.restore(register)?,
            Instruction::RememberState => self.remember(states, standing)?,
            Instruction::RestoreState => self.restore_state(states)?,
            Instruction::NegateRaState => self.negate_ra_state(),
            Instruction::NegateRaStateWithPc => {
                self.traces.add(Traces::SIGN_WITH_PC);
                self.negate_ra_state();
            }
            Instruction::SetRaState(state, _) => self.set_ra_state(state),
        }
        Ok(Step::Same)
    }
}
