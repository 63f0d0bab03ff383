//! Functions that a release describes although their CFI says something that the version has no place for.
//!
//! [`sframe_oracle::coverage::examine`] finds what keeps a function out of a correct section. In the cases here, GNU as
//! writes wrong rows instead, or the CFI is no obstacle on that machine.

use sframe_oracle::cfi::{Fde, Instruction};
use sframe_oracle::coverage::Cause;
use sframe_validator::Abi;

use super::Release;

/// Whether the release describes a function in spite of a cause.
pub(super) fn is_written(fde: &Fde<'_>, cause: Cause, release: Release) -> bool {
    let abi = fde.cfi().abi();
    match (cause, release) {
        // `cfa-in-other-register`; it gives up on `.cfi_register` of any register.
        (Cause::CfaRegister, Release::V2_40) => !any(fde, |instruction| {
            is_escape(instruction) || matches!(instruction, Instruction::Register(..))
        }),
        // `return-in-register`, and it does not look at SP.
        (Cause::RegisterSave, Release::V2_44) => !any(fde, |instruction| {
            let lost = |register| {
                register == abi.fp() || register == abi.ra() && abi.fixed_ra_offset() == 0
            };
            is_escape(instruction)
                || matches!(instruction, Instruction::Register(register, _) if lost(*register))
        }),
        // The translation decides about `GNU_args_size`.
        (Cause::UnsupportedEscape, Release::V2_47_50) => !any(fde, |instruction| {
            let sp = abi.sp();
            matches!(instruction, Instruction::ValExpression(..) | Instruction::WindowSave)
                || matches!(instruction, Instruction::Expression(register, _) if *register == sp)
        }),
        // Leaf functions save SP in a floating-point register. Without FP and RA in the way, that is no obstacle.
        (Cause::RegisterSave, Release::V2_47_50) => abi == Abi::S390x,
        _ => false,
    }
}

fn any(fde: &Fde<'_>, test: impl Fn(&Instruction) -> bool) -> bool {
    fde.instructions().map_while(Result::ok).any(|instruction| test(&instruction))
}

/// Whether an instruction has no directive in the older releases.
const fn is_escape(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        Instruction::DefCfaExpression(_)
            | Instruction::Expression(..)
            | Instruction::ValExpression(..)
            | Instruction::ArgsSize(_)
            | Instruction::WindowSave
            | Instruction::NegateRaStateWithPc
    )
}
