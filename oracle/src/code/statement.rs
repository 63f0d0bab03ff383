//! What the state before an instruction says about frames.

use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};

use super::effect::{Key, Number, Registers};
use super::slots::Slots;
use super::state::{State, number};
use super::value::{Base, Packed, Place, Value};

/// Whether a statement about a frame is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// The code proves it.
    Proven,
    /// The code proves the opposite.
    Refuted,
    /// The code proves neither.
    Unknown,
}

/// The truth of a frame, part by part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The CFA.
    pub cfa: Truth,
    /// The return address, and whether it is signed.
    pub ra: Truth,
    /// The caller's frame pointer.
    pub fp: Truth,
}

impl Checked {
    /// Nothing is known.
    pub const UNKNOWN: Checked =
        Checked { cfa: Truth::Unknown, ra: Truth::Unknown, fp: Truth::Unknown };

    /// The truth if what seems to be wrong may be right: nothing is refuted.
    fn without_refutation(self) -> Checked {
        let of = |truth| if truth == Truth::Refuted { Truth::Unknown } else { truth };
        Checked { cfa: of(self.cfa), ra: of(self.ra), fp: of(self.fp) }
    }

    /// The truth of the frame as a whole: refuted if a part is, proven if all parts are.
    #[must_use]
    pub fn whole(&self) -> Truth {
        let parts = [self.cfa, self.ra, self.fp];
        if parts.contains(&Truth::Refuted) {
            Truth::Refuted
        } else if parts.contains(&Truth::Unknown) {
            Truth::Unknown
        } else {
            Truth::Proven
        }
    }
}

/// The parts of a frame that the code determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The CFA.
    pub cfa: Option<Cfa>,
    /// The return address.
    pub ra: Option<Recovery>,
    /// The caller's frame pointer.
    pub fp: Option<Recovery>,
    /// Whether the return address is signed; meaningless if it is not known.
    pub ra_signed: bool,
}

impl Known {
    /// The frame, with parts of `stated` where nothing is known.
    pub(crate) fn instead_of(&self, stated: &Frame) -> Frame {
        Frame {
            cfa: self.cfa.unwrap_or(stated.cfa),
            ra: self.ra.unwrap_or(stated.ra),
            fp: self.fp.unwrap_or(stated.fp),
            ra_signed: self.ra.map_or(stated.ra_signed, |_| self.ra_signed),
        }
    }

    /// The frame, if all of it is known.
    #[must_use]
    pub fn frame(&self) -> Option<Frame> {
        let Known { ra_signed, .. } = *self;
        Some(Frame { cfa: self.cfa?, ra: self.ra?, fp: self.fp?, ra_signed })
    }
}

/// The registers and the part of the stack on which the truth of most frames depends: SP, FP, RA and what was stored.
#[derive(Clone)]
pub(crate) struct View {
    registers: [Packed; 3],
    slots: Slots,
}

/// The registers on which the truth of some frames depends, and the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Watched(pub(super) Registers);

impl Watched {
    /// All registers.
    pub(crate) const ALL: Watched = Watched(Registers::ALL);

    /// What a [`View`] has.
    pub(crate) fn viewed(abi: Abi) -> Watched {
        let registers = [abi.sp(), abi.fp(), abi.ra()].map(|it| Registers::of(number(it)));
        Watched(registers.into_iter().fold(Registers::FRAME, Registers::with))
    }

    /// Adds the registers that a frame names.
    pub(crate) fn with(self, frame: &Frame) -> Watched {
        let in_cfa = match frame.cfa {
            Cfa::RegisterOffset { register, .. } | Cfa::Dereference { register, .. } => {
                Some(register)
            }
            Cfa::Expression(_) | Cfa::Undefined => None,
        };
        let in_rule = |rule| match rule {
            Recovery::AtRegister { register, .. } | Recovery::RegisterOffset { register, .. } => {
                Some(register)
            }
            _ => None,
        };
        let named = [in_cfa, in_rule(frame.ra), in_rule(frame.fp)].into_iter().flatten();
        Watched(named.fold(self.0, |all, register| all.with(Registers::of(number(register)))))
    }
}

/// What the code says before an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'s> {
    pub(super) state: &'s State,
    pub(super) abi: Abi,
}

impl Facts<'_> {
    /// What the truth of most frames depends on.
    pub(crate) fn view(&self) -> View {
        let of = |register: Register| self.state.packed(number(register));
        let registers = [of(self.abi.sp()), of(self.abi.fp()), of(self.abi.ra())];
        View { registers, slots: self.state.slots.clone() }
    }

    /// Whether a frame that depends on nothing else is as true as where the view was taken.
    pub(crate) fn look_like(&self, view: &View) -> bool {
        let of = |register: Register| self.state.packed(number(register));
        [of(self.abi.sp()), of(self.abi.fp()), of(self.abi.ra())] == view.registers
            && self.state.slots.is_like(&view.slots)
    }

    /// The parts of the frame that the code determines. Its CFA is relative to SP if the distance is known, else to FP.
    #[must_use]
    pub fn known(&self) -> Known {
        self.known_by(|register, value| {
            let in_place = self.get(register) == value;
            in_place.then_some(Recovery::Unchanged).or_else(|| self.saved_at(value))
        })
    }

    /// The parts of the frame that are in the stack, also where registers still hold them.
    #[must_use]
    pub fn saved(&self) -> Known {
        self.known_by(|_, value| self.saved_at(value))
    }

    /// The parts of the frame where `recovery` says how a value of a register is recovered.
    fn known_by(&self, recovery: impl Fn(Register, Value) -> Option<Recovery>) -> Known {
        let (ra, fp) = (self.abi.ra(), self.abi.fp());
        let plain = recovery(ra, Value::Entry(number(ra)));
        let signed = || KEYS.iter().find_map(|key| recovery(ra, Value::Signed(*key)));
        Known {
            cfa: self.cfa_from(self.abi.sp()).or_else(|| self.cfa_from(fp)),
            ra: plain.or_else(signed),
            fp: recovery(fp, Value::Entry(number(fp))),
            ra_signed: plain.is_none(),
        }
    }

    /// The slot that holds a value, where nothing else overwrites it.
    fn saved_at(&self, value: Value) -> Option<Recovery> {
        let offset = self.state.slots.find(value, |address| self.state.protects(address));
        offset.map(i64::from).map(Recovery::AtCfa)
    }

    /// The parts of the frame that the code determines, with the CFA relative to the register that `frame` uses, if it can be.
    pub(crate) fn known_beside(&self, frame: &Frame) -> Known {
        let known = self.known();
        let Cfa::RegisterOffset { register, .. } = frame.cfa else { return known };
        Known { cfa: self.cfa_from(register).or(known.cfa), ..known }
    }

    /// The CFA relative to a register, if the distance is known.
    #[must_use]
    pub fn cfa_from(&self, register: Register) -> Option<Cfa> {
        match self.get(register) {
            Value::Address(Place { base: Base::Cfa, offset }) => {
                Some(Cfa::RegisterOffset { register, offset: -i64::from(offset) })
            }
            _ => None,
        }
    }

    /// Whether a frame is what the code says. A frame may be expressed in other ways than [`Facts::known`].
    #[must_use]
    pub fn check(&self, frame: &Frame) -> Checked {
        if frame.ra == Recovery::Undefined {
            // An outermost frame has no caller. The code of such a function does not say so.
            return Checked::UNKNOWN;
        }
        let own_cfa = self.cfa(frame.cfa);
        // Rules count from the frame's own CFA, even if it is wrong.
        let distance = match own_cfa {
            Value::Address(Place { base: Base::Cfa, offset }) => i64::from(offset),
            _ => 0,
        };
        let ra = self.recovered(self.abi.ra(), frame.ra, distance);
        let fp = self.recovered(self.abi.fp(), frame.fp, distance);
        let checked = Checked {
            cfa: match own_cfa {
                Value::CFA => Truth::Proven,
                Value::Address(Place { base: Base::Cfa, .. }) => Truth::Refuted,
                _ => Truth::Unknown,
            },
            ra: match ra {
                Found::Value(Value::Signed(_)) => truth(frame.ra_signed),
                Found::Value(Value::Entry(found)) if found == number(self.abi.ra()) => {
                    truth(!frame.ra_signed)
                }
                other => other.truth(),
            },
            fp: match fp {
                Found::Value(Value::Entry(found)) if found == number(self.abi.fp()) => {
                    Truth::Proven
                }
                other => other.truth(),
            },
        };
        match self.state.is_local {
            true => checked.without_refutation(),
            false => checked,
        }
    }

    fn get(&self, register: Register) -> Value {
        self.state.get(number(register))
    }

    fn load(&self, register: Register, offset: i64) -> Value {
        self.state.slots.load(self.get(register).plus(offset).into()).into()
    }

    /// The value of a frame's CFA.
    fn cfa(&self, cfa: Cfa) -> Value {
        match cfa {
            Cfa::RegisterOffset { register, offset } => self.get(register).plus(offset),
            Cfa::Dereference { register, offset } => self.load(register, offset),
            Cfa::Expression(_) | Cfa::Undefined => Value::Unknown,
        }
    }

    /// The lowest distance from the CFA at which the caller's FP may point to its own frame. That frame is above the CFA, but
    /// Go keeps FP 8 bytes below SP on AArch64 (Go internal ABI, arm64 architecture).
    fn lowest_caller_fp(&self) -> i32 {
        if self.abi.is_aarch64() { -8 } else { 0 }
    }

    /// Whether a value is the return address, signed or not.
    fn is_ra(&self, value: Value) -> bool {
        matches!(value, Value::Signed(_)) || value == Value::Entry(number(self.abi.ra()))
    }

    /// What a rule for a register recovers; `distance` is that of the frame's CFA from the true one, in bytes.
    fn recovered(&self, register: Register, rule: Recovery, distance: i64) -> Found {
        let wanted: Number = number(register);
        let value = match rule {
            Recovery::Unchanged => self.get(register),
            Recovery::AtCfa(offset) => {
                let offset = offset.checked_add(distance).and_then(|o| i32::try_from(o).ok());
                let Some(offset) = offset else { return Found::Something };
                if !self.state.protects(Value::cfa(offset).into()) {
                    return Found::SomethingElse;
                }
                match self.state.slots.load(Value::cfa(offset).into()).into() {
                    Value::Unknown if self.state.slots.cannot_hold(wanted, offset) => {
                        return Found::SomethingElse;
                    }
                    value => value,
                }
            }
            Recovery::CfaOffset(offset) => Value::CFA.plus(distance).plus(offset),
            Recovery::AtRegister { register, offset }
                if !self.state.protects(self.get(register).plus(offset).into()) =>
            {
                return Found::SomethingElse;
            }
            Recovery::AtRegister { register, offset } => self.load(register, offset),
            Recovery::RegisterOffset { register, offset } => self.get(register).plus(offset),
            Recovery::AtExpression(_) | Recovery::Expression(_) | Recovery::Undefined => {
                Value::Unknown
            }
        };
        match value {
            Value::Address(Place { base: Base::Cfa, offset })
                if register == self.abi.fp() && offset >= self.lowest_caller_fp() =>
            {
                Found::Something
            }
            // The function returns elsewhere on purpose (`longjmp`, `__builtin_eh_return`): that is its caller.
            _ if register == self.abi.ra()
                && !self.is_ra(value)
                && self.state.slots.has_replaced_ra(wanted) =>
            {
                Found::Something
            }
            // In the outermost frame, registers of the caller are zero (AMD64 psABI 3.4.1, AAPCS64 6.4.6).
            Value::Constant(0) => Found::Something,
            // What was loaded from elsewhere may be anything, also the value wanted.
            Value::Unknown
            | Value::AtMost(_)
            | Value::Distance(_)
            | Value::Element(_)
            | Value::Target(_) => Found::Something,
            known => Found::Value(known),
        }
    }
}

const KEYS: [Key; 2] = [Key::A, Key::B];

/// What a rule recovers.
#[derive(Clone, Copy)]
enum Found {
    Value(Value),
    /// Nothing is known about it.
    Something,
    /// Certainly not the value wanted, or a place that may be overwritten at any time.
    SomethingElse,
}

impl Found {
    /// The truth of the rule, if the value is not the one wanted.
    const fn truth(self) -> Truth {
        match self {
            Found::Something => Truth::Unknown,
            Found::Value(_) | Found::SomethingElse => Truth::Refuted,
        }
    }
}

const fn truth(is_true: bool) -> Truth {
    if is_true { Truth::Proven } else { Truth::Refuted }
}
