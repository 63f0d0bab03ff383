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

use super::frames;
use super::release::Release;
use accepted::{accept, is_directive};

/// The maximum number of a CIE's instructions that are executed for one of its functions: producers write about five,
/// and a long CIE that many functions share must not multiply the work.
const MAX_INITIAL: usize = 64;
/// `DW_OP_deref`.
const DEREFERENCE: u8 = 0x06;

/// The rows of a function, and their form.
pub(super) struct Translated {
    /// The last row ends at the function's end.
    pub(super) rows: Vec<Row>,
    /// Whether the rows are flexible even if none needs it: one rule in passing suffices.
    pub(super) flexible: bool,
}

/// The cause for a function on which the assembler stops with an internal error, so that it writes no object at all.
const CRASH: Cause = Cause::Unreadable;

/// Translates a function.
///
/// # Errors
/// The cause why the release gives up on the function.
pub(super) fn translate(fde: &Fde<'_>, release: Release) -> Result<Translated, Cause> {
    let cfi = fde.cfi();
    if fde.cie().return_address != cfi.abi().ra() {
        return Err(Cause::ReturnColumn);
    }
    let mut translator = Translator::new(fde, release);
    for instruction in cfi.initial_instructions(fde.cie()).take(MAX_INITIAL).flatten() {
        translator.execute(&instruction)?;
    }
    translator.is_nop = false;
    let mut instructions = fde.instructions();
    loop {
        let place = usize::try_from(instructions.offset()).map_err(|_| Cause::Unreadable)?;
        let Some(instruction) = instructions.next() else { break };
        let instruction = instruction.map_err(|_| Cause::Unreadable)?;
        let code = cfi.data().get(place).copied().unwrap_or(0);
        if !is_directive(code, &instruction) {
            return Err(Cause::UnsupportedEscape);
        }
        translator.execute(&instruction)?;
    }
    translator.finish()
}

/// The rules that are in effect.
#[derive(Clone, Copy)]
pub(super) struct State {
    /// `Cfa::Undefined` before the first rule for the CFA. RA is unchanged if it is at the ABI's fixed offset.
    pub(super) frame: Frame,
    /// Whether `.cfi_undefined` of RA is in effect, which hides the other rules and does not change them.
    outermost: bool,
}

impl State {
    const EMPTY: State = State {
        frame: Frame {
            cfa: Cfa::Undefined,
            ra: Recovery::Unchanged,
            fp: Recovery::Unchanged,
            ra_signed: false,
        },
        outermost: false,
    };
}

/// A row that has ended.
struct Ended {
    start: u64,
    state: State,
}

/// The state of the assembler in a function.
pub(super) struct Translator<'c> {
    fde: Fde<'c>,
    pub(super) release: Release,
    pub(super) abi: Abi,
    /// The row that is being made; none before the first rule for the CFA or the first advance.
    current: Option<State>,
    start: u64,
    /// Whether it has an instruction that is tracked.
    is_tracked: bool,
    remembered: Option<State>,
    ended: Vec<Ended>,
    /// Whether `DW_CFA_nop` was the last instruction: unless it fills up the entry, `.cfi_escape` made it.
    is_nop: bool,
    /// Whether the last other instruction was an advance, which directives never leave at the end.
    is_advance: bool,
    /// Whether an instruction needed flexible rows.
    flexible: bool,
    /// Whether one in the row that is being made did.
    is_row_flexible: bool,
}

impl<'c> Translator<'c> {
    fn new(fde: &Fde<'c>, release: Release) -> Translator<'c> {
        Translator {
            fde: *fde,
            release,
            abi: fde.cfi().abi(),
            current: None,
            start: fde.start().address,
            is_tracked: false,
            remembered: None,
            ended: Vec::new(),
            is_nop: false,
            is_advance: false,
            flexible: false,
            is_row_flexible: false,
        }
    }

    pub(super) fn is_latest(&self) -> bool {
        self.release == Release::V2_47_50
    }

    /// Whether the register is FP, or RA if the ABI does not fix its place.
    pub(super) fn is_saved(&self, register: Register) -> bool {
        register == self.abi.fp() || register == self.abi.ra() && self.abi.fixed_ra_offset() == 0
    }

    /// The state of the last row that ended.
    fn last(&self) -> Option<State> {
        self.ended.last().map(|row| row.state)
    }

    /// The CFA of the row that is being made.
    pub(super) fn cfa(&self) -> Cfa {
        self.current.map_or(Cfa::Undefined, |state| state.frame.cfa)
    }

    /// The row that is being made, which an instruction changes.
    fn change(&mut self) -> Result<&mut State, Cause> {
        self.is_tracked = true;
        self.current.as_mut().ok_or(CRASH)
    }

    fn use_flexible(&mut self) {
        self.flexible = true;
        self.is_row_flexible = true;
    }

    pub(super) fn factored(&self, offset: i64) -> i64 {
        offset.saturating_mul(self.fde.cie().data_alignment_factor)
    }

    fn execute(&mut self, instruction: &Instruction) -> Result<(), Cause> {
        let was_nop = core::mem::replace(&mut self.is_nop, *instruction == Instruction::Nop);
        if was_nop && !self.is_nop && !self.is_latest() {
            return Err(Cause::UnsupportedEscape);
        }
        if !self.is_nop {
            self.is_advance =
                matches!(instruction, Instruction::AdvanceLoc(_) | Instruction::SetLoc(_));
        }
        match *instruction {
            Instruction::AdvanceLoc(delta) => {
                let bytes = delta.saturating_mul(self.fde.cie().code_alignment_factor);
                self.advance(self.start.saturating_add(bytes))
            }
            Instruction::SetLoc(CodeAddress { address, .. }) => self.advance(address),
            Instruction::DefCfa(register, offset) => self.def_cfa(register, offset.cast_signed()),
            Instruction::DefCfaSf(register, offset) => {
                self.def_cfa(register, self.factored(offset))
            }
            Instruction::DefCfaRegister(register) => self.def_cfa_register(register),
            Instruction::DefCfaOffset(offset) => self.def_cfa_offset(offset.cast_signed()),
            Instruction::DefCfaOffsetSf(offset) => self.def_cfa_offset(self.factored(offset)),
            Instruction::Offset(register, offset) => {
                self.offset(register, self.factored(offset.cast_signed()))
            }
            Instruction::OffsetSf(register, offset) => self.offset(register, self.factored(offset)),
            Instruction::NegativeOffset(register, offset) => {
                self.offset(register, self.factored(offset.cast_signed().saturating_neg()))
            }
            Instruction::Restore(register) if self.is_saved(register) => self.restore(register),
            Instruction::RememberState => self.remember(),
            Instruction::RestoreState => self.restore_state(),
            Instruction::NegateRaState => {
                let state = self.change()?;
                state.frame.ra_signed = !state.frame.ra_signed;
                Ok(())
            }
            // observed: 2.40 takes it for AArch64's instruction of the same number, which AMD64 has no bit for.
            Instruction::WindowSave if self.release == Release::V2_40 => self.change().map(drop),
            _ => {
                accept(self, instruction)?;
                if self.is_latest() { self.execute_latest(instruction) } else { Ok(()) }
            }
        }
    }

    /// Instructions that the older releases ignore (`same-value-ignored`, `frame-pointer-undefined`), or in spite of
    /// which they describe the function (`return-in-register`).
    fn execute_latest(&mut self, instruction: &Instruction) -> Result<(), Cause> {
        match *instruction {
            Instruction::SameValue(register) if self.is_saved(register) => {
                self.set(register, Recovery::Unchanged)
            }
            Instruction::Undefined(register) if register == self.abi.ra() => {
                self.change()?.outermost = true;
                Ok(())
            }
            Instruction::Register(register, other)
                if register == self.abi.fp() || register == self.abi.ra() =>
            {
                self.use_flexible();
                self.set(register, Recovery::RegisterOffset { register: other, offset: 0 })
            }
            Instruction::Expression(register, expression) if register == self.abi.fp() => {
                self.use_flexible();
                let (base, offset) = self.short(expression).ok_or(Cause::FpExpression)?;
                let is_fp = self.abi == Abi::Amd64 && base == self.abi.fp();
                let register = if is_fp { base } else { frames::NO_REGISTER };
                self.set(self.abi.fp(), Recovery::AtRegister { register, offset })
            }
            Instruction::DefCfaExpression(expression) => self.def_cfa_expression(expression),
            _ => Ok(()),
        }
    }

    /// Ends the row if an instruction was tracked in it; otherwise it starts later.
    fn advance(&mut self, to: u64) -> Result<(), Cause> {
        if to > self.start {
            if self.is_tracked {
                self.end_row()?;
            } else if self.current.is_some() && self.ended.is_empty() {
                return Err(CRASH);
            }
            self.current.get_or_insert(State::EMPTY);
            self.start = to;
        }
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), Cause> {
        let Some(state) = self.current else { return Ok(()) };
        let frame = &state.frame;
        let is_alone = matches!(frame.fp, Recovery::AtCfa(_))
            && !matches!(frame.ra, Recovery::AtCfa(_))
            && self.abi.is_aarch64();
        // observed: "FP without RA on stack"; 2.40 writes such rows.
        if is_alone && self.release != Release::V2_40 {
            return Err(Cause::FpWithoutRa);
        }
        self.ended.push(Ended { start: self.start, state });
        self.is_tracked = false;
        self.is_row_flexible = false;
        Ok(())
    }

    /// Adds the last row, whether an instruction was tracked in it or not, and sets the ends of all rows.
    fn finish(mut self) -> Result<Translated, Cause> {
        if self.is_advance && !self.is_latest() {
            return Err(Cause::UnsupportedEscape);
        }
        self.end_row()?;
        // observed: 2.47.50 writes an entry without rows.
        if self.ended.is_empty() && !self.is_latest() {
            return Err(Cause::NoInitialRules);
        }
        let mut end = self.fde.start().address.saturating_add(self.fde.size());
        let unset = if self.flexible { frames::NO_REGISTER } else { self.abi.sp() };
        let mut rows = Vec::new();
        for Ended { start, state } in self.ended.iter().rev() {
            let frame = if state.outermost {
                Frame::OUTERMOST
            } else {
                frames::written(state.frame, unset, self.release, self.abi)
            };
            rows.push(Row { start: *start, end, frame });
            end = *start;
        }
        rows.reverse();
        Ok(Translated { rows, flexible: self.flexible })
    }

    fn def_cfa(&mut self, register: Register, offset: i64) -> Result<(), Cause> {
        self.accept_base(register)?;
        self.current.get_or_insert(State::EMPTY);
        self.change()?.frame.cfa = Cfa::RegisterOffset { register, offset };
        self.accept_offset(offset)
    }

    /// The offset is that of the last row that ended (`register-in-place`).
    fn def_cfa_register(&mut self, register: Register) -> Result<(), Cause> {
        self.accept_base(register)?;
        let from = match self.last() {
            Some(last) => last.frame.cfa,
            None if self.is_latest() => self.cfa(),
            None => return Err(CRASH),
        };
        let offset = match from {
            Cfa::RegisterOffset { offset, .. } | Cfa::Dereference { offset, .. } => offset,
            Cfa::DereferencePlus { .. } | Cfa::Expression(_) | Cfa::Undefined => {
                frames::unset_offset(self.abi)
            }
        };
        self.change()?.frame.cfa = Cfa::RegisterOffset { register, offset };
        Ok(())
    }

    fn def_cfa_offset(&mut self, offset: i64) -> Result<(), Cause> {
        let cfa = match self.cfa() {
            Cfa::RegisterOffset { register, .. } => {
                self.accept_base_of_offset(register)?;
                Cfa::RegisterOffset { register, offset }
            }
            Cfa::Dereference { register, .. } => Cfa::Dereference { register, offset },
            Cfa::DereferencePlus { .. } | Cfa::Expression(_) | Cfa::Undefined => {
                return Err(Cause::NoInitialRules);
            }
        };
        self.change()?.frame.cfa = cfa;
        self.accept_offset(offset)
    }

    /// `.cfi_escape` of the memory at FP plus an offset of one byte.
    fn def_cfa_expression(&mut self, expression: Expression) -> Result<(), Cause> {
        let is_loaded = self.fde.cfi().expression(expression).get(2..) == Some(&[DEREFERENCE]);
        let short = self
            .short(expression)
            .filter(|(base, _)| is_loaded && self.abi == Abi::Amd64 && *base == self.abi.fp());
        let (register, offset) = short.ok_or(Cause::CfaExpressionForm)?;
        self.use_flexible();
        self.change()?.frame.cfa = Cfa::Dereference { register, offset };
        Ok(())
    }

    /// The register and offset at the start of an expression: an operation and a byte.
    pub(super) fn short(&self, expression: Expression) -> Option<(Register, i64)> {
        let bytes = self.fde.cfi().expression(expression);
        let [operation, offset, ..] = bytes else { return None };
        let base =
            operation.checked_sub(0x70).map_or(frames::NO_REGISTER, |base| Register(base.into()));
        let offset = i64::from(*offset);
        Some((base, if offset & 0x40 == 0 { offset } else { offset - 0x80 }))
    }

    fn set(&mut self, register: Register, rule: Recovery) -> Result<(), Cause> {
        let (fp, ra) = (self.abi.fp(), self.abi.ra());
        if register != fp && register != ra {
            return Ok(());
        }
        let state = self.change()?;
        if register == fp {
            state.frame.fp = rule;
        } else {
            state.frame.ra = rule;
            state.outermost = false;
        }
        Ok(())
    }

    fn offset(&mut self, register: Register, offset: i64) -> Result<(), Cause> {
        if self.is_saved(register) {
            self.set(register, Recovery::AtCfa(offset))
        } else if register != self.abi.ra() || !self.is_latest() {
            // observed: the assembler looks for the row before it looks at the register.
            self.current.map(drop).ok_or(CRASH)
        } else if offset == i64::from(self.abi.fixed_ra_offset()) {
            self.change()?.frame.ra = Recovery::Unchanged;
            Ok(())
        } else {
            self.use_flexible();
            self.set(register, Recovery::AtCfa(offset))
        }
    }

    /// Goes back to the function's first row, not to the CIE's rules (`restore-with-older-cie`).
    fn restore(&mut self, register: Register) -> Result<(), Cause> {
        let initial = match self.ended.first() {
            Some(first) => first.state,
            None if self.is_latest() => self.current.ok_or(CRASH)?,
            None => return Err(CRASH),
        };
        if register == self.abi.fp() {
            self.change()?.frame.fp = initial.frame.fp;
        } else {
            let state = self.change()?;
            state.frame.ra = initial.frame.ra;
            state.outermost = initial.outermost;
        }
        Ok(())
    }

    /// Only one state is kept (`remembers-one-state`). The older releases remember the last row that ended
    /// (`remembered-in-place`).
    fn remember(&mut self) -> Result<(), Cause> {
        self.remembered = if self.is_latest() { self.current } else { self.last() };
        self.remembered.map(drop).ok_or(Cause::RememberFirst)
    }

    fn restore_state(&mut self) -> Result<(), Cause> {
        if self.is_row_flexible {
            return Err(CRASH);
        }
        let remembered = self.remembered.ok_or(CRASH)?;
        *self.change()? = remembered;
        Ok(())
    }
}
