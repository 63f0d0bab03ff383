//! Views of a state: what a judgement depends on, so that it need not be made again where that is the same.

use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};

use super::effect::RegisterSet;
use super::judgement::KnownFacts;
use super::stack::AbstractStack;
use super::state::number;
use super::unproven::Unproven;
use super::value::PackedValue;

/// What the judgement about most rows depends on: SP, FP, RA, the stack, and whether anything is in doubt.
#[derive(Clone)]
pub(crate) struct FrameView {
    doubt: Option<Unproven>,
    registers: [PackedValue; 3],
    stack: AbstractStack,
}

/// The registers that functions keep for their callers: those that hold their entry values, and those that certainly do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CalleeSavedView {
    restored: RegisterSet,
    overwritten: RegisterSet,
}

/// The registers on which the judgement about some rows depends, and the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WatchedRegisters(pub(super) RegisterSet);

impl WatchedRegisters {
    /// All registers.
    pub(crate) const ALL: WatchedRegisters = WatchedRegisters(RegisterSet::ALL);

    /// Those that a [`FrameView`] has.
    pub(crate) fn viewed(abi: Abi) -> WatchedRegisters {
        let registers = [abi.sp(), abi.fp(), abi.ra()].map(|it| RegisterSet::of(number(it)));
        WatchedRegisters(registers.into_iter().fold(RegisterSet::FRAME, RegisterSet::with))
    }

    /// Adds some registers.
    pub(crate) fn with_registers(self, registers: &[Register]) -> WatchedRegisters {
        let add = |all: RegisterSet, it: &Register| all.with(RegisterSet::of(number(*it)));
        WatchedRegisters(registers.iter().fold(self.0, add))
    }

    /// Adds the registers that a row names.
    pub(crate) fn with(self, frame: &Frame) -> WatchedRegisters {
        let in_cfa = match frame.cfa {
            Cfa::RegisterOffset { register, .. }
            | Cfa::Dereference { register, .. }
            | Cfa::DereferencePlus { register, .. } => Some(register),
            Cfa::Expression(_) | Cfa::Undefined => None,
        };
        let in_rule = |rule| match rule {
            Recovery::AtRegister { register, .. } | Recovery::RegisterOffset { register, .. } => {
                Some(register)
            }
            _ => None,
        };
        let named = [in_cfa, in_rule(frame.ra), in_rule(frame.fp)].into_iter().flatten();
        WatchedRegisters(
            named.fold(self.0, |all, register| all.with(RegisterSet::of(number(register)))),
        )
    }
}

impl KnownFacts<'_> {
    /// What the judgement about most rows depends on.
    pub(crate) fn view(&self) -> FrameView {
        let of = |register: Register| self.state.packed(number(register));
        let registers = [of(self.abi.sp()), of(self.abi.fp()), of(self.abi.ra())];
        FrameView { doubt: self.state.doubt, registers, stack: self.state.stack.clone() }
    }

    /// What is known about the registers that functions keep for their callers; `None` if one has another known value.
    pub(crate) fn callee_saved(&self) -> Option<CalleeSavedView> {
        let (restored, overwritten) = (self.state.restored(), self.state.overwritten());
        let others = self.state.known_callee_saved().without(restored).without(overwritten);
        let is_complete = others == RegisterSet::default();
        is_complete.then_some(CalleeSavedView { restored, overwritten })
    }

    /// Whether the judgement about a row that depends on nothing else is the one where the view was taken.
    pub(crate) fn look_like(&self, view: &FrameView) -> bool {
        let of = |register: Register| self.state.packed(number(register));
        [of(self.abi.sp()), of(self.abi.fp()), of(self.abi.ra())] == view.registers
            && self.state.doubt == view.doubt
            && self.state.stack.is_like(&view.stack)
    }
}
