//! The signature of a reduced program: programs with the same signature show the same defect.

use sframe_validator::Abi;
use sframe_validator::unwind::Register;

use crate::program::{Expression, Op, Program};

/// The instructions of a reduced program in one line: the effect of each, its register, and whether it is an escape.
#[must_use]
pub fn signature(program: &Program) -> String {
    let abi = program.abi;
    let functions = program.functions.iter().map(|function| {
        let ops = function.ops.iter().map(|op| word(op, abi));
        ops.collect::<Vec<_>>().join(" ")
    });
    let marks = [(program.signal, "signal-frame"), (program.key_b, "key-b")];
    let marks = marks.into_iter().filter(|(set, _)| *set).map(|(_, name)| name.to_owned());
    marks.chain(functions).collect::<Vec<_>>().join(" / ")
}

fn word(op: &Op, abi: Abi) -> String {
    let role = |register: Register| role(register, abi);
    let word = match *op {
        Op::Advance { .. } => "advance".to_owned(),
        Op::DefCfa { register, .. } => format!("cfa:{}", role(register)),
        Op::DefCfaRegister { register } => format!("cfa-register:{}", role(register)),
        Op::DefCfaOffset { .. } => "cfa-offset".to_owned(),
        Op::DefCfaExpression { expression } => format!("cfa:{}", expression_word(expression, abi)),
        Op::Undefined { register } => format!("undefined:{}", role(register)),
        Op::SameValue { register } => format!("same:{}", role(register)),
        Op::Offset { register, .. } => format!("saved:{}", role(register)),
        Op::ValOffset { register, .. } => format!("value:{}", role(register)),
        Op::Register { register, source } if register == source => {
            format!("in-itself:{}", role(register))
        }
        Op::Register { register, .. } => format!("in-register:{}", role(register)),
        Op::Expression { register, expression } => {
            format!("saved:{}@{}", role(register), expression_word(expression, abi))
        }
        Op::ValExpression { register, expression } => {
            format!("value:{}@{}", role(register), expression_word(expression, abi))
        }
        Op::Restore { register, .. } => format!("restore:{}", role(register)),
        Op::RememberState => "remember".to_owned(),
        Op::RestoreState => "restore-state".to_owned(),
        Op::Nop => "nop".to_owned(),
        Op::ArgsSize { .. } => "args-size".to_owned(),
        Op::WindowSave => "window-save".to_owned(),
        Op::NegateRaState { form } if form & 0x81 == 1 => "sign-with-pc".to_owned(),
        Op::NegateRaState { .. } => "sign".to_owned(),
    };
    if op.is_escaped() { format!("({word})") } else { word }
}

fn role(register: Register, abi: Abi) -> &'static str {
    match register {
        register if register == abi.sp() => "sp",
        register if register == abi.fp() => "fp",
        register if register == abi.ra() => "ra",
        _ => "other",
    }
}

fn expression_word(expression: Expression, abi: Abi) -> String {
    let base = expression.register.map_or("cfa", |register| role(register, abi));
    if expression.loaded { format!("*{base}") } else { base.to_owned() }
}
