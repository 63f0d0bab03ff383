//! The state machine of DWARF 5 6.4.2: what an instruction changes, for what is compared.
//!
//! Of all registers only the return address and the frame pointer are kept, beside the CFA and
//! AArch64's signing state. That makes a state small enough to be copied, so that remembering one
//! costs no more than a push, and a row is a comparison of two states.

use gimli::{Endianity, Reader};
use sframe_validator::Abi;
use sframe_validator::section::CodeAddress;
use sframe_validator::unwind::{Cfa, Expression, Frame, Recovery, Register, Row};

use super::entry::Cie;
use super::error::{CfiError, CfiErrorKind};
use super::expression::Bytes;
use super::instruction::{Instruction, Instructions};
use super::pointer::Slice;

/// How many states `DW_CFA_remember_state` can put aside. Compilers nest a handful.
pub const MAX_STATES: usize = 1024;
/// AArch64's pseudo-register of the RA signing state (`RA_SIGN_STATE`).
const RA_SIGN_STATE: Register = Register(34);

/// `DW_CFA_nop`.
const NOP: u8 = 0x00;
/// `DW_CFA_advance_loc1`.
const ADVANCE_LOC1: u8 = 0x02;
/// `DW_CFA_advance_loc2`.
const ADVANCE_LOC2: u8 = 0x03;
/// `DW_CFA_remember_state`.
const REMEMBER_STATE: u8 = 0x0a;
/// `DW_CFA_restore_state`.
const RESTORE_STATE: u8 = 0x0b;
/// `DW_CFA_def_cfa`.
const DEF_CFA: u8 = 0x0c;
/// `DW_CFA_def_cfa_register`.
const DEF_CFA_REGISTER: u8 = 0x0d;
/// `DW_CFA_def_cfa_offset`.
const DEF_CFA_OFFSET: u8 = 0x0e;

/// What instructions change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) frame: Frame,
    /// The CFA's rule was given as an expression, and half of it cannot be changed.
    by_expression: bool,
}

impl State {
    /// Before a CIE's first instruction. A register without a rule is unchanged, which is what
    /// DWARF calls unspecified and leaves to the machine's ABI.
    pub(crate) const INITIAL: State = State {
        frame: Frame {
            cfa: Cfa::Undefined,
            ra: Recovery::Unchanged,
            fp: Recovery::Unchanged,
            ra_signed: false,
        },
        by_expression: false,
    };
}

/// What a function's instructions say that leaves no trace in its rows, and that keeps producers
/// from writing SFrame for it: a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Traces(u8);

impl Traces {
    /// `negate_ra_state_with_pc`.
    pub(crate) const SIGN_WITH_PC: Traces = Traces(1);
    /// `val_offset` of SP, FP or RA, also where it is taken back before the row ends.
    pub(crate) const VALUE_OFFSET: Traces = Traces(2);
    /// SP is undefined.
    pub(crate) const UNDEFINED_SP: Traces = Traces(4);
    /// SP is saved in another register.
    pub(crate) const SAVED_SP: Traces = Traces(8);
    /// `GNU_args_size`, `GNU_window_save`, `val_expression`, or `expression` of SP.
    pub(crate) const ESCAPE: Traces = Traces(16);
    /// `remember_state` before the first advance.
    pub(crate) const REMEMBER_AT_START: Traces = Traces(32);
    /// `remember_state` before a rule that is compared has changed.
    pub(crate) const REMEMBER_FIRST: Traces = Traces(64);
    /// An expression of any kind, also of a register that is not kept.
    pub(crate) const EXPRESSION: Traces = Traces(128);

    pub(crate) const fn contains(self, other: Traces) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn add(&mut self, other: Traces) {
        self.0 |= other.0;
    }
}

/// The registers with a rule of their own, and how expressions are read.
#[derive(Clone, Copy, Debug)]
struct Columns {
    sp: Register,
    ra: Register,
    fp: Register,
    aarch64: bool,
}

/// Whether two frames are equal: `==`, with the rules that nearly all frames have in line.
#[inline(always)]
pub(crate) fn same(a: &Frame, b: &Frame) -> bool {
    let cfa = match (&a.cfa, &b.cfa) {
        (
            Cfa::RegisterOffset { register, offset },
            Cfa::RegisterOffset { register: other, offset: far },
        ) => register == other && offset == far,
        (a, b) => a == b,
    };
    let rule = |a: &Recovery, b: &Recovery| match (a, b) {
        (Recovery::AtCfa(offset), Recovery::AtCfa(other)) => offset == other,
        (Recovery::Unchanged, Recovery::Unchanged) => true,
        (a, b) => a == b,
    };
    cfa && rule(&a.ra, &b.ra) && rule(&a.fp, &b.fp) && a.ra_signed == b.ra_signed
}

/// Evaluates instructions one by one.
#[derive(Debug)]
pub(crate) struct Machine<'c> {
    pub(crate) instructions: Instructions<'c>,
    columns: Columns,
    code_factor: u64,
    data_factor: i64,
    pub(crate) state: State,
    /// The rules that `DW_CFA_restore` goes back to; `None` while they are made.
    initial: Option<&'c State>,
    /// A rule that is compared may have changed since this was last reset.
    pub(crate) touched: bool,
    /// What leaves no trace in the rows.
    pub(crate) traces: Traces,
    /// The last row that ended; its frame is what held before the change.
    pub(crate) row: Row,
}

/// Where in a function's rows instructions stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// No advance is before them.
    pub(crate) at_start: bool,
    /// No row has ended before them.
    pub(crate) in_first_row: bool,
}

/// What an instruction asks of the loop around it.
pub(crate) enum Step {
    /// The state changed, or nothing did.
    Same,
    /// The location moves on by so many bytes.
    Advance(u64),
    /// The location moves to an address.
    MoveTo(CodeAddress),
}

fn factored(offset: i64, factor: i64) -> Result<i64, CfiErrorKind> {
    offset.checked_mul(factor).ok_or(CfiErrorKind::OffsetOverflow)
}

impl<'c> Machine<'c> {
    #[inline]
    pub(crate) fn new(
        instructions: Instructions<'c>,
        cie: &Cie,
        abi: Abi,
        initial: Option<&'c State>,
    ) -> Machine<'c> {
        let columns = Columns {
            sp: abi.sp(),
            ra: cie.return_address,
            fp: abi.fp(),
            aarch64: abi.is_aarch64(),
        };
        Machine {
            instructions,
            columns,
            code_factor: cie.code_alignment_factor,
            data_factor: cie.data_alignment_factor,
            state: initial.copied().unwrap_or(State::INITIAL),
            initial,
            touched: false,
            traces: cie.traces,
            row: Row { start: 0, end: 0, frame: Frame::OUTERMOST },
        }
    }

    #[inline]
    pub(crate) fn follow(
        &mut self,
        instructions: Instructions<'c>,
        cie: &Cie,
        initial: Option<&'c State>,
    ) {
        self.instructions = instructions;
        self.columns.ra = cie.return_address;
        self.code_factor = cie.code_alignment_factor;
        self.data_factor = cie.data_alignment_factor;
        self.state = initial.copied().unwrap_or(State::INITIAL);
        self.initial = initial;
        self.touched = false;
        self.traces = cie.traces;
    }

    /// Has to be called before a rule that is compared changes. Copying the frame here, when it was
    /// last written some rows ago, is what makes rows cheap: a copy right behind narrow writes
    /// stalls.
    #[inline]
    fn touch(&mut self) {
        if !self.touched {
            self.touched = true;
            self.row.frame = self.state.frame;
        }
    }

    pub(crate) fn bytes(&self, expression: Expression) -> Option<Bytes<'c>> {
        Bytes::of(expression, self.instructions.environment.whole, self.instructions.address_size)
    }

    #[inline]
    fn set(&mut self, register: Register, rule: Recovery) {
        if register == self.columns.ra {
            self.touch();
            self.state.frame.ra = rule;
        }
        if register == self.columns.fp {
            self.touch();
            self.state.frame.fp = rule;
        }
    }

    /// Whether rules of `register` are kept at all.
    #[inline]
    fn wants(&self, register: Register) -> bool {
        register == self.columns.ra || register == self.columns.fp
    }

    fn is_value(&mut self, register: Register, offset: i64) -> Result<(), CfiErrorKind> {
        let offset = factored(offset, self.data_factor)?;
        if register == self.columns.sp || self.wants(register) {
            self.traces.add(Traces::VALUE_OFFSET);
        }
        self.set(register, Recovery::CfaOffset(offset));
        Ok(())
    }

    #[inline]
    fn saved(&mut self, register: Register, offset: i64) -> Result<(), CfiErrorKind> {
        if self.wants(register) {
            let offset = factored(offset, self.data_factor)?;
            self.set(register, Recovery::AtCfa(offset));
        }
        Ok(())
    }

    #[inline]
    fn cfa(&mut self, register: Register, offset: i64) {
        self.touch();
        self.state.frame.cfa = Cfa::RegisterOffset { register, offset };
        self.state.by_expression = false;
    }

    #[inline]
    fn cfa_parts(&self) -> Result<(Register, i64), CfiErrorKind> {
        match self.state.frame.cfa {
            Cfa::RegisterOffset { register, offset } if !self.state.by_expression => {
                Ok((register, offset))
            }
            _ => Err(CfiErrorKind::CfaNotRegister),
        }
    }

    #[inline]
    fn restore(&mut self, register: Register) -> Result<(), CfiErrorKind> {
        // In a CIE there is nothing to go back to yet.
        let initial = self.initial.ok_or(CfiErrorKind::NotInitial(0xc0))?.frame;
        if register == self.columns.ra {
            self.set(register, initial.ra);
        }
        if register == self.columns.fp {
            self.touch();
            self.state.frame.fp = initial.fp;
        }
        if self.columns.aarch64 && register == RA_SIGN_STATE {
            self.touch();
            self.state.frame.ra_signed = initial.ra_signed;
        }
        Ok(())
    }

    /// Puts the state aside, and notes where there is no row yet to go back to.
    #[inline]
    fn remember(
        &mut self,
        states: &mut Vec<State>,
        standing: Standing,
    ) -> Result<(), CfiErrorKind> {
        if states.len() >= MAX_STATES {
            return Err(CfiErrorKind::TooManyStates);
        }
        states.push(self.state);
        if standing.at_start {
            self.traces.add(Traces::REMEMBER_AT_START);
        }
        let changed = self.touched && self.state.frame != self.row.frame;
        if standing.in_first_row && (standing.at_start || !changed) {
            self.traces.add(Traces::REMEMBER_FIRST);
        }
        Ok(())
    }

    #[inline]
    fn restore_state(&mut self, states: &mut Vec<State>) -> Result<(), CfiErrorKind> {
        let state = states.pop().ok_or(CfiErrorKind::UnbalancedRestoreState)?;
        self.touch();
        self.state = state;
        Ok(())
    }

    #[cold]
    fn cfa_expression(&mut self, expression: Expression) {
        self.traces.add(Traces::EXPRESSION);
        let simple = self.bytes(expression).and_then(Bytes::cfa);
        self.touch();
        self.state.frame.cfa = simple.unwrap_or(Cfa::Expression(expression));
        self.state.by_expression = true;
    }

    #[cold]
    fn value_expression(&mut self, register: Register, expression: Expression) {
        self.traces.add(Traces::ESCAPE);
        if self.columns.aarch64 && register == RA_SIGN_STATE {
            // 0: not signed; bit 0: signed.
            if let Some(value) = self.bytes(expression).and_then(Bytes::constant) {
                self.touch();
                self.state.frame.ra_signed = value & 1 != 0;
            }
        } else if self.wants(register) {
            let simple = self.bytes(expression).and_then(Bytes::is_value);
            self.set(register, simple.unwrap_or(Recovery::Expression(expression)));
        }
    }

    #[cold]
    fn saved_at_expression(&mut self, register: Register, expression: Expression) {
        self.traces.add(Traces::EXPRESSION);
        if register == self.columns.sp {
            self.traces.add(Traces::ESCAPE);
        }
        if self.wants(register) {
            let simple = self.bytes(expression).and_then(Bytes::saved_at);
            self.set(register, simple.unwrap_or(Recovery::AtExpression(expression)));
        }
    }

    fn negate_ra_state(&mut self) {
        self.touch();
        self.state.frame.ra_signed = !self.state.frame.ra_signed;
    }

    /// Carries out instructions up to the next advance and with it, as long as they are of those
    /// that compilers write in nearly every function, with operands as short as they are there: the
    /// bytes of code that it stands for. `None` before any other instruction, and before an advance
    /// of more than `limit` bytes.
    ///
    /// They are decoded here without a detour over [`Instruction`], and with the place kept in
    /// registers, which takes half the time.
    #[inline(always)]
    pub(crate) fn until_advance(
        &mut self,
        limit: u64,
        states: &mut Vec<State>,
        standing: Standing,
    ) -> Option<u64> {
        let endian = self.instructions.input.endian();
        let mut rest = self.instructions.input.slice();
        let bytes = loop {
            let (delta, behind) = match rest {
                [code @ 0x40..=0x7f, behind @ ..] => (u16::from(code & 0x3f), behind),
                [ADVANCE_LOC1, delta, behind @ ..] => (u16::from(*delta), behind),
                [ADVANCE_LOC2, first, second, behind @ ..] => {
                    (endian.read_u16(&[*first, *second]), behind)
                }
                [code @ 0x80..=0xbf, operand @ ..0x80, behind @ ..] => {
                    let register = Register(u32::from(code & 0x3f));
                    if self.wants(register) {
                        let Ok(offset) = factored(i64::from(*operand), self.data_factor) else {
                            break None;
                        };
                        self.set(register, Recovery::AtCfa(offset));
                    }
                    rest = behind;
                    continue;
                }
                [DEF_CFA_OFFSET, operand @ ..0x80, behind @ ..] => {
                    let Ok((register, _)) = self.cfa_parts() else { break None };
                    self.cfa(register, i64::from(*operand));
                    rest = behind;
                    continue;
                }
                [DEF_CFA_OFFSET, low @ 0x80..=0xff, high @ ..0x80, behind @ ..] => {
                    let Ok((register, _)) = self.cfa_parts() else { break None };
                    self.cfa(register, i64::from(*low & 0x7f) | i64::from(*high) << 7);
                    rest = behind;
                    continue;
                }
                [REMEMBER_STATE, behind @ ..] => {
                    let Ok(()) = self.remember(states, standing) else { break None };
                    rest = behind;
                    continue;
                }
                [RESTORE_STATE, behind @ ..] => {
                    let Ok(()) = self.restore_state(states) else { break None };
                    rest = behind;
                    continue;
                }
                [DEF_CFA_REGISTER, register @ ..0x80, behind @ ..] => {
                    let Ok((_, offset)) = self.cfa_parts() else { break None };
                    self.cfa(Register(u32::from(*register)), offset);
                    rest = behind;
                    continue;
                }
                [DEF_CFA, register @ ..0x80, offset @ ..0x80, behind @ ..] => {
                    self.cfa(Register(u32::from(*register)), i64::from(*offset));
                    rest = behind;
                    continue;
                }
                [NOP, behind @ ..] => {
                    rest = behind;
                    continue;
                }
                _ => break None,
            };
            let bytes = self.bytes_of(delta.into()).filter(|bytes| *bytes <= limit);
            if bytes.is_some() {
                rest = behind;
            }
            break bytes;
        };
        self.instructions.input = Slice::new(rest, endian);
        bytes
    }

    /// The bytes of code that an advance stands for.
    #[inline]
    const fn bytes_of(&self, delta: u64) -> Option<u64> {
        delta.checked_mul(self.code_factor)
    }

    fn advance(&self, delta: u64) -> Result<Step, CfiErrorKind> {
        self.bytes_of(delta).map(Step::Advance).ok_or(CfiErrorKind::AddressOverflow)
    }

    /// Decodes and carries out one instruction.
    #[inline(never)]
    pub(crate) fn step(
        &mut self,
        states: &mut Vec<State>,
        standing: Standing,
    ) -> Result<Step, CfiErrorKind> {
        match self.instructions.decode()? {
            Instruction::Nop => {}
            Instruction::ArgsSize(_) | Instruction::WindowSave => self.traces.add(Traces::ESCAPE),
            Instruction::AdvanceLoc(delta) => return self.advance(delta),
            Instruction::SetLoc(place) => return Ok(Step::MoveTo(place)),
            Instruction::DefCfa(register, offset) => self.cfa(register, offset.cast_signed()),
            Instruction::DefCfaSf(register, offset) => {
                self.cfa(register, factored(offset, self.data_factor)?);
            }
            Instruction::DefCfaRegister(register) => {
                let (_, offset) = self.cfa_parts()?;
                self.cfa(register, offset);
            }
            Instruction::DefCfaOffset(offset) => {
                let (register, _) = self.cfa_parts()?;
                self.cfa(register, offset.cast_signed());
            }
            Instruction::DefCfaOffsetSf(offset) => {
                let (register, _) = self.cfa_parts()?;
                self.cfa(register, factored(offset, self.data_factor)?);
            }
            Instruction::DefCfaExpression(expression) => self.cfa_expression(expression),
            Instruction::Undefined(register) => {
                if register == self.columns.sp {
                    self.traces.add(Traces::UNDEFINED_SP);
                }
                self.set(register, Recovery::Undefined);
            }
            Instruction::SameValue(register) => self.set(register, Recovery::Unchanged),
            Instruction::Offset(register, offset) => self.saved(register, offset.cast_signed())?,
            Instruction::OffsetSf(register, offset) => self.saved(register, offset)?,
            Instruction::NegativeOffset(register, offset) => {
                let offset =
                    offset.cast_signed().checked_neg().ok_or(CfiErrorKind::OffsetOverflow)?;
                self.saved(register, offset)?;
            }
            Instruction::ValOffset(register, offset) => {
                self.is_value(register, offset.cast_signed())?;
            }
            Instruction::ValOffsetSf(register, offset) => self.is_value(register, offset)?,
            Instruction::Register(register, source) if register == source => {
                self.set(register, Recovery::Unchanged);
            }
            Instruction::Register(register, source) => {
                if register == self.columns.sp {
                    self.traces.add(Traces::SAVED_SP);
                }
                self.set(register, Recovery::RegisterOffset { register: source, offset: 0 });
            }
            Instruction::Expression(register, expression) => {
                self.saved_at_expression(register, expression);
            }
            Instruction::ValExpression(register, expression) => {
                self.value_expression(register, expression);
            }
            Instruction::Restore(register) => self.restore(register)?,
            Instruction::RememberState => self.remember(states, standing)?,
            Instruction::RestoreState => self.restore_state(states)?,
            Instruction::NegateRaState => self.negate_ra_state(),
            Instruction::NegateRaStateWithPc => {
                self.traces.add(Traces::SIGN_WITH_PC);
                self.negate_ra_state();
            }
        }
        Ok(Step::Same)
    }
}

/// The state that a CIE's initial instructions make, and what they say besides.
pub(crate) fn initial_state(
    instructions: Instructions<'_>,
    cie: &Cie,
    abi: Abi,
    states: &mut Vec<State>,
) -> Result<(State, Traces), CfiError> {
    states.clear();
    let mut machine = Machine::new(instructions, cie, abi, None);
    // What is put aside before a function begins is none of its own.
    let standing = Standing { at_start: false, in_first_row: false };
    while !machine.instructions.input.is_empty() {
        let offset = machine.instructions.offset();
        let code = machine.instructions.input.slice().first().copied().unwrap_or_default();
        match machine.step(states, standing) {
            Ok(Step::Same) => {}
            Ok(_) | Err(CfiErrorKind::NotInitial(_)) => {
                return Err(CfiErrorKind::NotInitial(code).at(offset));
            }
            Err(kind) => return Err(kind.at(offset)),
        }
    }
    Ok((machine.state, machine.traces))
}
