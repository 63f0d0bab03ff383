//! Compares the row of a witness at a PC with the truth about the frame.

use sframe_validator::Abi;
use sframe_validator::unwind::{
    self, ApplyError, Cfa, Expression, Frame, Named, Recovery, Register,
};

use super::outcome::{Fields, Mistake, Verdict};
use super::shadow::{Caller, Truth};
use super::true_frame::true_frame;
use crate::live::LiveMemory;
use crate::ptrace;
use crate::statement::{Silence, Statement};
use crate::walk::{Context, Evaluator, Memory, Registers};

/// A stopped thread.
pub(super) struct State<'m> {
    pc: u64,
    registers: Registers,
    memory: &'m LiveMemory,
}

impl<'m> State<'m> {
    pub(super) fn new(registers: &ptrace::Registers, memory: &'m LiveMemory) -> State<'m> {
        State { pc: registers.rip, registers: Registers::of_thread(registers), memory }
    }

    fn register(&self, register: Register) -> Option<u64> {
        self.registers.get(register)
    }

    fn word(&self, address: u64) -> Option<u64> {
        self.memory.word(Abi::Amd64, address)
    }
}

/// Judges the statement of a witness. `expressions` has the CFI section that its expressions are in.
pub(super) fn judge(
    statement: &Statement,
    truth: Truth,
    state: &State<'_>,
    expressions: Option<&[u8]>,
) -> Verdict {
    let row = match &statement.row {
        Ok(row) => row,
        Err(Silence::NoSection) => return Verdict::NoSection,
        Err(Silence::NoFunction | Silence::NoRow | Silence::NotDetermined) => {
            return Verdict::NoRow;
        }
        Err(silence) => return Verdict::Undecided(silence.to_string()),
    };
    let frame = row.frame;
    let is_outermost = frame.ra == Recovery::Undefined;
    let (caller, is_called) = match truth {
        Truth::Outermost if is_outermost => return Verdict::Right,
        Truth::Outermost => return undecided("the code has no caller to compare the row with"),
        Truth::Unknown(doubt) => return undecided(&doubt.to_string()),
        Truth::Called(caller) => (caller, true),
        Truth::Interrupted(caller) => (caller, false),
    };
    let verdict = match is_outermost {
        true => {
            let fields = Fields { outermost: true, ..Fields::default() };
            let explanation = format!(
                "RA=undefined says that this code has no caller, but it returns to {:#x}",
                caller.ra
            );
            Verdict::Wrong(Mistake { fields, explanation, ra: None, frames: None, known: None })
        }
        false => compare(&frame, &caller, state, expressions),
    };
    // The return address is where the call pushed it, unless the program has overwritten it or moved its frame.
    let place = caller.sp.wrapping_sub(8);
    if is_called && matches!(verdict, Verdict::Wrong(_)) && state.word(place) != Some(caller.ra) {
        return undecided("the return address is no longer where the call has put it");
    }
    verdict
}

fn undecided(reason: &str) -> Verdict {
    Verdict::Undecided(reason.to_owned())
}

/// Compares the caller that a frame recovers with the true one.
fn compare(
    frame: &Frame,
    truth: &Caller,
    state: &State<'_>,
    expressions: Option<&[u8]>,
) -> Verdict {
    let read = |address| state.word(address);
    let registers = |register| state.register(register);
    let context = Context { abi: Abi::Amd64, pc: state.pc, registers, read };
    let mut evaluator = Evaluator::new(context);
    let bytes = |expression: Expression| {
        let start = usize::try_from(expression.offset).ok()?;
        let end = start.checked_add(usize::try_from(expression.length).ok()?)?;
        expressions?.get(start..end)
    };
    let plain = match evaluator.resolve(frame, bytes) {
        Ok(plain) => plain,
        Err(reason) => return undecided(reason),
    };
    let registers = |register| evaluator.value(register).or_else(|| state.register(register));
    let found = match plain.apply(Abi::Amd64, registers, read) {
        Ok(Some(found)) => found,
        Ok(None) => return undecided("the row has no return address"),
        Err(ApplyError::Register(register)) if register == Abi::Amd64.ra() => {
            return undecided("the row has no rule for the return address");
        }
        Err(error) => return Verdict::Undecided(without_address(&error)),
    };
    let mut fields =
        Fields { cfa: found.sp != truth.sp, ra: found.ra != truth.ra, ..Fields::default() };
    match found.fp {
        Some(fp) => fields.fp = fp != truth.fp,
        None if fields == Fields::default() => {
            return undecided("the row has no rule for the caller's FP");
        }
        None => {}
    }
    match fields == Fields::default() {
        true => Verdict::Right,
        false => {
            let explanation = explain(frame, fields, &found, truth, state);
            let register = |register| state.register(register);
            let truth = true_frame(frame, fields, truth, register, read);
            let frames = truth.map(|truth| Box::new([*frame, truth]));
            Verdict::Wrong(Mistake { fields, explanation, ra: Some(found.ra), frames, known: None })
        }
    }
}

/// The reason why a frame cannot be applied, the same at every address.
fn without_address(error: &ApplyError) -> String {
    match error {
        ApplyError::Memory(_) => "the row refers to memory that cannot be read".to_owned(),
        error => error.to_string(),
    }
}

/// What is wrong, and what is true.
fn explain(
    frame: &Frame,
    fields: Fields,
    found: &unwind::Caller,
    truth: &Caller,
    state: &State<'_>,
) -> String {
    let mut parts = Vec::new();
    if fields.cfa {
        let stated = Named(Abi::Amd64, frame.cfa);
        let base = match frame.cfa {
            Cfa::RegisterOffset { register, .. } => {
                state.register(register).map(|value| (register, value))
            }
            _ => None,
        };
        parts.push(match base {
            Some((register, value)) => {
                let offset = truth.sp.wrapping_sub(value).cast_signed();
                let truth = Named(Abi::Amd64, Cfa::RegisterOffset { register, offset });
                format!("CFA={stated}, but it is {truth}")
            }
            None => format!("CFA={stated} is {:#x}, but it is {:#x}", found.sp, truth.sp),
        });
    }
    if fields.ra {
        let stated = Named(Abi::Amd64, frame.ra);
        parts.push(match fields.cfa && matches!(frame.ra, Recovery::AtCfa(_)) {
            true => format!("RA={stated} is therefore {:#x}, not {:#x}", found.ra, truth.ra),
            false => format!("RA={stated} is {:#x}, not {:#x}", found.ra, truth.ra),
        });
    }
    if fields.fp {
        let stated = Named(Abi::Amd64, frame.fp);
        let fp = found.fp.unwrap_or_default();
        let hint = match state.register(Abi::Amd64.fp()) == Some(truth.fp) {
            true => ", which rbp still contains",
            false => "",
        };
        parts.push(format!("FP={stated} is {fp:#x}, not {:#x}{hint}", truth.fp));
    }
    parts.join("; ")
}
