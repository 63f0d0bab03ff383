//! The start of a function: what the assembler emits for `.cfi_startproc`, and which directives must follow it.

use std::collections::BTreeSet;

use sframe_oracle::cfi::{Fde, Instruction};
use sframe_validator::unwind::Register;

use super::Reason;
use super::placed::Placed;
use super::rules::{Cfa, Change, Machine, Rule, State};

/// The factor by which assemblers divide the offset of a saved register, on every machine.
const DATA_FACTOR: i64 = 8;

/// How the start of a function is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// The CIE lacks a part of the machine's state at entry: `.cfi_startproc simple`.
    pub(super) simple: bool,
    /// The first instructions must stay in the FDE: see [`Settled`](super::settled::Settled).
    pub(super) pinned: bool,
}

impl Start {
    /// Evaluates all instructions of a function whose CIE leads to the state `initial`.
    ///
    /// # Errors
    /// Returns the reason if assembly cannot express the function.
    pub(super) fn of<'c>(
        fde: &Fde<'c>,
        initial: &'c State<'c>,
        at_entry: &State<'_>,
    ) -> Result<Start, Reason> {
        let simple = initial.cfa.is_none()
            || at_entry.rules.keys().any(|register| !initial.rules.contains_key(register));
        if let Some(cfa) = &initial.cfa {
            check_cfa(cfa)?;
        }
        initial.rules.values().try_for_each(check_rule)?;
        let mut machine = Machine::of(fde, initial);
        let mut early = BTreeSet::new();
        let mut pinned = false;
        for placed in Placed::of(fde) {
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
            // A remembered state has been checked before.
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

/// Whether `.cfi_restore` in assembly resets to the rule of the file's CIE: assemblers' CIEs have the rules of the
/// state at entry.
pub(super) fn is_restored(machine: &Machine<'_>, at_entry: &State<'_>, register: Register) -> bool {
    machine.initial_rule(register) == at_entry.rules.get(&register).copied()
}

/// Checks that assemblers can express the rule.
fn check_rule(rule: &Rule<'_>) -> Result<(), Reason> {
    match rule {
        Rule::Offset(offset) | Rule::ValOffset(offset) if offset % DATA_FACTOR != 0 => {
            Err(Reason::Unaligned)
        }
        _ => Ok(()),
    }
}

/// Checks that assemblers can express the rule. They divide only negative offsets.
fn check_cfa(cfa: &Cfa<'_>) -> Result<(), Reason> {
    match cfa {
        Cfa::Register(_, offset) if *offset < 0 && offset % DATA_FACTOR != 0 => {
            Err(Reason::Unaligned)
        }
        _ => Ok(()),
    }
}
