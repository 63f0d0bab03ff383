//! One step of a walk: from a frame to its caller, by the row of one witness.

use sframe_validator::Abi;
use sframe_validator::unwind::{Caller, without_signature};

use super::end::End;
use super::expression::{Context, Evaluator};
use super::further;
use super::memory::Memory;
use super::registers::Cursor;
use super::rules::{LastFrame, Lookup, Rules};
use super::signal;
use crate::statement::Statement;

/// The result of a step from a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The address that was looked up.
    pub looked_up: u64,
    /// The witness's statement about it.
    pub statement: Statement,
    /// Whether the registers of the interrupted frame were read from the kernel's frame, and not by the row.
    pub by_kernel_frame: bool,
    /// The caller, also if the walk ends because of its values.
    pub caller: Option<Cursor>,
    /// Why the walk ends at this frame.
    pub end: Option<End>,
}

impl Step {
    /// The caller, unless the walk ends at this frame.
    #[must_use]
    pub const fn next(&self) -> Option<&Cursor> {
        match (&self.caller, &self.end) {
            (Some(caller), None) => Some(caller),
            _ => None,
        }
    }
}

/// Goes from frames to their callers: the machine, the rules of walks, and the memory of the process.
#[derive(Debug)]
pub struct Unwinder<'w, M> {
    /// The machine.
    pub abi: Abi,
    /// The rules.
    pub rules: &'w Rules,
    /// The memory.
    pub memory: &'w M,
}

impl<M: Memory> Unwinder<'_, M> {
    /// The caller of the frame `cursor`. `rows` returns the witness's statement about an address.
    pub fn step(&self, cursor: &Cursor, rows: &mut impl FnMut(u64) -> Statement) -> Step {
        let looked_up = match self.rules.lookup {
            Lookup::Call if !cursor.exact => cursor.pc.wrapping_sub(1),
            Lookup::Call | Lookup::ReturnAddress => cursor.pc,
        };
        let statement = rows(looked_up);
        let mut step =
            Step { looked_up, statement, by_kernel_frame: false, caller: None, end: None };
        match caller(self, cursor, &mut step) {
            Ok(next) => {
                step.end = end(self.abi, self.rules, cursor, &next, &step);
                step.caller = Some(next);
            }
            Err(end) => step.end = Some(end),
        }
        step
    }
}

fn caller(
    unwinder: &Unwinder<'_, impl Memory>,
    cursor: &Cursor,
    step: &mut Step,
) -> Result<Cursor, End> {
    let Unwinder { abi, rules, memory } = *unwinder;
    let statement = &step.statement;
    // On AArch64, DWARF has no number for the PC: CFI of the kernel recovers the interrupted LR in its place (Linux,
    // arch/arm64/kernel/vdso/sigreturn.S). Therefore the kernel's frame is preferred there, as gdb does.
    let interrupted = if statement.signal || statement.row.is_err() || abi.is_aarch64() {
        signal::interrupted(abi, cursor, memory)
    } else {
        None
    };
    let by_row = statement.signal && statement.row.is_ok() && !abi.is_aarch64();
    if let Some(interrupted) = interrupted.filter(|_| !by_row) {
        step.by_kernel_frame = true;
        return Ok(interrupted);
    }
    let row = statement.row.as_ref().map_err(|silence| End::NoRow(silence.clone()))?;
    let values = |register| cursor.registers.get(register);
    let read = |address| memory.word(abi, address);
    let context = Context { abi, pc: cursor.pc, registers: values, read };
    let mut evaluator = Evaluator::new(context);
    // If an expression cannot be evaluated, the parts of the frame without expressions can still be applied.
    let plain =
        evaluator.resolve(&row.frame, |expression| statement.further.operations(expression));
    let plain = plain.unwrap_or(row.frame);
    let known = |register| evaluator.value(register).or_else(|| values(register));
    let caller = plain.apply(abi, known, read).map_err(End::CannotApply)?;
    let Some(Caller { ra, ra_signed, sp, fp }) = caller else { return Err(End::Outermost) };
    let pc = if ra_signed { without_signature(ra, rules.address_bits) } else { ra };
    let cfa = sp.wrapping_add(abi.sp_below_cfa());
    let mut registers = further::registers(&statement.further, &context, cfa);
    registers.set(abi.sp(), Some(sp));
    registers.set(abi.fp(), fp);
    if statement.signal {
        // The row describes only SP, FP and the PC, but the interrupted function may keep its CFA in any register.
        let agrees = |other: &Cursor| other.pc == pc && other.sp(abi) == Some(sp);
        if let Some(interrupted) = interrupted.filter(agrees) {
            registers = interrupted.registers;
            registers.set(abi.fp(), fp);
        }
    }
    Ok(Cursor { pc, exact: statement.signal, registers })
}

/// Why a walk ends at a frame although its caller could be computed.
fn end(abi: Abi, rules: &Rules, cursor: &Cursor, next: &Cursor, step: &Step) -> Option<End> {
    if next.pc == 0 {
        return Some(End::ReturnsToZero);
    }
    let Some(caller) = next.sp(abi) else { return Some(End::NoSp) };
    let Some(sp) = cursor.sp(abi) else { return Some(End::NoSp) };
    // A handler can have a stack of its own. In the innermost frame and in an interrupted one, the call's return address
    // may be in a register, and nothing on the stack.
    let grows = caller > sp || caller == sp && cursor.exact;
    if !grows && !step.statement.signal && !step.by_kernel_frame {
        return Some(End::StackDoesNotGrow { sp, caller });
    }
    let alignment = rules.sp_alignment.max(1);
    if caller % alignment != 0 {
        return Some(End::Misaligned { caller, alignment });
    }
    let ends_at_zero = rules.last_frame == LastFrame::FpZero;
    (ends_at_zero && next.fp(abi) == Some(0)).then_some(End::FpZero)
}
