//! The rules of registers that functions keep for their callers and that no [`Frame`](sframe_validator::unwind::Frame) has.
//!
//! Frames are made for every function of a file, and must be small. These rules are needed only where they are compared with the
//! machine code.

use sframe_validator::unwind::{CodeAddress, Expression, Recovery, Register};

use super::error::CfiErrorKind;
use super::expression::Bytes;
use super::function::Fde;
use super::instruction::{Instruction, Instructions};
use super::state::MAX_STATES;

/// The rules of some registers at some addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegisterRow {
    /// The first address.
    pub(crate) start: u64,
    /// The end, exclusive.
    pub(crate) end: u64,
    /// The rules, in the order of the registers. A register without a rule is unchanged: the psABI says so of those that functions
    /// keep (DWARF 5 6.4.1).
    pub(crate) rules: Vec<Recovery>,
}

/// The rows of a function for some registers, in the order of their addresses, without gaps or overlaps. An instruction that
/// cannot be read or executed ends them.
#[derive(Debug)]
pub(crate) struct RegisterRows<'c, 'r> {
    registers: &'r [Register],
    function: Fde<'c>,
    instructions: Instructions<'c>,
    /// The rules after the CIE's instructions.
    initial: Vec<Recovery>,
    rules: Vec<Recovery>,
    remembered: Vec<Vec<Recovery>>,
    row: RegisterRow,
    /// The end of the last row.
    location: u64,
    is_over: bool,
}

impl<'c> Fde<'c> {
    /// The rows of the function for `registers`.
    pub(crate) fn register_rows<'r>(&self, registers: &'r [Register]) -> RegisterRows<'c, 'r> {
        let rules = vec![Recovery::Unchanged; registers.len()];
        let start = self.start().address;
        let mut rows = RegisterRows {
            registers,
            function: *self,
            instructions: self.cfi().initial_instructions(self.cie()),
            initial: rules.clone(),
            rules: rules.clone(),
            remembered: Vec::new(),
            row: RegisterRow { start, end: start, rules },
            location: start,
            is_over: false,
        };
        rows.is_over = rows.read_until_advance() != Ok(None);
        rows.initial.clone_from(&rows.rules);
        rows.remembered.clear();
        rows.instructions = self.instructions();
        rows
    }

    /// The rule for a register at an address in the function; [`Recovery::Unchanged`] if there is none. `None` if the instructions
    /// cannot be read so far.
    #[must_use]
    pub fn rule(&self, register: Register, address: u64) -> Option<Recovery> {
        let registers = [register];
        let mut rows = self.register_rows(&registers);
        while let Some(row) = rows.next_row() {
            if (row.start..row.end).contains(&address) {
                return row.rules.first().copied();
            }
        }
        None
    }
}

impl RegisterRows<'_, '_> {
    /// The row that was read last; at first, one without bytes.
    pub(crate) const fn row(&self) -> &RegisterRow {
        &self.row
    }

    /// The next row. Rows may have the same rules as the one before.
    pub(crate) fn next_row(&mut self) -> Option<&RegisterRow> {
        let end = self.function.start().address.saturating_add(self.function.size());
        while !self.is_over && self.location < end {
            let to = match self.read_until_advance() {
                Ok(Some(to)) => to.min(end),
                Ok(None) => end,
                Err(_) => {
                    self.is_over = true;
                    return None;
                }
            };
            if to > self.location {
                self.row.start = self.location;
                self.row.end = to;
                self.row.rules.clone_from(&self.rules);
                self.location = to;
                return Some(&self.row);
            }
        }
        None
    }

    /// Executes instructions up to an advance. Returns where it leads; `None` at the end of the instructions.
    fn read_until_advance(&mut self) -> Result<Option<u64>, CfiErrorKind> {
        while let Some(instruction) = self.instructions.next() {
            let instruction = instruction.map_err(|error| error.kind)?;
            if let Some(to) = self.execute(instruction)? {
                return Ok(Some(to));
            }
        }
        Ok(None)
    }

    /// Executes an instruction. Returns where it moves the location.
    fn execute(&mut self, instruction: Instruction) -> Result<Option<u64>, CfiErrorKind> {
        let cie = self.function.cie();
        let factored = |offset: i64| {
            offset.checked_mul(cie.data_alignment_factor).ok_or(CfiErrorKind::OffsetOverflow)
        };
        let (register, rule) = match instruction {
            Instruction::AdvanceLoc(delta) => {
                let bytes = delta.checked_mul(cie.code_alignment_factor);
                let to = bytes.and_then(|bytes| self.location.checked_add(bytes));
                return to.map(Some).ok_or(CfiErrorKind::AddressOverflow);
            }
            Instruction::SetLoc(place) => return self.move_to(place).map(Some),
            Instruction::RememberState => {
                if self.remembered.len() >= MAX_STATES {
                    return Err(CfiErrorKind::TooManyStates);
                }
                self.remembered.push(self.rules.clone());
                return Ok(None);
            }
            Instruction::RestoreState => {
                self.rules = self.remembered.pop().ok_or(CfiErrorKind::UnbalancedRestoreState)?;
                return Ok(None);
            }
            Instruction::Restore(register) => {
                let place = self.registers.iter().position(|known| *known == register);
                let initial = place.and_then(|place| self.initial.get(place)).copied();
                (register, initial.unwrap_or(Recovery::Unchanged))
            }
            Instruction::Undefined(register) => (register, Recovery::Undefined),
            Instruction::SameValue(register) => (register, Recovery::Unchanged),
            Instruction::Offset(register, offset) => {
                (register, Recovery::AtCfa(factored(offset.cast_signed())?))
            }
            Instruction::OffsetSf(register, offset) => {
                (register, Recovery::AtCfa(factored(offset)?))
            }
            Instruction::NegativeOffset(register, offset) => {
                let offset = offset.cast_signed().checked_neg();
                let offset = offset.ok_or(CfiErrorKind::OffsetOverflow)?;
                (register, Recovery::AtCfa(factored(offset)?))
            }
            Instruction::ValOffset(register, offset) => {
                (register, Recovery::CfaOffset(factored(offset.cast_signed())?))
            }
            Instruction::ValOffsetSf(register, offset) => {
                (register, Recovery::CfaOffset(factored(offset)?))
            }
            Instruction::Register(register, source) if register == source => {
                (register, Recovery::Unchanged)
            }
            Instruction::Register(register, source) => {
                (register, Recovery::RegisterOffset { register: source, offset: 0 })
            }
            Instruction::Expression(register, expression) => {
                let simple = self.bytes(expression).and_then(Bytes::saved_at);
                (register, simple.unwrap_or(Recovery::AtExpression(expression)))
            }
            Instruction::ValExpression(register, expression) => {
                let simple = self.bytes(expression).and_then(Bytes::is_value);
                (register, simple.unwrap_or(Recovery::Expression(expression)))
            }
            Instruction::Nop
            | Instruction::ArgsSize(_)
            | Instruction::WindowSave
            | Instruction::DefCfa(..)
            | Instruction::DefCfaSf(..)
            | Instruction::DefCfaRegister(_)
            | Instruction::DefCfaOffset(_)
            | Instruction::DefCfaOffsetSf(_)
            | Instruction::DefCfaExpression(_)
            | Instruction::NegateRaState
            | Instruction::NegateRaStateWithPc
            | Instruction::SetRaState(..) => return Ok(None),
        };
        let place = self.registers.iter().position(|known| *known == register);
        if let Some(known) = place.and_then(|place| self.rules.get_mut(place)) {
            *known = rule;
        }
        Ok(None)
    }

    /// The address of a place to which `DW_CFA_set_loc` moves.
    fn move_to(&self, place: CodeAddress) -> Result<u64, CfiErrorKind> {
        let (from, to) = (self.location, place.address);
        match place.section == self.function.start().section && to >= from {
            true => Ok(to),
            false => Err(CfiErrorKind::SetLocBackwards { from, to }),
        }
    }

    fn bytes(&self, expression: Expression) -> Option<Bytes<'_>> {
        let Instructions { environment, address_size, .. } = &self.instructions;
        Bytes::of(expression, environment.whole, *address_size)
    }
}
