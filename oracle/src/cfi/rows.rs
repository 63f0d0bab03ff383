//! Instructions to rows: the state machine of DWARF 5 6.4.2, for what is compared.
//!
//! Of all registers only the return address and the frame pointer are kept, beside the CFA and
//! AArch64's signing state. That makes a state small enough to be copied, so that remembering one
//! costs no more than a push, and a row is a comparison of two states.

use gimli::Reader;
use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Expression, Frame, Recovery, Register, Row};

use super::entry::Cie;
use super::error::{CfiError, CfiErrorKind};
use super::expression::{Bytes, Plt};
use super::instruction::{Instruction, Instructions};
use super::pointer::Slice;
use super::{Cfi, Fde};

/// How many states `DW_CFA_remember_state` can put aside. Compilers nest a handful.
pub const MAX_STATES: usize = 1024;
/// AArch64's pseudo-register of the RA signing state (`RA_SIGN_STATE`).
const RA_SIGN_STATE: Register = Register(34);

/// `DW_CFA_advance_loc1`.
const ADVANCE_LOC1: u8 = 0x02;
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

/// The memory that reading rows needs: one for a walk over all functions of a section.
///
/// The states that are put aside grow in it, so that no function allocates after the first ones.
/// It also has the budget for the rows that a procedure linkage table's expression stands for: two
/// for each 16 bytes of code, which a hostile section could promise without having any code.
#[derive(Clone, Debug)]
pub struct RowContext {
    states: Vec<State>,
    blocks: u64,
    /// What is left of a row that is split.
    plt: Option<(Plt, Row)>,
}

impl RowContext {
    /// A context for walking over all functions of `cfi` once.
    #[must_use]
    pub fn new(cfi: &Cfi<'_>) -> RowContext {
        RowContext { states: Vec::new(), blocks: cfi.file_size() / Plt::BLOCK + 1, plt: None }
    }
}

/// The registers with a rule of their own, and how expressions are read.
#[derive(Clone, Copy, Debug)]
struct Columns {
    ra: Register,
    fp: Register,
    aarch64: bool,
}

/// Evaluates instructions one by one.
#[derive(Debug)]
struct Machine<'c> {
    instructions: Instructions<'c>,
    columns: Columns,
    code_factor: u64,
    data_factor: i64,
    state: State,
    /// The rules that `DW_CFA_restore` goes back to; `None` while they are made.
    initial: Option<&'c State>,
    /// A rule that is compared may have changed since this was last reset.
    touched: bool,
    /// The last row that ended; its frame is what held before the change.
    row: Row,
}

/// What an instruction asks of the loop around it.
enum Step {
    /// The state changed, or nothing did.
    Same,
    /// The location moves on by so many bytes.
    Advance(u64),
    /// The location moves to an address.
    MoveTo(sframe_validator::section::CodeAddress),
}

fn factored(offset: i64, factor: i64) -> Result<i64, CfiErrorKind> {
    offset.checked_mul(factor).ok_or(CfiErrorKind::OffsetOverflow)
}

impl<'c> Machine<'c> {
    #[inline]
    fn new(
        instructions: Instructions<'c>,
        cie: &Cie,
        abi: Abi,
        initial: Option<&'c State>,
    ) -> Machine<'c> {
        let columns = Columns { ra: cie.return_address, fp: abi.fp(), aarch64: abi.is_aarch64() };
        Machine {
            instructions,
            columns,
            code_factor: cie.code_alignment_factor,
            data_factor: cie.data_alignment_factor,
            state: initial.copied().unwrap_or(State::INITIAL),
            initial,
            touched: false,
            row: Row { start: 0, end: 0, frame: Frame::OUTERMOST },
        }
    }

    #[inline]
    fn follow(&mut self, instructions: Instructions<'c>, cie: &Cie, initial: Option<&'c State>) {
        self.instructions = instructions;
        self.columns.ra = cie.return_address;
        self.code_factor = cie.code_alignment_factor;
        self.data_factor = cie.data_alignment_factor;
        self.state = initial.copied().unwrap_or(State::INITIAL);
        self.initial = initial;
        self.touched = false;
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

    fn bytes(&self, expression: Expression) -> Option<Bytes<'c>> {
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

    #[cold]
    fn cfa_expression(&mut self, expression: Expression) {
        let simple = self.bytes(expression).and_then(Bytes::cfa);
        self.touch();
        self.state.frame.cfa = simple.unwrap_or(Cfa::Expression(expression));
        self.state.by_expression = true;
    }

    #[cold]
    fn value_expression(&mut self, register: Register, expression: Expression) {
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
        if self.wants(register) {
            let simple = self.bytes(expression).and_then(Bytes::saved_at);
            self.set(register, simple.unwrap_or(Recovery::AtExpression(expression)));
        }
    }

    /// Decodes and carries out one instruction. Those that compilers write in nearly every
    /// function are decoded here, without a detour over [`Instruction`].
    #[inline]
    fn step(&mut self, states: &mut Vec<State>) -> Result<Step, CfiErrorKind> {
        let all = self.instructions.input;
        let code = all.slice().first().copied().unwrap_or_default();
        let low = code & 0x3f;
        match code {
            0x40..=0x7f => {
                self.instructions.input.skip(1)?;
                self.advance(u64::from(low))
            }
            0x80..=0xbf => {
                let offset = self.short_operand()?;
                self.saved(Register(u32::from(low)), offset.cast_signed())?;
                Ok(Step::Same)
            }
            DEF_CFA_OFFSET => {
                let offset = self.short_operand()?;
                let (register, _) = self.cfa_parts()?;
                self.cfa(register, offset.cast_signed());
                Ok(Step::Same)
            }
            ADVANCE_LOC1 => {
                let delta = match all.slice() {
                    [_, delta, ..] => *delta,
                    _ => return Err(CfiErrorKind::Truncated),
                };
                self.instructions.input.skip(2)?;
                self.advance(u64::from(delta))
            }
            _ => self.other(states),
        }
    }

    /// The code's one operand, an unsigned number that mostly has one byte.
    #[inline]
    fn short_operand(&mut self) -> Result<u64, CfiErrorKind> {
        let input = &mut self.instructions.input;
        if let [_, value @ ..0x80, ..] = input.slice() {
            let value = u64::from(*value);
            input.skip(2)?;
            return Ok(value);
        }
        input.skip(1)?;
        Ok(input.read_uleb128()?)
    }

    #[inline]
    fn advance(&self, delta: u64) -> Result<Step, CfiErrorKind> {
        let bytes = delta.checked_mul(self.code_factor);
        bytes.map(Step::Advance).ok_or(CfiErrorKind::AddressOverflow)
    }

    #[inline(never)]
    fn other(&mut self, states: &mut Vec<State>) -> Result<Step, CfiErrorKind> {
        match self.instructions.decode()? {
            Instruction::Nop | Instruction::ArgsSize(_) | Instruction::WindowSave => {}
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
            Instruction::Undefined(register) => self.set(register, Recovery::Undefined),
            Instruction::SameValue(register) => self.set(register, Recovery::Unchanged),
            Instruction::Offset(register, offset) => self.saved(register, offset.cast_signed())?,
            Instruction::OffsetSf(register, offset) => self.saved(register, offset)?,
            Instruction::NegativeOffset(register, offset) => {
                let offset =
                    offset.cast_signed().checked_neg().ok_or(CfiErrorKind::OffsetOverflow)?;
                self.saved(register, offset)?;
            }
            Instruction::ValOffset(register, offset) => {
                let offset = factored(offset.cast_signed(), self.data_factor)?;
                self.set(register, Recovery::CfaOffset(offset));
            }
            Instruction::ValOffsetSf(register, offset) => {
                let offset = factored(offset, self.data_factor)?;
                self.set(register, Recovery::CfaOffset(offset));
            }
            Instruction::Register(register, source) if register == source => {
                self.set(register, Recovery::Unchanged);
            }
            Instruction::Register(register, source) => {
                self.set(register, Recovery::RegisterOffset { register: source, offset: 0 });
            }
            Instruction::Expression(register, expression) => {
                self.saved_at_expression(register, expression);
            }
            Instruction::ValExpression(register, expression) => {
                self.value_expression(register, expression);
            }
            Instruction::Restore(register) => self.restore(register)?,
            Instruction::RememberState => {
                if states.len() >= MAX_STATES {
                    return Err(CfiErrorKind::TooManyStates);
                }
                states.push(self.state);
            }
            Instruction::RestoreState => {
                let state = states.pop().ok_or(CfiErrorKind::UnbalancedRestoreState)?;
                self.touch();
                self.state = state;
            }
            Instruction::NegateRaState | Instruction::NegateRaStateWithPc => {
                self.touch();
                self.state.frame.ra_signed = !self.state.frame.ra_signed;
            }
        }
        Ok(Step::Same)
    }
}

/// The state that a CIE's initial instructions make.
pub(crate) fn initial_state(
    instructions: Instructions<'_>,
    cie: &Cie,
    abi: Abi,
    states: &mut Vec<State>,
) -> Result<State, CfiError> {
    states.clear();
    let mut machine = Machine::new(instructions, cie, abi, None);
    while !machine.instructions.input.is_empty() {
        let offset = machine.instructions.offset();
        let code = machine.instructions.input.slice().first().copied().unwrap_or_default();
        match machine.step(states) {
            Ok(Step::Same) => {}
            Ok(_) | Err(CfiErrorKind::NotInitial(_)) => {
                return Err(CfiErrorKind::NotInitial(code).at(offset));
            }
            Err(kind) => return Err(kind.at(offset)),
        }
    }
    Ok(machine.state)
}

/// What is left to do once the instructions are over.
#[derive(Clone, Copy, Debug)]
enum Ending {
    /// There are instructions left.
    Running,
    /// The last row reaches to the end of the range; then this error, if any.
    Row(Option<CfiError>),
    /// This error, and nothing more.
    Error(CfiError),
    Done,
}

/// The rows of one function, in the order of their addresses, without gaps or overlaps.
///
/// Neighbours that say the same are one row, and a row without bytes is none: what is left is what
/// an unwinder can see. An error ends the rows; from the end of the last one on, nothing is known.
#[derive(Debug)]
pub struct Rows<'c, 'x> {
    machine: Machine<'c>,
    context: &'x mut RowContext,
    /// Where the row in the making starts.
    row_start: u64,
    location: u64,
    end: u64,
    section: u32,
    plt_possible: bool,
    ending: Ending,
}

impl<'c, 'x> Rows<'c, 'x> {
    #[inline]
    pub(crate) fn new(fde: &Fde<'c>, context: &'x mut RowContext) -> Rows<'c, 'x> {
        context.states.clear();
        context.plt = None;
        let cie = fde.cie();
        let start = fde.start();
        let abi = fde.cfi().abi();
        let initial = cie.initial.as_ref();
        Rows {
            machine: Machine::new(fde.instructions(), cie, abi, initial.ok()),
            context,
            row_start: start.address,
            location: start.address,
            // Checked when the FDE was read.
            end: start.address.saturating_add(fde.size()),
            section: start.section,
            plt_possible: abi == Abi::Amd64 && !fde.cfi().is_relocatable(),
            ending: initial.err().map_or(Ending::Running, |error| Ending::Error(*error)),
        }
    }

    /// Starts over with another function of the same section, in the same context.
    #[inline]
    pub fn follow(&mut self, fde: &Fde<'c>) {
        self.context.states.clear();
        self.context.plt = None;
        let cie = fde.cie();
        let start = fde.start();
        let initial = cie.initial.as_ref();
        self.machine.follow(fde.instructions(), cie, initial.ok());
        self.row_start = start.address;
        self.location = start.address;
        self.end = start.address.saturating_add(fde.size());
        self.section = start.section;
        self.ending = initial.err().map_or(Ending::Running, |error| Ending::Error(*error));
    }

    /// The row that [`Rows::next_row`] gave last.
    #[must_use]
    pub const fn row(&self) -> &Row {
        &self.machine.row
    }

    /// The row just made, split where a procedure linkage table's expression says so.
    #[inline]
    fn made(&mut self) -> &Row {
        if self.plt_possible
            && let Cfa::Expression(expression) = self.machine.row.frame.cfa
        {
            self.split_plt(expression);
        }
        &self.machine.row
    }

    #[cold]
    fn split_plt(&mut self, expression: Expression) {
        let row = self.machine.row;
        let Some(plt) = self.machine.bytes(expression).and_then(Bytes::plt) else { return };
        let blocks = (row.end - row.start) / Plt::BLOCK + 1;
        let Some(left) = self.context.blocks.checked_sub(blocks) else { return };
        self.context.blocks = left;
        self.next_plt(plt, row);
    }

    /// Takes the first part off a row that is split.
    #[cold]
    fn next_plt(&mut self, plt: Plt, mut rest: Row) {
        let (cfa, next) = plt.at(rest.start);
        let end = next.map_or(rest.end, |next| next.min(rest.end));
        self.machine.row = Row { start: rest.start, end, frame: Frame { cfa, ..rest.frame } };
        rest.start = end;
        self.context.plt = (rest.start < rest.end).then_some((plt, rest));
    }

    /// Ends the row at the current location, if the state has changed there; whether there is one.
    #[inline]
    fn close_row(&mut self) -> bool {
        let machine = &mut self.machine;
        if !machine.touched {
            return false;
        }
        machine.touched = false;
        if machine.state.frame == machine.row.frame {
            return false;
        }
        machine.row.start = self.row_start;
        machine.row.end = self.location;
        let some = self.row_start < self.location;
        self.row_start = self.location;
        some
    }

    /// Makes the row from the last one to `end`; whether it has any bytes.
    fn last_row(&mut self, end: u64) -> bool {
        let machine = &mut self.machine;
        if !machine.touched {
            machine.row.frame = machine.state.frame;
        }
        machine.row.start = self.row_start;
        machine.row.end = end;
        self.row_start < end
    }

    /// Goes on until a row ends; `false` when the instructions do, or are wrong.
    #[inline]
    fn run(&mut self) -> bool {
        loop {
            let machine = &mut self.machine;
            let at = machine.instructions.input;
            if at.is_empty() {
                self.ending = Ending::Row(None);
                return self.close_row();
            }
            let to = match machine.step(&mut self.context.states) {
                Ok(Step::Same) => continue,
                Ok(Step::Advance(bytes)) => self.location.checked_add(bytes),
                Ok(Step::MoveTo(place)) => {
                    if place.section != self.section || place.address < self.location {
                        let (from, to) = (self.location, place.address);
                        return self.fail(CfiErrorKind::SetLocBackwards { from, to }, at);
                    }
                    Some(place.address)
                }
                Err(kind) => return self.fail(kind, at),
            };
            match to {
                Some(to) if to <= self.end => {
                    if to > self.location {
                        let closed = self.close_row();
                        self.location = to;
                        if closed {
                            return true;
                        }
                    }
                }
                // The rows before are sure, also the one that the advance leaves.
                Some(address) => {
                    let kind = CfiErrorKind::AdvancePastEnd { address, end: self.end };
                    self.ending = Ending::Row(Some(self.error(kind, at)));
                    return self.close_row();
                }
                None => return self.fail(CfiErrorKind::AddressOverflow, at),
            }
        }
    }

    #[cold]
    fn error(&self, kind: CfiErrorKind, at: Slice<'c>) -> CfiError {
        kind.at(at.offset_from(self.machine.instructions.environment.whole) as u64)
    }

    /// The row before the location is sure, what holds at the location is not.
    #[cold]
    fn fail(&mut self, kind: CfiErrorKind, at: Slice<'c>) -> bool {
        self.ending = Ending::Error(self.error(kind, at));
        self.last_row(self.location)
    }

    /// The next row, where it stands: the iterator without its copies, which cost as much as
    /// the instructions do.
    ///
    /// # Errors
    /// The one that ends the rows, once.
    #[inline]
    pub fn next_row(&mut self) -> Result<Option<&Row>, CfiError> {
        if let Some((plt, rest)) = self.context.plt.take() {
            self.next_plt(plt, rest);
            return Ok(Some(&self.machine.row));
        }
        if let Ending::Running = self.ending
            && self.run()
        {
            return Ok(Some(self.made()));
        }
        self.finish()
    }

    #[inline(never)]
    fn finish(&mut self) -> Result<Option<&Row>, CfiError> {
        if let Ending::Row(error) = self.ending {
            self.ending = error.map_or(Ending::Done, Ending::Error);
            if self.last_row(self.end) {
                return Ok(Some(self.made()));
            }
        }
        if let Ending::Error(error) = self.ending {
            self.ending = Ending::Done;
            return Err(error);
        }
        Ok(None)
    }
}

impl Iterator for Rows<'_, '_> {
    type Item = Result<Row, CfiError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_row().map(|row| row.copied()).transpose()
    }
}
