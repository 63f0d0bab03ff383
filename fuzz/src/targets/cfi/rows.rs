//! Compares a row of the oracle with one of gimli.
//!
//! Expressions that the oracle turns into plain rules are compared by value: gimli evaluates them with made-up
//! registers and memory, and the rule must give the same number.

use gimli::{CfaRule, EvaluationResult, RegisterRule, UnwindSection};
use sframe_oracle::cfi::Fde;
use sframe_validator::unwind::{Cfa, Expression, Recovery, Register, Row};

use super::{Slice, Storage};

/// The maximum number of steps of an evaluation. Expressions that the oracle simplifies have only a few.
const STEPS: u32 = 1_000;
/// The value of the CFA, if an expression uses it.
const CFA: u64 = 0x7fff_1234_5000;

/// What gimli has instead, if the rows differ.
pub(super) fn difference<'a, S: UnwindSection<Slice<'a>>>(
    fde: &Fde<'_>,
    own: &Row,
    pc: u64,
    row: &gimli::UnwindTableRow<usize, Storage>,
    section: &S,
) -> Option<String> {
    let bytes = |expression: &gimli::UnwindExpression<usize>| {
        expression.get(section).expect("in the section").0
    };
    let own_bytes = |expression: Expression| fde.cfi().expression(expression);
    let equal = match (row.cfa(), own.frame.cfa) {
        // gimli uses this rule if there is none.
        (CfaRule::RegisterAndOffset { register, offset: 0 }, Cfa::Undefined) => register.0 == 0,
        (CfaRule::RegisterAndOffset { register, offset }, cfa) => {
            let register = Register(register.0.into());
            cfa == Cfa::RegisterOffset { register, offset: *offset }
        }
        (CfaRule::Expression(theirs), Cfa::Expression(ours)) => {
            own_bytes(ours) == bytes(theirs).slice()
        }
        (CfaRule::Expression(theirs), Cfa::RegisterOffset { register, offset }) => {
            evaluate(bytes(theirs), None, pc) == Some(made_up(register.0, pc, offset))
        }
        (CfaRule::Expression(theirs), Cfa::Dereference { register, offset }) => {
            let address = made_up(register.0, pc, offset);
            evaluate(bytes(theirs), None, pc) == Some(memory(address))
        }
        (CfaRule::Expression(theirs), Cfa::DereferencePlus { register, offset, plus }) => {
            let address = made_up(register.0, pc, offset.into());
            let value = memory(address).wrapping_add_signed(plus.into());
            evaluate(bytes(theirs), None, pc) == Some(value)
        }
        (CfaRule::Expression(_), Cfa::Undefined) => false,
    };
    if !equal {
        return Some(format!("CFA {:?}", row.cfa()));
    }
    let abi = fde.cfi().abi();
    for (column, rule) in [(fde.cie().return_address, own.frame.ra), (abi.fp(), own.frame.fp)] {
        let Ok(number) = u16::try_from(column.0) else { continue };
        let theirs = row.register(gimli::Register(number));
        let equal = match &theirs {
            None | Some(RegisterRule::SameValue) => rule == Recovery::Unchanged,
            Some(RegisterRule::Undefined) => rule == Recovery::Undefined,
            Some(RegisterRule::Offset(offset)) => rule == Recovery::AtCfa(*offset),
            Some(RegisterRule::ValOffset(offset)) => rule == Recovery::CfaOffset(*offset),
            Some(RegisterRule::Register(saved)) if saved.0 == number => rule == Recovery::Unchanged,
            Some(RegisterRule::Register(saved)) => {
                let register = Register(saved.0.into());
                rule == Recovery::RegisterOffset { register, offset: 0 }
            }
            Some(RegisterRule::Expression(theirs)) => match rule {
                Recovery::AtExpression(ours) => own_bytes(ours) == bytes(theirs).slice(),
                _ => evaluate(bytes(theirs), Some(CFA), pc).map(memory) == value(rule, pc),
            },
            Some(RegisterRule::ValExpression(theirs)) => match rule {
                Recovery::Expression(ours) => own_bytes(ours) == bytes(theirs).slice(),
                _ => evaluate(bytes(theirs), Some(CFA), pc) == value(rule, pc),
            },
            // The signing state is used as a return address or a frame pointer.
            _ => true,
        };
        if !equal {
            return Some(format!("{column} {theirs:?}"));
        }
    }
    match row.register(gimli::AArch64::RA_SIGN_STATE) {
        Some(RegisterRule::Constant(value)) if abi.is_aarch64() => {
            let signed = value & 1 != 0;
            (signed != own.frame.ra_signed).then(|| format!("signed {signed}"))
        }
        _ => None,
    }
}

/// The value of a register plus an offset. AMD64's column 16 contains the PC.
fn made_up(register: u32, pc: u64, offset: i64) -> u64 {
    let value = if register == 16 { pc } else { (u64::from(register) + 3) * 0x1_0001_0010 };
    value.wrapping_add(offset.cast_unsigned())
}

/// The content of memory at an address.
const fn memory(address: u64) -> u64 {
    address.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)
}

/// The value that a plain rule gives.
fn value(rule: Recovery, pc: u64) -> Option<u64> {
    let cfa = |offset: i64| CFA.wrapping_add(offset.cast_unsigned());
    match rule {
        Recovery::AtCfa(offset) => Some(memory(cfa(offset))),
        Recovery::CfaOffset(offset) => Some(cfa(offset)),
        Recovery::AtRegister { register, offset } => Some(memory(made_up(register.0, pc, offset))),
        Recovery::RegisterOffset { register, offset } => Some(made_up(register.0, pc, offset)),
        _ => None,
    }
}

/// gimli's own evaluation of an expression.
fn evaluate(bytes: Slice<'_>, initial: Option<u64>, pc: u64) -> Option<u64> {
    let encoding = gimli::Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 5 };
    let mut evaluation = gimli::Expression(bytes).evaluation(encoding);
    evaluation.set_max_iterations(STEPS);
    if let Some(initial) = initial {
        evaluation.set_initial_value(initial);
    }
    let mut result = evaluation.evaluate().ok()?;
    loop {
        result = match result {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = made_up(register.0.into(), pc, 0);
                evaluation.resume_with_register(gimli::Value::Generic(value)).ok()?
            }
            EvaluationResult::RequiresMemory { address, .. } => {
                evaluation.resume_with_memory(gimli::Value::Generic(memory(address))).ok()?
            }
            EvaluationResult::RequiresCallFrameCfa => {
                evaluation.resume_with_call_frame_cfa(CFA).ok()?
            }
            _ => return None,
        };
    }
    match evaluation.as_result().first()?.location {
        gimli::Location::Address { address } => Some(address),
        _ => None,
    }
}
