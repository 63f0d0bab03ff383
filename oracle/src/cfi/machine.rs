//! The state machine of DWARF 5 6.4.2, for the registers that are compared.
//!
//! It tracks the CFA, the return address, the frame pointer and AArch64's signing state. Such a state is small enough
//! to be copied: remembering it costs only a push, and detecting a new row a comparison of two states.

mod short_form;
mod step;

use gimli::Reader;
use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, CodeAddress, Expression, Frame, Recovery, Register, Row};

use super::entry::Cie;
use super::error::{CfiError, CfiErrorKind};
use super::expression::Bytes;
use super::instruction::Instructions;
use super::state::{MAX_STATES, State};
use super::traces::Traces;

/// AArch64's pseudo-register for the RA signing state (`RA_SIGN_STATE`).
const RA_SIGN_STATE: Register = Register(34);

/// The registers whose rules are tracked, and the machine.
#[derive(Clone, Copy, Debug)]
struct Columns {
    sp: Register,
    ra: Register,
    fp: Register,
    aarch64: bool,
}

/// Evaluates instructions one at a time.
#[derive(Debug)]
pub(crate) struct Machine<'c> {
    pub(super) instructions: Instructions<'c>,
    columns: Columns,
    code_factor: u64,
    data_factor: i64,
    pub(crate) state: State,
    /// The rules to which `DW_CFA_restore` resets registers; `None` in a CIE, which defines them.
    initial: Option<&'c State>,
    /// A tracked rule may have changed since this was last reset.
    pub(crate) touched: bool,
    /// The facts stated by the instructions so far that no row shows.
    pub(crate) traces: Traces,
    /// The last row that ended. Its frame is the state before the last change.
    pub(crate) row: Row,
}

/// The position of an instruction relative to a function's rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// No advance precedes it.
    pub(crate) at_start: bool,
    /// No row has ended before it.
    pub(crate) in_first_row: bool,
}

/// The effect of an instruction on the location.
pub(crate) enum Step {
    /// The location stays the same.
    Same,
    /// The location advances by this many bytes.
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

    /// Must be called before a tracked rule changes. Copying the frame here, several rows after it was last written, is
    /// what makes rows cheap: a copy right after narrow writes stalls.
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

    /// Whether rules of `register` are tracked.
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
        let Some(State { frame: initial, .. }) = self.initial else {
            return self.restore_initial(register);
        };
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

    /// `DW_CFA_restore` in a CIE, where there is no initial rule yet: the register is as before any rule. If the CIE has a rule for it
    /// already, readers disagree: libgcc drops the rule, `readelf` keeps it.
    #[cold]
    fn restore_initial(&self, register: Register) -> Result<(), CfiErrorKind> {
        let Frame { ra, fp, ra_signed, .. } = self.state.frame;
        let of = |own, rule| register == own && rule != Recovery::Unchanged;
        let is_signed = self.columns.aarch64 && register == RA_SIGN_STATE && ra_signed;
        if of(self.columns.ra, ra) || of(self.columns.fp, fp) || is_signed {
            return Err(CfiErrorKind::NotInitial(gimli::constants::DW_CFA_restore.0));
        }
        Ok(())
    }

    /// Pushes the state, and notes whether there is no row yet.
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

    // observed: GNU as 2.47.50 prints ".cfi_escape with op (0x2e)" unless the operand has one byte, and is 0 or the CFA is based
    // on FP.
    #[cold]
    fn args_size(&mut self, size: u64) {
        self.traces.add(Traces::ARGS_SIZE);
        let base = self.cfa_parts().map(|(register, _)| register);
        if size > 0x7f || size != 0 && base != Ok(self.columns.fp) {
            self.traces.add(Traces::LARGE_ARGS_SIZE);
        }
    }

    fn negate_ra_state(&mut self) {
        self.touch();
        self.state.frame.ra_signed = !self.state.frame.ra_signed;
    }

    /// Assemblers of today know the instruction as an escape only.
    fn set_ra_state(&mut self, state: u64) {
        const SIGNED_WITH_PC: u64 = 2;
        self.traces.add(Traces::ESCAPE);
        if state == SIGNED_WITH_PC {
            self.traces.add(Traces::SIGN_WITH_PC);
        }
        self.touch();
        self.state.frame.ra_signed = state != 0;
    }

    /// The number of bytes of code of an advance.
    #[inline]
    const fn bytes_of(&self, delta: u64) -> Option<u64> {
        delta.checked_mul(self.code_factor)
    }

    fn advance(&self, delta: u64) -> Result<Step, CfiErrorKind> {
        self.bytes_of(delta).map(Step::Advance).ok_or(CfiErrorKind::AddressOverflow)
    }
}

/// What a CIE's initial instructions lead to.
pub(crate) struct Initial {
    /// The state after them.
    pub(crate) state: Result<State, CfiError>,
    /// The traces that they leave.
    pub(crate) traces: Traces,
    /// The first of them that restores a register's initial rule.
    pub(crate) restore: Option<CfiError>,
}

impl Initial {
    /// Executes the instructions.
    pub(crate) fn of(
        instructions: Instructions<'_>,
        cie: &Cie,
        abi: Abi,
        states: &mut Vec<State>,
    ) -> Initial {
        states.clear();
        let mut machine = Machine::new(instructions, cie, abi, None);
        let mut restore = None;
        let state = machine.run_initial(states, &mut restore);
        let state = state.map(|()| machine.state);
        Initial { state, traces: machine.traces, restore }
    }
}

impl Machine<'_> {
    /// Executes a CIE's instructions, and notes the first that restores a register.
    fn run_initial(
        &mut self,
        states: &mut Vec<State>,
        restore: &mut Option<CfiError>,
    ) -> Result<(), CfiError> {
        // A state pushed by the CIE is not one of the function's own.
        let standing = Standing { at_start: false, in_first_row: false };
        while !self.instructions.input.is_empty() {
            let offset = self.instructions.offset();
            let code = self.instructions.input.slice().first().copied().unwrap_or_default();
            match self.step(states, standing) {
                Ok(Step::Same) => {}
                Ok(_) | Err(CfiErrorKind::NotInitial(_)) => {
                    return Err(CfiErrorKind::NotInitial(code).at(offset));
                }
                Err(kind) => return Err(kind.at(offset)),
            }
            if is_restore(code) {
                restore.get_or_insert(CfiErrorKind::NotInitial(code).at(offset));
            }
        }
        Ok(())
    }
}

/// Whether an instruction with this first byte is `DW_CFA_restore` or `DW_CFA_restore_extended`.
const fn is_restore(code: u8) -> bool {
    code >= gimli::constants::DW_CFA_restore.0
        || code == gimli::constants::DW_CFA_restore_extended.0
}
