//! Random unwind programs: call frame instructions whose meaning is computed independently here ([`Program::rows`]),
//! written as CFI in any of the forms that an instruction has ([`Program::section`]).
//!
//! The meaning is that of DWARF 5 6.4.2, for the values that are compared: the CFA, the return address, the frame
//! pointer, and AArch64's signing state.

mod assembly;
mod generate;
mod machine;
mod write;

pub use generate::Scope;
pub use machine::Frames;

use sframe_oracle::cfi::Kind;
use sframe_validator::Abi;
use sframe_validator::unwind::{Frame, Register};

/// The value that a DWARF expression computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expression {
    /// The base register; if `None`, the CFA, which is already on the stack.
    pub register: Option<Register>,
    /// The bytes added to it.
    pub offset: i64,
    /// Whether the value is loaded from memory there.
    pub loaded: bool,
    /// The form in which it is written.
    pub form: u8,
}

/// A call frame instruction, and the form in which it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the standard's names; form: which of several encodings")]
pub enum Op {
    Advance { bytes: u32, form: u8 },
    DefCfa { register: Register, offset: i64, form: u8 },
    DefCfaRegister { register: Register },
    DefCfaOffset { offset: i64, form: u8 },
    DefCfaExpression { expression: Expression },
    Undefined { register: Register },
    SameValue { register: Register },
    Offset { register: Register, offset: i64, form: u8 },
    ValOffset { register: Register, offset: i64, form: u8 },
    Register { register: Register, source: Register },
    Expression { register: Register, expression: Expression },
    ValExpression { register: Register, expression: Expression },
    Restore { register: Register, form: u8 },
    RememberState,
    RestoreState,
    Nop,
    ArgsSize { bytes: u16 },
    WindowSave,
    NegateRaState { form: u8 },
}

/// The functions of a section, which all have the same CIE.
#[derive(Clone, Debug)]
pub struct Program {
    /// The machine.
    pub abi: Abi,
    /// `.eh_frame` or `.debug_frame`.
    pub kind: Kind,
    /// The version of the CIE: 1, 3, or in `.debug_frame` 4.
    pub version: u8,
    /// `code_alignment_factor`.
    pub code_factor: u32,
    /// `data_alignment_factor`.
    pub data_factor: i64,
    /// Augmentation `S`.
    pub signal: bool,
    /// Augmentation `B`.
    pub key_b: bool,
    /// The encoding of addresses in `.eh_frame` (augmentation `R`); `None` without an augmentation.
    pub encoding: Option<u8>,
    /// The CIE's initial instructions.
    pub initial: Vec<Op>,
    /// The functions, by address.
    pub functions: Vec<Function>,
}

/// A function's instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The start of the function.
    pub start: u64,
    /// The size in bytes of code.
    pub size: u32,
    /// The instructions, without those of the CIE.
    pub ops: Vec<Op>,
}

impl Program {
    /// The rows of a function: the start and the frame of each. Equal adjacent rows are merged.
    ///
    /// # Panics
    /// Panics if an instruction has no meaning. Generated instructions always have one.
    #[must_use]
    pub fn rows(&self, function: &Function) -> Vec<(u32, Frame)> {
        let mut frames = Frames::new(self.abi);
        for op in &self.initial {
            frames.step(op);
        }
        frames.start();
        let mut rows: Vec<(u32, Frame)> = Vec::new();
        let mut at = 0;
        let close = |rows: &mut Vec<(u32, Frame)>, at, frame| {
            if rows.last().is_none_or(|(_, last)| *last != frame) {
                rows.push((at, frame));
            }
        };
        for op in &function.ops {
            match op {
                Op::Advance { bytes: 0, .. } => {}
                Op::Advance { bytes, .. } => {
                    close(&mut rows, at, frames.frame());
                    at += bytes;
                }
                op => frames.step(op),
            }
        }
        if at < function.size {
            close(&mut rows, at, frames.frame());
        }
        rows
    }
}
