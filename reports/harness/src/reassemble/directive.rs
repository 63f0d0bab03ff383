//! Writes call frame instructions as assembler directives (GNU as manual, "CFI directives").
//!
//! Registers are written as DWARF numbers, which all assemblers accept on all machines.

use std::io::{self, Write};

use sframe_oracle::cfi::Instruction;
use sframe_validator::unwind::Register;

use super::functions::Function;
use super::rules::{Cfa, Machine, Rule, State, Toggles};
use super::start::is_restored;

/// `DW_CFA_nop`, `DW_CFA_def_cfa_expression`, `DW_CFA_expression`, `DW_CFA_val_expression`,
/// `DW_CFA_GNU_args_size`: instructions without a directive.
const NOP: u8 = 0x00;
const DEF_CFA_EXPRESSION: u8 = 0x0f;
const EXPRESSION: u8 = 0x10;
const VAL_EXPRESSION: u8 = 0x16;
const ARGS_SIZE: u8 = 0x2e;
/// `DW_CFA_AARCH64_set_ra_state`, for which assemblers have no directive.
const SET_RA_STATE: u8 = 0x2b;

/// Writes `.cfi_startproc` and the attributes of the CIE.
pub(super) fn start(out: &mut dyn Write, function: &Function<'_>) -> io::Result<()> {
    let cie = function.fde.cie();
    let abi = function.fde.cfi().abi();
    out.write_all(match function.start.simple {
        true => b"\t.cfi_startproc simple\n",
        false => b"\t.cfi_startproc\n",
    })?;
    if cie.signal {
        out.write_all(b"\t.cfi_signal_frame\n")?;
    }
    if cie.pauth_key_b {
        out.write_all(b"\t.cfi_b_key_frame\n")?;
    }
    if cie.return_address != abi.ra() {
        writeln!(out, "\t.cfi_return_column {}", cie.return_address.0)?;
    }
    Ok(())
}

/// Writes an instruction without effect, after which assemblers keep all instructions in the FDE.
pub(super) fn nop(out: &mut dyn Write) -> io::Result<()> {
    escape(out, &[NOP], &[])
}

/// Writes the directives that lead from the state at entry to the CIE's state.
pub(super) fn initial_state(
    out: &mut dyn Write,
    function: &Function<'_>,
    at_entry: &State<'_>,
) -> io::Result<()> {
    let nothing = State::default();
    let implied = if function.start.simple { &nothing } else { at_entry };
    let initial = function.initial;
    if let Some(rule) = &initial.cfa
        && implied.cfa != initial.cfa
    {
        cfa(out, rule)?;
    }
    for (register, rule) in &initial.rules {
        if implied.rules.get(register) != Some(rule) {
            self::rule(out, *register, rule)?;
        }
    }
    let Toggles { signed, signed_with_pc, window } = initial.toggles;
    if signed {
        out.write_all(b"\t.cfi_negate_ra_state\n")?;
    }
    if signed_with_pc {
        out.write_all(b"\t.cfi_negate_ra_state_with_pc\n")?;
    }
    if window {
        out.write_all(b"\t.cfi_window_save\n")?;
    }
    Ok(())
}

/// Writes one instruction, which `machine` has just evaluated.
pub(super) fn instruction(
    out: &mut dyn Write,
    instruction: &Instruction,
    machine: &Machine<'_>,
    at_entry: &State<'_>,
) -> io::Result<()> {
    match *instruction {
        // The position of a directive in the code expresses the advance.
        Instruction::Nop | Instruction::AdvanceLoc(_) | Instruction::SetLoc(_) => Ok(()),
        Instruction::DefCfaRegister(register) => {
            writeln!(out, "\t.cfi_def_cfa_register {}", register.0)
        }
        Instruction::DefCfaOffset(_) | Instruction::DefCfaOffsetSf(_) => match machine.state.cfa {
            Some(Cfa::Register(_, offset)) => writeln!(out, "\t.cfi_def_cfa_offset {offset}"),
            _ => Ok(()),
        },
        Instruction::DefCfa(..) | Instruction::DefCfaSf(..) | Instruction::DefCfaExpression(_) => {
            machine.state.cfa.as_ref().map_or(Ok(()), |rule| cfa(out, rule))
        }
        Instruction::Restore(register) if is_restored(machine, at_entry, register) => {
            writeln!(out, "\t.cfi_restore {}", register.0)
        }
        Instruction::Undefined(register)
        | Instruction::SameValue(register)
        | Instruction::Offset(register, _)
        | Instruction::OffsetSf(register, _)
        | Instruction::NegativeOffset(register, _)
        | Instruction::ValOffset(register, _)
        | Instruction::ValOffsetSf(register, _)
        | Instruction::Register(register, _)
        | Instruction::Expression(register, _)
        | Instruction::ValExpression(register, _)
        | Instruction::Restore(register) => {
            let rule = machine.state.rules.get(&register);
            rule.map_or(Ok(()), |rule| self::rule(out, register, rule))
        }
        Instruction::RememberState => out.write_all(b"\t.cfi_remember_state\n"),
        Instruction::RestoreState => out.write_all(b"\t.cfi_restore_state\n"),
        Instruction::ArgsSize(size) => {
            let mut bytes = vec![ARGS_SIZE];
            leb128(&mut bytes, size);
            escape(out, &bytes, &[])
        }
        Instruction::WindowSave => out.write_all(b"\t.cfi_window_save\n"),
        Instruction::NegateRaState => out.write_all(b"\t.cfi_negate_ra_state\n"),
        Instruction::NegateRaStateWithPc => out.write_all(b"\t.cfi_negate_ra_state_with_pc\n"),
        Instruction::SetRaState(state, distance) => {
            let mut bytes = vec![SET_RA_STATE];
            leb128(&mut bytes, state);
            signed_leb128(&mut bytes, distance);
            escape(out, &bytes, &[])
        }
    }
}

fn cfa(out: &mut dyn Write, cfa: &Cfa<'_>) -> io::Result<()> {
    match cfa {
        Cfa::Register(register, offset) => {
            writeln!(out, "\t.cfi_def_cfa {}, {offset}", register.0)
        }
        Cfa::Expression(expression) => {
            let mut bytes = vec![DEF_CFA_EXPRESSION];
            leb128(&mut bytes, expression.len() as u64);
            escape(out, &bytes, expression)
        }
    }
}

fn rule(out: &mut dyn Write, register: Register, rule: &Rule<'_>) -> io::Result<()> {
    let number = register.0;
    match rule {
        Rule::Undefined => writeln!(out, "\t.cfi_undefined {number}"),
        Rule::SameValue => writeln!(out, "\t.cfi_same_value {number}"),
        Rule::Offset(offset) => writeln!(out, "\t.cfi_offset {number}, {offset}"),
        Rule::ValOffset(offset) => writeln!(out, "\t.cfi_val_offset {number}, {offset}"),
        Rule::Register(other) => writeln!(out, "\t.cfi_register {number}, {}", other.0),
        Rule::Expression(expression) => by_expression(out, EXPRESSION, register, expression),
        Rule::ValExpression(expression) => by_expression(out, VAL_EXPRESSION, register, expression),
    }
}

fn by_expression(
    out: &mut dyn Write,
    code: u8,
    register: Register,
    expression: &[u8],
) -> io::Result<()> {
    let mut bytes = vec![code];
    leb128(&mut bytes, register.0.into());
    leb128(&mut bytes, expression.len() as u64);
    escape(out, &bytes, expression)
}

fn escape(out: &mut dyn Write, head: &[u8], rest: &[u8]) -> io::Result<()> {
    let mut before = "\t.cfi_escape ";
    for byte in head.iter().chain(rest) {
        write!(out, "{before}{byte:#04x}")?;
        before = ",";
    }
    writeln!(out)
}

fn signed_leb128(bytes: &mut Vec<u8>, mut value: i64) {
    const SIGN: u8 = 0x40;
    loop {
        let low = value.to_le_bytes()[0] & 0x7f;
        value >>= 7;
        let rest = if low & SIGN == 0 { 0 } else { -1 };
        if value == rest {
            return bytes.push(low);
        }
        bytes.push(low | 0x80);
    }
}

fn leb128(bytes: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = value.to_le_bytes()[0] & 0x7f;
        value >>= 7;
        if value == 0 {
            return bytes.push(low);
        }
        bytes.push(low | 0x80);
    }
}
