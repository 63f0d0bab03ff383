//! The instructions at which GNU as gives up on a function, even if they are valid at no PC (`base-in-passing`,
//! `frame-pointer-in-passing`).

use sframe_oracle::cfi::Instruction;
use sframe_oracle::coverage::Cause;
use sframe_validator::Abi;
use sframe_validator::section::{S390X_CFA_ADJUSTMENT, S390X_CFA_FACTOR};
use sframe_validator::unwind::{Cfa, Expression, Register};

use super::Translator;
use crate::gnu::release::Release;

impl Translator<'_> {
    fn is_usual_base(&self, register: Register) -> bool {
        register == self.abi.sp() || register == self.abi.fp()
    }

    /// Checks the base register of a CFA.
    ///
    /// # Errors
    /// The cause why the release gives up.
    pub(super) fn accept_base(&mut self, register: Register) -> Result<(), Cause> {
        if self.is_usual_base(register) {
            return Ok(());
        }
        match self.release {
            // `cfa-in-other-register`.
            Release::V2_40 => Ok(()),
            Release::V2_47_50 if !self.abi.is_aarch64() => {
                self.use_flexible();
                Ok(())
            }
            Release::V2_44 | Release::V2_47_50 => Err(Cause::CfaRegister),
        }
    }

    /// Checks the offset of a CFA, which a data word has to hold.
    ///
    /// # Errors
    /// The cause why the release gives up.
    // observed: 2.47.50, ".cfi_def_cfa_offset with unsupported offset value". Older releases give up on the file.
    pub(super) fn accept_offset(&self, offset: i64) -> Result<(), Cause> {
        let word = match self.abi {
            Abi::S390x => offset.saturating_sub(S390X_CFA_ADJUSTMENT) / S390X_CFA_FACTOR,
            Abi::Amd64 | Abi::Aarch64Big | Abi::Aarch64Little => offset,
        };
        i32::try_from(word).map(drop).map_err(|_| Cause::OffsetRange)
    }

    /// Checks the base register of a CFA whose offset changes: here, 2.40 looks at it.
    ///
    /// # Errors
    /// The cause why the release gives up.
    pub(super) fn accept_base_of_offset(&self, register: Register) -> Result<(), Cause> {
        let is_known = self.is_usual_base(register) || self.is_latest();
        if is_known { Ok(()) } else { Err(Cause::CfaRegister) }
    }
}

/// Whether a directive may have this form. Otherwise, `.cfi_escape` made it, which every release refuses: the forms for
/// registers above 63 and for negative factored offsets of slots and values have no other use.
pub(super) const fn is_directive(code: u8, instruction: &Instruction) -> bool {
    match (code, instruction) {
        (0x05, Instruction::Offset(register, _)) | (0x06, Instruction::Restore(register)) => {
            register.0 > 0x3f
        }
        (_, Instruction::OffsetSf(_, offset) | Instruction::ValOffsetSf(_, offset)) => *offset < 0,
        (_, Instruction::NegativeOffset(..)) => false,
        _ => true,
    }
}

/// Checks an instruction of another kind.
///
/// # Errors
/// The cause why the release gives up.
pub(super) fn accept(state: &Translator<'_>, instruction: &Instruction) -> Result<(), Cause> {
    let (is_accepted, cause) = match *instruction {
        Instruction::Register(register, _) => (saves(state, register), Cause::RegisterSave),
        Instruction::ValOffset(register, offset) => {
            (is_value(state, register, offset.cast_signed()), Cause::ValueOffset)
        }
        Instruction::ValOffsetSf(register, offset) => {
            (is_value(state, register, offset), Cause::ValueOffset)
        }
        // The older releases lose the rule without a message (`frame-pointer-undefined`).
        Instruction::Undefined(register) => {
            let is_lost = register == state.abi.fp() || register == state.abi.sp();
            (!is_lost || !state.is_latest(), Cause::UndefinedFp)
        }
        Instruction::ArgsSize(size) => {
            let on_fp = matches!(state.cfa(), Cfa::RegisterOffset { register, .. }
                | Cfa::Dereference { register, .. } if register == state.abi.fp());
            // Of `.cfi_escape`, it knows only the form with one byte.
            let is_known = size == 0 || on_fp && size < 0x80;
            (state.is_latest() && is_known, Cause::UnsupportedEscape)
        }
        Instruction::DefCfaExpression(_) => (state.is_latest(), Cause::UnsupportedEscape),
        Instruction::Expression(register, expression) => {
            (is_expression(state, register, expression), Cause::UnsupportedEscape)
        }
        Instruction::NegateRaStateWithPc => (false, Cause::RaSignWithPc),
        Instruction::ValExpression(..) | Instruction::WindowSave | Instruction::SetRaState(..) => {
            (false, Cause::UnsupportedEscape)
        }
        _ => (true, Cause::Unexplained),
    };
    if is_accepted { Ok(()) } else { Err(cause) }
}

/// Whether the release accepts `.cfi_escape` of an expression for a register: an operation and a byte.
fn is_expression(state: &Translator<'_>, register: Register, expression: Expression) -> bool {
    let is_ruled =
        register == state.abi.sp() || register == state.abi.ra() && state.is_saved(register);
    let is_short = expression.length == 2 && state.short(expression).is_some();
    state.is_latest() && !is_ruled && is_short
}

/// Whether the release accepts `.cfi_register`.
fn saves(state: &Translator<'_>, register: Register) -> bool {
    match state.release {
        Release::V2_40 => false,
        // It does not look at SP, and has no row for the return address (`return-in-register`).
        Release::V2_44 => !state.is_saved(register),
        // On s390x, leaf functions save SP in a floating-point register.
        Release::V2_47_50 if register == state.abi.sp() => state.abi == Abi::S390x,
        Release::V2_47_50 => !state.abi.is_aarch64() || !state.is_saved(register),
    }
}

/// Whether the release accepts `.cfi_val_offset`; the offset has not been multiplied by the CIE's factor. Where AMD64
/// fixes the return address, the rule is ignored (`return-value-ignored`).
fn is_value(state: &Translator<'_>, register: Register, offset: i64) -> bool {
    let below = state.abi.sp_below_cfa().cast_signed();
    if state.is_latest() && register == state.abi.sp() {
        state.factored(offset) == below.saturating_neg()
    } else {
        !state.is_saved(register)
    }
}
