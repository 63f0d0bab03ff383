//! How a function starts: what the assembler is to say at entry, and what has to be said besides.

use std::collections::BTreeSet;

use sframe_oracle::cfi::Instruction;
use sframe_validator::unwind::Register;

use super::Reason;
use super::functions::Function;
use super::placed::Placed;
use super::rules::{Cfa, Change, Machine, Rule, State};

/// What assemblers divide a register's place by, on each of the machines.
const DATA_FACTOR: i64 = 8;

/// How a function is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// The state at entry is not a part of the CIE's: `.cfi_startproc simple`.
    pub(super) simple: bool,
    /// The first instructions must stay in the FDE: see [`Settled`].
    pub(super) pinned: bool,
}

/// The kinds of CIE that the assembler has by then with no more than the state at entry.
///
/// GNU as moves what stands before the first advance to a new CIE, where no older one is the start of
/// it; and `.cfi_restore` goes back to the CIE's rule (observed: 2.40 to 2.47.50). So whether a
/// register that is saved there has its rule back later depends on the functions before. Once there
/// is a CIE with the state at entry alone, it is taken for all; before that, an instruction that says
/// nothing keeps the others in the FDE.
#[derive(Debug, Default)]
pub(super) struct Settled(BTreeSet<(Register, bool, bool)>);

impl Settled {
    /// Whether the function must be kept as it is. It is the next one that is written.
    pub(super) fn pins(&mut self, function: &Function<'_>, at_entry: &State<'_>) -> bool {
        let cie = function.fde.cie();
        let kind = (cie.return_address, cie.signal, cie.pauth_key_b);
        if function.initial == at_entry && !moves_first(function) {
            self.0.insert(kind);
        }
        function.start.pinned && (function.start.simple || !self.0.contains(&kind))
    }
}

/// Whether the function has a rule before the first advance, and nothing else before that.
fn moves_first(function: &Function<'_>) -> bool {
    match Placed::of(&function.fde).next() {
        Some(Ok((0, first))) => !matches!(
            first,
            Instruction::RememberState
                | Instruction::DefCfaExpression(_)
                | Instruction::Expression(..)
                | Instruction::ValExpression(..)
                | Instruction::ArgsSize(_)
                | Instruction::WindowSave
                | Instruction::NegateRaState
                | Instruction::NegateRaStateWithPc
        ),
        _ => false,
    }
}

impl Start {
    /// Follows the function's instructions, all of them.
    pub(super) fn of(function: &Function<'_>, at_entry: &State<'_>) -> Result<Start, Reason> {
        let initial = function.initial;
        let simple = initial.cfa.is_none()
            || at_entry.rules.keys().any(|register| !initial.rules.contains_key(register));
        if let Some(cfa) = &initial.cfa {
            check_cfa(cfa)?;
        }
        initial.rules.values().try_for_each(check_rule)?;
        let mut machine = function.machine();
        let mut early = BTreeSet::new();
        let mut pinned = false;
        for placed in Placed::of(&function.fde) {
            let (at, instruction) = placed?;
            let mut touched = None;
            machine.apply(&instruction, |change| match change {
                Change::Rule(register) if at == 0 => {
                    early.insert(register);
                    touched = Some(register);
                }
                Change::Rule(register) => touched = Some(register),
                Change::Cfa | Change::Toggles => {}
            })?;
            if let Instruction::Restore(register) = instruction {
                let restored = machine.initial_rule(register);
                if matches!(restored, Some(Rule::Expression(_) | Rule::ValExpression(_))) {
                    return Err(Reason::Expression);
                }
                pinned |= is_restored(&machine, at_entry, register)
                    && (at == 0 || early.contains(&register));
            }
            // What goes back to a remembered state has been checked before.
            if instruction != Instruction::RestoreState {
                if let Some(rule) = touched.and_then(|r| machine.state.rules.get(&r)) {
                    check_rule(rule)?;
                }
                machine.state.cfa.as_ref().map_or(Ok(()), check_cfa)?;
            }
        }
        Ok(Start { simple, pinned })
    }
}

/// Whether `.cfi_restore` goes back to the rule that the CIE has: assemblers' CIEs have the rules of
/// the state at entry.
pub(super) fn is_restored(machine: &Machine<'_>, at_entry: &State<'_>, register: Register) -> bool {
    machine.initial_rule(register) == at_entry.rules.get(&register).copied()
}

/// Whether assemblers can write the rule.
fn check_rule(rule: &Rule<'_>) -> Result<(), Reason> {
    match rule {
        Rule::Offset(offset) | Rule::ValOffset(offset) if offset % DATA_FACTOR != 0 => {
            Err(Reason::Unaligned)
        }
        _ => Ok(()),
    }
}

/// Whether assemblers can write the rule. Only negative offsets are divided.
fn check_cfa(cfa: &Cfa<'_>) -> Result<(), Reason> {
    match cfa {
        Cfa::Register(_, offset) if *offset < 0 && offset % DATA_FACTOR != 0 => {
            Err(Reason::Unaligned)
        }
        _ => Ok(()),
    }
}
