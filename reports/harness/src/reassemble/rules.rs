//! The rules of all registers, as call frame instructions change them (DWARF 5 6.4.2).
//!
//! The oracle's rows contain only the CFA, RA and FP, like SFrame. Here every register counts, because assemblers make
//! mistakes with the others, too.

use std::collections::BTreeMap;

use sframe_oracle::cfi::{Cfi, Cie, Fde, Instruction, MAX_STATES};
use sframe_validator::Abi;
use sframe_validator::unwind::{Expression, Register};

use super::Reason;

/// The maximum length in bytes of an expression that is written. Real ones have about ten.
const MAX_EXPRESSION: u32 = 1024;

/// How the CFA is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cfa<'c> {
    Register(Register, i64),
    Expression(&'c [u8]),
}

/// How a caller's register is recovered. Registers without a rule are in no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule<'c> {
    Undefined,
    SameValue,
    /// Saved at the CFA plus this offset.
    Offset(i64),
    /// Equal to the CFA plus this offset.
    ValOffset(i64),
    Register(Register),
    Expression(&'c [u8]),
    ValExpression(&'c [u8]),
}

/// The rules at an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State<'c> {
    pub(super) cfa: Option<Cfa<'c>>,
    pub(super) rules: BTreeMap<Register, Rule<'c>>,
    /// The bits toggled by machine-specific instructions: AArch64's signing state, SPARC's windows.
    pub(super) toggles: Toggles,
}

/// Bits that instructions without operands toggle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Toggles {
    pub(super) signed: bool,
    pub(super) signed_with_pc: bool,
    pub(super) window: bool,
}

impl State<'_> {
    /// The ABI's state at entry, with which `.cfi_startproc` starts unless it is `simple`.
    pub(super) fn at_entry(abi: Abi) -> State<'static> {
        let (offset, rules) = match abi {
            Abi::Amd64 => (8, BTreeMap::from([(abi.ra(), Rule::Offset(-8))])),
            Abi::Aarch64Little | Abi::Aarch64Big => (0, BTreeMap::new()),
            Abi::S390x => (160, BTreeMap::new()),
        };
        let cfa = Some(Cfa::Register(abi.sp(), offset));
        State { cfa, rules, toggles: Toggles::default() }
    }
}

impl State<'_> {
    /// The number of its rules. Every 16 bytes of an expression count as one more.
    pub(super) fn weight(&self) -> usize {
        let cfa = match self.cfa {
            Some(Cfa::Expression(expression)) => expression.len(),
            Some(Cfa::Register(..)) | None => 0,
        };
        let rules = self.rules.values().map(|rule| match rule {
            Rule::Expression(expression) | Rule::ValExpression(expression) => expression.len(),
            _ => 0,
        });
        let bytes: usize = rules.sum::<usize>() + cfa;
        self.rules.len() + bytes / 16
    }
}

/// A part of a state before a change.
#[derive(Clone, Copy, Debug)]
enum Before<'c> {
    Cfa(Option<Cfa<'c>>),
    Rule(Register, Option<Rule<'c>>),
    Toggles(Toggles),
    /// A marker for `DW_CFA_remember_state`, without a change.
    Mark,
}

/// The part of a state that an instruction has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Cfa,
    Rule(Register),
    Toggles,
}

/// A state, and the changes to undo to return to a remembered one.
///
/// Storing only the changes means that remembering a state with many registers many times costs no more than the
/// instructions that made it.
#[derive(Debug)]
pub(super) struct Machine<'c> {
    cfi: &'c Cfi<'c>,
    data_factor: i64,
    /// The state to which `DW_CFA_restore` resets registers; `None` while the CIE is evaluated.
    initial: Option<&'c State<'c>>,
    pub(super) state: State<'c>,
    before: Vec<Before<'c>>,
    remembered: usize,
}

impl<'c> Machine<'c> {
    pub(super) fn new(cfi: &'c Cfi<'c>, cie: &Cie, initial: Option<&'c State<'c>>) -> Machine<'c> {
        Machine {
            cfi,
            data_factor: cie.data_alignment_factor,
            initial,
            state: initial.cloned().unwrap_or_default(),
            before: Vec::new(),
            remembered: 0,
        }
    }

    /// The machine at the start of a function whose CIE leads to the state `initial`.
    pub(super) fn of(fde: &Fde<'c>, initial: &'c State<'c>) -> Machine<'c> {
        Machine::new(fde.cfi(), fde.cie(), Some(initial))
    }

    fn factored(&self, offset: i64) -> Result<i64, Reason> {
        offset.checked_mul(self.data_factor).ok_or(Reason::Unreadable)
    }

    fn expression(&self, expression: Expression) -> Result<&'c [u8], Reason> {
        if expression.length > MAX_EXPRESSION {
            return Err(Reason::Expression);
        }
        Ok(self.cfi.expression(expression))
    }

    fn set_cfa(&mut self, cfa: Cfa<'c>, changed: &mut impl FnMut(Change)) {
        let old = self.state.cfa.replace(cfa);
        self.log(Before::Cfa(old));
        changed(Change::Cfa);
    }

    fn set(&mut self, register: Register, rule: Rule<'c>, changed: &mut impl FnMut(Change)) {
        let old = self.state.rules.insert(register, rule);
        self.log(Before::Rule(register, old));
        changed(Change::Rule(register));
    }

    fn log(&mut self, before: Before<'c>) {
        if self.remembered > 0 {
            self.before.push(before);
        }
    }

    /// The rule to which `DW_CFA_restore` resets a register.
    pub(super) fn initial_rule(&self, register: Register) -> Option<Rule<'c>> {
        self.initial.and_then(|state| state.rules.get(&register)).copied()
    }

    /// Evaluates an instruction that is not an advance, and calls `changed` for each change.
    pub(super) fn apply(
        &mut self,
        instruction: &Instruction,
        mut changed: impl FnMut(Change),
    ) -> Result<(), Reason> {
        let changed = &mut changed;
        match *instruction {
            Instruction::Nop | Instruction::ArgsSize(_) => {}
            Instruction::AdvanceLoc(_) | Instruction::SetLoc(_) => return Err(Reason::Unreadable),
            Instruction::DefCfa(register, offset) => {
                self.set_cfa(Cfa::Register(register, offset.cast_signed()), changed);
            }
            Instruction::DefCfaSf(register, offset) => {
                self.set_cfa(Cfa::Register(register, self.factored(offset)?), changed);
            }
            Instruction::DefCfaRegister(register) => {
                let Some(Cfa::Register(_, offset)) = self.state.cfa else {
                    return Err(Reason::Unreadable);
                };
                self.set_cfa(Cfa::Register(register, offset), changed);
            }
            Instruction::DefCfaOffset(offset) => self.set_offset(offset.cast_signed(), changed)?,
            Instruction::DefCfaOffsetSf(offset) => {
                self.set_offset(self.factored(offset)?, changed)?;
            }
            Instruction::DefCfaExpression(expression) => {
                self.set_cfa(Cfa::Expression(self.expression(expression)?), changed);
            }
            Instruction::Undefined(register) => self.set(register, Rule::Undefined, changed),
            Instruction::SameValue(register) => self.set(register, Rule::SameValue, changed),
            Instruction::Offset(register, offset) => {
                let offset = self.factored(offset.cast_signed())?;
                self.set(register, Rule::Offset(offset), changed);
            }
            Instruction::OffsetSf(register, offset) => {
                let offset = self.factored(offset)?;
                self.set(register, Rule::Offset(offset), changed);
            }
            Instruction::NegativeOffset(register, offset) => {
                let offset = self.factored(offset.cast_signed().wrapping_neg())?;
                self.set(register, Rule::Offset(offset), changed);
            }
            Instruction::ValOffset(register, offset) => {
                let offset = self.factored(offset.cast_signed())?;
                self.set(register, Rule::ValOffset(offset), changed);
            }
            Instruction::ValOffsetSf(register, offset) => {
                let offset = self.factored(offset)?;
                self.set(register, Rule::ValOffset(offset), changed);
            }
            Instruction::Register(register, other) => {
                self.set(register, Rule::Register(other), changed);
            }
            Instruction::Expression(register, expression) => {
                let expression = self.expression(expression)?;
                self.set(register, Rule::Expression(expression), changed);
            }
            Instruction::ValExpression(register, expression) => {
                let expression = self.expression(expression)?;
                self.set(register, Rule::ValExpression(expression), changed);
            }
            Instruction::Restore(register) => self.restore(register, changed)?,
            Instruction::RememberState => self.remember()?,
            Instruction::RestoreState => self.go_back(changed)?,
            Instruction::WindowSave => self.toggle(|t| &mut t.window, changed),
            Instruction::NegateRaState => self.toggle(|t| &mut t.signed, changed),
            Instruction::NegateRaStateWithPc => self.toggle(|t| &mut t.signed_with_pc, changed),
            Instruction::SetRaState(state, _) => self.sign(state, changed),
        }
        Ok(())
    }

    fn set_offset(&mut self, offset: i64, changed: &mut impl FnMut(Change)) -> Result<(), Reason> {
        let Some(Cfa::Register(register, _)) = self.state.cfa else {
            return Err(Reason::Unreadable);
        };
        self.set_cfa(Cfa::Register(register, offset), changed);
        Ok(())
    }

    fn restore(
        &mut self,
        register: Register,
        changed: &mut impl FnMut(Change),
    ) -> Result<(), Reason> {
        let initial = self.initial.ok_or(Reason::Unreadable)?;
        match initial.rules.get(&register) {
            Some(rule) => self.set(register, *rule, changed),
            None => {
                let old = self.state.rules.remove(&register);
                self.log(Before::Rule(register, old));
                changed(Change::Rule(register));
            }
        }
        Ok(())
    }

    fn toggle(
        &mut self,
        bit: impl Fn(&mut Toggles) -> &mut bool,
        changed: &mut impl FnMut(Change),
    ) {
        self.log(Before::Toggles(self.state.toggles));
        let bit = bit(&mut self.state.toggles);
        *bit = !*bit;
        changed(Change::Toggles);
    }

    /// Sets how the return address is signed: 1 with SP, 2 with SP and the PC.
    fn sign(&mut self, state: u64, changed: &mut impl FnMut(Change)) {
        self.log(Before::Toggles(self.state.toggles));
        let toggles = &mut self.state.toggles;
        (toggles.signed, toggles.signed_with_pc) = (state == 1, state == 2);
        changed(Change::Toggles);
    }

    fn remember(&mut self) -> Result<(), Reason> {
        if self.remembered == MAX_STATES {
            return Err(Reason::Unreadable);
        }
        self.remembered += 1;
        self.before.push(Before::Mark);
        Ok(())
    }

    fn go_back(&mut self, changed: &mut impl FnMut(Change)) -> Result<(), Reason> {
        while let Some(before) = self.before.pop() {
            match before {
                Before::Cfa(cfa) => {
                    self.state.cfa = cfa;
                    changed(Change::Cfa);
                }
                Before::Rule(register, rule) => {
                    match rule {
                        Some(rule) => self.state.rules.insert(register, rule),
                        None => self.state.rules.remove(&register),
                    };
                    changed(Change::Rule(register));
                }
                Before::Toggles(toggles) => {
                    self.state.toggles = toggles;
                    changed(Change::Toggles);
                }
                Before::Mark => {
                    self.remembered -= 1;
                    return Ok(());
                }
            }
        }
        Err(Reason::Unreadable)
    }
}
