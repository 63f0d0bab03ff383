//! Rows as GNU as makes them: from instructions, one after the other, with the mistakes that it makes.
//!
//! It starts a row at each place with an instruction that it tracks, even if the frame stays the same, and one more at
//! the last advance, whatever follows. Its mistakes are those of `corpus/differences/`: `remembered-in-place`,
//! `remembers-one-state`, `register-in-place`, `same-value-ignored`, `return-offset-cut`, `return-restore-ignored`,
//! `undefined-for-good` and others, each named where it is made.

mod accepted;

use sframe_oracle::cfi::{Fde, Instruction};
use sframe_oracle::coverage::Cause;
use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, CodeAddress, Expression, Frame, Recovery, Register, Row};

use super::release::Release;
use accepted::{accept, accept_base};

/// The maximum number of a CIE's instructions that are executed for one of its functions: producers write about five,
/// and a long CIE that many functions share must not multiply the work.
const MAX_INITIAL: usize = 64;

/// A function's rows. The last row ends at the function's end.
///
/// # Errors
/// The cause why the release gives up on the function.
pub(super) fn translate(fde: &Fde<'_>, release: Release) -> Result<Vec<Row>, Cause> {
    let mut translator = Translator::new(fde, release);
    let cfi = fde.cfi();
    for instruction in cfi.initial_instructions(fde.cie()).take(MAX_INITIAL).flatten() {
        translator.execute(&instruction)?;
    }
    for instruction in fde.instructions() {
        translator.execute(&instruction.map_err(|_| Cause::Unreadable)?)?;
    }
    Ok(translator.finish(fde))
}

/// The state of the assembler in a function.
pub(super) struct Translator<'c> {
    fde: Fde<'c>,
    pub(super) release: Release,
    pub(super) abi: Abi,
    /// The row that is being made.
    pub(super) current: Frame,
    start: u64,
    /// Whether it has an instruction that is tracked.
    is_tracked: bool,
    remembered: Option<Frame>,
    rows: Vec<Row>,
}

impl<'c> Translator<'c> {
    fn new(fde: &Fde<'c>, release: Release) -> Translator<'c> {
        let abi = fde.cfi().abi();
        let frame = Frame {
            cfa: Cfa::RegisterOffset { register: abi.sp(), offset: 0 },
            ra: Recovery::Unchanged,
            fp: Recovery::Unchanged,
            ra_signed: false,
        };
        Translator {
            fde: *fde,
            release,
            abi,
            current: frame,
            start: fde.start().address,
            is_tracked: true,
            remembered: None,
            rows: Vec::new(),
        }
    }

    pub(super) fn is_latest(&self) -> bool {
        self.release == Release::V2_47_50
    }

    /// Whether the register is FP, or RA if the ABI does not fix its place.
    pub(super) fn is_saved(&self, register: Register) -> bool {
        register == self.abi.fp() || register == self.abi.ra() && self.abi.fixed_ra_offset() == 0
    }

    /// The frame of the last row that ended.
    fn last(&self) -> Option<Frame> {
        self.rows.last().map(|row| row.frame)
    }

    pub(super) fn factored(&self, offset: i64) -> i64 {
        offset.saturating_mul(self.fde.cie().data_alignment_factor)
    }

    fn execute(&mut self, instruction: &Instruction) -> Result<(), Cause> {
        match *instruction {
            Instruction::AdvanceLoc(delta) => {
                let bytes = delta.saturating_mul(self.fde.cie().code_alignment_factor);
                self.advance(self.start.saturating_add(bytes));
            }
            Instruction::SetLoc(CodeAddress { address, .. }) => self.advance(address),
            Instruction::DefCfa(register, offset) => {
                accept_base(self, register)?;
                self.cfa(register, offset.cast_signed());
            }
            Instruction::DefCfaSf(register, offset) => {
                accept_base(self, register)?;
                self.cfa(register, self.factored(offset));
            }
            Instruction::DefCfaRegister(register) => {
                accept_base(self, register)?;
                self.cfa_register(register);
            }
            Instruction::DefCfaOffset(offset) => self.cfa_offset(offset.cast_signed()),
            Instruction::DefCfaOffsetSf(offset) => self.cfa_offset(self.factored(offset)),
            Instruction::DefCfaExpression(expression) => self.cfa_expression(expression)?,
            Instruction::Offset(register, offset) => {
                self.saved(register, self.factored(offset.cast_signed()));
            }
            Instruction::OffsetSf(register, offset) => self.saved(register, self.factored(offset)),
            Instruction::NegativeOffset(register, offset) => {
                self.saved(register, self.factored(offset.cast_signed().saturating_neg()));
            }
            Instruction::Restore(register) if self.is_saved(register) => self.restore(register),
            Instruction::RememberState => self.remember()?,
            Instruction::RestoreState => self.restore_state(),
            Instruction::NegateRaState => {
                self.is_tracked = true;
                self.current.ra_signed = !self.current.ra_signed;
            }
            _ => {
                accept(self, instruction)?;
                if self.is_latest() {
                    self.execute_latest(instruction);
                }
            }
        }
        Ok(())
    }

    /// Instructions that the older releases ignore (`same-value-ignored`, `frame-pointer-undefined`), or in spite of
    /// which they describe the function (`return-in-register`).
    fn execute_latest(&mut self, instruction: &Instruction) {
        match *instruction {
            Instruction::SameValue(register) if self.is_saved(register) => {
                self.set(register, Recovery::Unchanged);
            }
            Instruction::Undefined(register) if register == self.abi.ra() => {
                self.set(register, Recovery::Undefined);
            }
            Instruction::Register(register, other) => {
                self.set(register, Recovery::RegisterOffset { register: other, offset: 0 });
            }
            Instruction::Expression(register, expression) => {
                if let Some((base, offset)) = self.short(expression) {
                    self.set(register, Recovery::AtRegister { register: base, offset });
                }
            }
            _ => {}
        }
    }

    /// Ends the row if an instruction was tracked in it; otherwise it starts later.
    fn advance(&mut self, to: u64) {
        if to > self.start {
            self.end_row(to);
            self.start = to;
        }
    }

    fn end_row(&mut self, end: u64) {
        if self.is_tracked {
            self.rows.push(Row { start: self.start, end, frame: self.current });
            self.is_tracked = false;
        }
    }

    /// Adds the last row, whether an instruction was tracked in it or not, and sets the ends of all rows.
    fn finish(mut self, fde: &Fde<'_>) -> Vec<Row> {
        self.is_tracked = true;
        let end = fde.start().address.saturating_add(fde.size());
        self.end_row(end);
        let mut next = end;
        for row in self.rows.iter_mut().rev() {
            row.end = next;
            next = row.start;
        }
        self.rows
    }

    fn cfa(&mut self, register: Register, offset: i64) {
        self.is_tracked = true;
        self.current.cfa = Cfa::RegisterOffset { register, offset };
    }

    /// The offset is that of the last row that ended (`register-in-place`).
    fn cfa_register(&mut self, register: Register) {
        let from = self.last().unwrap_or(self.current);
        let (Cfa::RegisterOffset { offset, .. } | Cfa::Dereference { offset, .. }) = from.cfa
        else {
            return;
        };
        self.cfa(register, offset);
    }

    fn cfa_offset(&mut self, offset: i64) {
        self.is_tracked = true;
        if let Cfa::RegisterOffset { register, .. } = self.current.cfa {
            self.cfa(register, offset);
        }
    }

    fn cfa_expression(&mut self, expression: Expression) -> Result<(), Cause> {
        self.is_tracked = true;
        let short = self.short(expression).filter(|_| self.is_latest());
        let (register, offset) = short.ok_or(Cause::UnsupportedEscape)?;
        self.current.cfa = Cfa::Dereference { register, offset };
        Ok(())
    }

    /// The register and offset at the start of an expression: `DW_OP_breg0` to `DW_OP_breg31` and a byte.
    fn short(&self, expression: Expression) -> Option<(Register, i64)> {
        let bytes = self.fde.cfi().expression(expression);
        let (operation, offset) = (*bytes.first()?, *bytes.get(1)?);
        let base = operation.checked_sub(0x70).filter(|base| *base < 32)?;
        let offset = i64::from(offset);
        let offset = if offset & 0x40 == 0 { offset } else { offset - 0x80 };
        Some((Register(base.into()), offset))
    }

    fn set(&mut self, register: Register, rule: Recovery) {
        if register == self.abi.fp() {
            self.is_tracked = true;
            self.current.fp = rule;
        } else if register == self.abi.ra() {
            self.is_tracked = true;
            self.current.ra = rule;
        }
    }

    fn saved(&mut self, register: Register, offset: i64) {
        if self.is_saved(register) {
            self.set(register, Recovery::AtCfa(offset));
        } else if self.is_latest() && register == self.abi.ra() {
            // `return-offset-cut`.
            let [low, ..] = offset.to_le_bytes();
            self.set(register, Recovery::AtCfa(low.cast_signed().into()));
        }
    }

    /// Goes back to the function's first row, not to the CIE's rules (`restore-with-older-cie`).
    fn restore(&mut self, register: Register) {
        let initial = self.rows.first().map_or(self.current, |row| row.frame);
        let rule = if register == self.abi.fp() { initial.fp } else { initial.ra };
        self.set(register, rule);
    }

    /// Only one state is kept (`remembers-one-state`). The older releases remember the last row that ended
    /// (`remembered-in-place`).
    fn remember(&mut self) -> Result<(), Cause> {
        self.remembered = if self.is_latest() { Some(self.current) } else { self.last() };
        self.remembered.map(drop).ok_or(Cause::RememberFirst)
    }

    fn restore_state(&mut self) {
        self.is_tracked = true;
        if let Some(frame) = self.remembered {
            self.current = frame;
        }
    }
}
