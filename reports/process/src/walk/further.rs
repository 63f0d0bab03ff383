//! The caller's registers other than SP and FP, by the rules that CFI has for them.

use sframe_validator::unwind::{Recovery, Register};

use super::expression::Context;
use super::registers::Registers;
use crate::statement::FurtherRules;

/// The caller's values of the registers for which there are rules, if they can be recovered.
pub(super) fn registers<R, M>(rules: &FurtherRules, context: &Context<R, M>, cfa: u64) -> Registers
where
    R: Fn(Register) -> Option<u64>,
    M: Fn(u64) -> Option<u64>,
{
    let value = |register, offset| Some((context.registers)(register)?.wrapping_add_signed(offset));
    let compute = |expression| context.evaluate(rules.operations(expression)?, Some(cfa));
    let mut registers = Registers::default();
    for (register, rule) in &rules.registers {
        let found = match *rule {
            Recovery::Unchanged => value(*register, 0),
            Recovery::AtCfa(offset) => (context.read)(cfa.wrapping_add_signed(offset)),
            Recovery::CfaOffset(offset) => Some(cfa.wrapping_add_signed(offset)),
            Recovery::AtRegister { register, offset } => {
                value(register, offset).and_then(&context.read)
            }
            Recovery::RegisterOffset { register, offset } => value(register, offset),
            Recovery::AtExpression(expression) => compute(expression).and_then(&context.read),
            Recovery::Expression(expression) => compute(expression),
            Recovery::Undefined => None,
        };
        registers.set(*register, found);
    }
    registers
}
