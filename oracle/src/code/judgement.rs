//! The judgement: whether a row is true, and which row is, as far as the abstract state before an instruction proves it.

use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};

use super::effect::{KEYS, RegisterNumber};
use super::machine::Machine;
use super::state::{AbstractState, number};
use super::unproven::Unproven;
use super::value::{AbstractValue, Base, BasedAddress, PackedValue};

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

/// The judgement about a row, part by part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The CFA.
    pub cfa: Truth,
    /// The return address, and whether it is signed.
    pub ra: Truth,
    /// The caller's frame pointer.
    pub fp: Truth,
}

impl Judgement {
    /// Nothing is known.
    pub const UNKNOWN: Judgement =
        Judgement { cfa: Truth::Unknown, ra: Truth::Unknown, fp: Truth::Unknown };

    /// The judgement if what seems to be wrong may be right: nothing is refuted.
    fn without_refutation(self) -> Judgement {
        let of = |truth| if truth == Truth::Refuted { Truth::Unknown } else { truth };
        Judgement { cfa: of(self.cfa), ra: of(self.ra), fp: of(self.fp) }
    }

    /// The judgement if nothing is proven.
    fn without_proof(self) -> Judgement {
        let of = |truth| if truth == Truth::Proven { Truth::Unknown } else { truth };
        Judgement { cfa: of(self.cfa), ra: of(self.ra), fp: of(self.fp) }
    }

    /// The truth of the row as a whole: refuted if a part is, proven if all parts are.
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

/// A part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FramePart {
    Cfa,
    Ra,
    Fp,
}

/// Why it is not known whether a row is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    Because(Unproven),
    /// The analysis does not know this part of the frame any more.
    Lost(FramePart),
}

/// The row that the code proves: those parts of a frame that it determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProvenRow {
    /// The CFA.
    pub cfa: Option<Cfa>,
    /// The return address.
    pub ra: Option<Recovery>,
    /// The caller's frame pointer.
    pub fp: Option<Recovery>,
    /// Whether the return address is signed; meaningless if it is not known.
    pub ra_signed: bool,
}

impl ProvenRow {
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
        let ProvenRow { ra_signed, .. } = *self;
        Some(Frame { cfa: self.cfa?, ra: self.ra?, fp: self.fp?, ra_signed })
    }
}

/// What the abstract state before an instruction proves.
#[derive(Clone, Copy, Debug)]
pub struct KnownFacts<'s> {
    pub(super) state: &'s AbstractState,
    pub(super) abi: Abi,
}

impl KnownFacts<'_> {
    /// How the value that a register had at the entry is recovered, if the code proves it.
    #[must_use]
    pub fn recovery(&self, register: Register) -> Option<Recovery> {
        self.recovery_of(register, AbstractValue::Entry(number(register)))
    }

    /// The row that the code proves: a view of what it proves about all registers. Its CFA is relative to SP if the
    /// distance is known, else to FP.
    #[must_use]
    pub fn proven_row(&self) -> ProvenRow {
        self.row_by(|register, value| self.recovery_of(register, value))
    }

    /// How a value that may still be in a register is recovered.
    fn recovery_of(&self, register: Register, value: AbstractValue) -> Option<Recovery> {
        let in_place = self.get(register) == value;
        in_place.then_some(Recovery::Unchanged).or_else(|| self.saved_at(value))
    }

    /// The row that recovers everything from the stack, also what registers still hold.
    #[must_use]
    pub fn saved_row(&self) -> ProvenRow {
        self.row_by(|_, value| self.saved_at(value))
    }

    /// The row in which the value that a register had at the entry is recovered as `recovery` says.
    fn row_by(&self, recovery: impl Fn(Register, AbstractValue) -> Option<Recovery>) -> ProvenRow {
        let (ra, fp) = (self.abi.ra(), self.abi.fp());
        let plain = recovery(ra, AbstractValue::Entry(number(ra)));
        let signed = || KEYS.iter().find_map(|key| recovery(ra, AbstractValue::Signed(*key)));
        let of_signal = || self.cfa_of_signal_frame();
        ProvenRow {
            cfa: self.cfa_from(self.abi.sp()).or_else(|| self.cfa_from(fp)).or_else(of_signal),
            ra: plain.or_else(signed),
            fp: recovery(fp, AbstractValue::Entry(number(fp))),
            ra_signed: plain.is_none(),
        }
    }

    /// The slot that holds a value, where nothing else overwrites it.
    fn saved_at(&self, value: AbstractValue) -> Option<Recovery> {
        let offset = self.state.stack.find(value, |address| self.state.protects(address));
        let register = self.abi.sp();
        let in_signal_frame =
            || Some(Recovery::AtRegister { register, offset: self.in_signal_frame(value)? });
        offset.map(i64::from).map(Recovery::AtCfa).or_else(in_signal_frame)
    }

    /// The distance from SP at which the kernel saved a value for the return of a signal handler.
    fn in_signal_frame(&self, value: AbstractValue) -> Option<i64> {
        let sp = self.state.sp();
        if !is_in_signal_frame(sp.into()) {
            return None;
        }
        self.state.stack.address_of(value.into())?.distance_from(sp)
    }

    /// The CFA in the context that the kernel saved.
    fn cfa_of_signal_frame(&self) -> Option<Cfa> {
        let offset = self.in_signal_frame(AbstractValue::CFA)?;
        Some(Cfa::Dereference { register: self.abi.sp(), offset })
    }

    /// The row that the code proves, with the CFA relative to the register that `frame` uses, if it can be.
    pub(crate) fn proven_row_beside(&self, frame: &Frame) -> ProvenRow {
        let known = self.proven_row();
        let Cfa::RegisterOffset { register, .. } = frame.cfa else { return known };
        ProvenRow { cfa: self.cfa_from(register).or(known.cfa), ..known }
    }

    /// The CFA relative to a register, if the distance is known.
    #[must_use]
    pub fn cfa_from(&self, register: Register) -> Option<Cfa> {
        match self.get(register) {
            AbstractValue::Address(BasedAddress { base: Base::Cfa, offset }) => {
                Some(Cfa::RegisterOffset { register, offset: -i64::from(offset) })
            }
            _ => None,
        }
    }

    /// Whether a frame is what the code says. A frame may be expressed in other ways than [`KnownFacts::proven_row`].
    #[must_use]
    pub fn judge(&self, frame: &Frame) -> Judgement {
        let judgement = self.judge_without_doubt(frame);
        match self.state.doubt {
            Some(_) => judgement.without_refutation(),
            None => judgement,
        }
    }

    /// Why it is not known whether a frame is what the code says; without a frame, why the code proves none.
    pub(crate) fn unknown(&self, frame: Option<&Frame>) -> Unknown {
        let known = self.proven_row();
        let judgement = frame.map_or(Judgement::UNKNOWN, |it| self.judge_without_doubt(it));
        if let Some(doubt) = self.state.doubt.filter(|_| judgement.whole() == Truth::Refuted) {
            return Unknown::Because(doubt);
        }
        if frame.is_some_and(|frame| !self.is_shown(frame)) {
            return Unknown::Because(Unproven::NotInCode);
        }
        let parts = [
            (judgement.cfa, known.cfa.is_some(), FramePart::Cfa),
            (judgement.ra, known.ra.is_some(), FramePart::Ra),
            (judgement.fp, known.fp.is_some(), FramePart::Fp),
        ];
        let mut lost =
            parts.iter().filter(|(truth, is_known, _)| *truth == Truth::Unknown && !is_known);
        lost.next()
            .map_or(Unknown::Because(Unproven::UnknownValue), |(.., part)| Unknown::Lost(*part))
    }

    /// Whether the code may show what a frame says.
    fn is_shown(&self, frame: &Frame) -> bool {
        let is_expression =
            |rule| matches!(rule, Recovery::AtExpression(_) | Recovery::Expression(_));
        !matches!(frame.cfa, Cfa::Expression(_) | Cfa::Undefined)
            && frame.ra != Recovery::Undefined
            && !self.has_virtual_caller(frame.ra)
            && ![frame.ra, frame.fp].into_iter().any(is_expression)
    }

    /// Whether the code proves a part of the frame.
    pub(super) fn proves(&self, part: FramePart) -> bool {
        let known = self.proven_row();
        match part {
            FramePart::Cfa => known.cfa.is_some(),
            FramePart::Ra => known.ra.is_some(),
            FramePart::Fp => known.fp.is_some(),
        }
    }

    /// What the state says of a frame, even where that may not be so.
    fn judge_without_doubt(&self, frame: &Frame) -> Judgement {
        // An outermost frame has no caller. The code of such a function does not say so.
        if frame.ra == Recovery::Undefined || self.has_virtual_caller(frame.ra) {
            return Judgement::UNKNOWN;
        }
        let own_cfa = self.cfa(frame.cfa);
        // Rules count from the frame's own CFA, even if it is wrong.
        let distance = match own_cfa {
            AbstractValue::Address(BasedAddress { base: Base::Cfa, offset }) => i64::from(offset),
            _ => 0,
        };
        let ra = self.recovered(self.abi.ra(), frame.ra, distance);
        let fp = self.recovered(self.abi.fp(), frame.fp, distance);
        let cfa = match own_cfa {
            AbstractValue::CFA => Truth::Proven,
            AbstractValue::Address(place) if !self.may_be_cfa(place) => Truth::Refuted,
            _ if self.is_from_caller(frame.cfa) => Truth::Refuted,
            _ => Truth::Unknown,
        };
        let judgement = Judgement {
            cfa,
            ra: match ra {
                Recovered::Value(AbstractValue::Signed(_)) if frame.ra_signed => Truth::Proven,
                Recovered::Value(AbstractValue::Entry(found))
                    if found == number(self.abi.ra()) && !frame.ra_signed =>
                {
                    Truth::Proven
                }
                other => other.truth(),
            },
            fp: match fp {
                Recovered::Value(AbstractValue::Entry(found)) if found == number(self.abi.fp()) => {
                    Truth::Proven
                }
                other => other.truth(),
            },
        };
        // In a frame whose CFA is not known, registers and slots may be those of another one.
        match cfa {
            Truth::Unknown => judgement.without_proof(),
            _ => judgement,
        }
    }

    /// Whether a CFA is the true one.
    pub(crate) fn is_cfa(&self, cfa: Cfa) -> bool {
        self.cfa(cfa) == AbstractValue::CFA
    }

    /// Whether the rule for a callee-saved register is wrong, in a row whose CFA is the true one.
    pub(crate) fn refutes(&self, register: Register, rule: Recovery) -> bool {
        let own = AbstractValue::Entry(number(register));
        let is_right = match rule {
            Recovery::Unchanged => {
                let value = self.state.packed(number(register));
                value.is_unknown() || value == own.into()
            }
            Recovery::AtCfa(offset) => i32::try_from(offset).is_ok_and(|offset| {
                let slot = PackedValue::from(AbstractValue::cfa(offset));
                self.state.stack.load(slot) == own.into() && self.state.protects(slot)
            }),
            _ => false,
        };
        !is_right
            && self.state.doubt.is_none()
            && match self.recovered(register, rule, 0) {
                Recovered::Value(value) => value != own,
                Recovered::Something => false,
                Recovered::SomethingElse => true,
            }
    }

    fn get(&self, register: Register) -> AbstractValue {
        self.state.get(number(register))
    }

    /// Whether a rule for RA computes an address in the same file: the row is that of a frame whose caller does not exist on the
    /// stack. Its own row leads to the frame of the function (the locks of glibc before 2.23).
    fn has_virtual_caller(&self, ra: Recovery) -> bool {
        match ra {
            Recovery::RegisterOffset { register, offset } => {
                offset != 0
                    || register == self.abi.ra()
                    || matches!(self.get(register), AbstractValue::Constant(1..))
            }
            Recovery::Expression(_) => true,
            _ => false,
        }
    }

    /// Whether an address may be the CFA.
    fn may_be_cfa(&self, place: BasedAddress) -> bool {
        match place.base {
            Base::OtherStack(_) => !self.state.returns_to_own_stack,
            _ => place.may_be_cfa(),
        }
    }

    /// Whether a CFA is computed from FP while that belongs to the caller, which may use it for anything.
    fn is_from_caller(&self, cfa: Cfa) -> bool {
        let fp = self.abi.fp();
        match cfa {
            Cfa::RegisterOffset { register, .. } if register == fp => {
                self.get(fp) == AbstractValue::Entry(number(fp))
            }
            _ => false,
        }
    }

    fn load(&self, register: Register, offset: i64) -> AbstractValue {
        self.state.stack.load(self.get(register).plus(offset).into()).into()
    }

    /// The value of a frame's CFA.
    fn cfa(&self, cfa: Cfa) -> AbstractValue {
        match cfa {
            Cfa::RegisterOffset { register, offset } => self.get(register).plus(offset),
            Cfa::Dereference { register, offset } => {
                let address = self.get(register).plus(offset);
                match self.load(register, offset) {
                    // What else is in the context that the kernel saved is no stack pointer.
                    AbstractValue::Unknown if is_in_signal_frame(address) => address,
                    value => value,
                }
            }
            Cfa::DereferencePlus { register, offset, plus } => {
                self.load(register, offset.into()).plus(plus.into())
            }
            Cfa::Expression(_) | Cfa::Undefined => AbstractValue::Unknown,
        }
    }

    /// The lowest distance from the CFA at which the caller's FP may point to its own frame, which is above the CFA.
    fn lowest_caller_fp(&self) -> i32 {
        Machine::of(self.abi).map_or(0, |machine| machine.conventions().lowest_caller_fp)
    }

    /// Whether a value is the return address, signed or not.
    fn is_ra(&self, value: AbstractValue) -> bool {
        matches!(value, AbstractValue::Signed(_))
            || value == AbstractValue::Entry(number(self.abi.ra()))
    }

    /// What a rule for a register recovers; `distance` is that of the frame's CFA from the true one, in bytes.
    fn recovered(&self, register: Register, rule: Recovery, distance: i64) -> Recovered {
        let wanted: RegisterNumber = number(register);
        let value = match rule {
            Recovery::Unchanged => self.get(register),
            Recovery::AtCfa(offset) => {
                let offset = offset.checked_add(distance).and_then(|o| i32::try_from(o).ok());
                let Some(offset) = offset else { return Recovered::Something };
                if !self.state.protects(AbstractValue::cfa(offset).into()) {
                    return Recovered::SomethingElse;
                }
                match self.state.stack.load(AbstractValue::cfa(offset).into()).into() {
                    AbstractValue::Unknown if self.state.stack.cannot_hold(wanted, offset) => {
                        return Recovered::SomethingElse;
                    }
                    value => value,
                }
            }
            Recovery::CfaOffset(offset) => AbstractValue::CFA.plus(distance).plus(offset),
            Recovery::AtRegister { register, offset }
                if !self.state.protects(self.get(register).plus(offset).into()) =>
            {
                return Recovered::SomethingElse;
            }
            Recovery::AtRegister { register, offset } => match self.load(register, offset) {
                AbstractValue::Unknown if is_in_signal_frame(self.get(register).plus(offset)) => {
                    return Recovered::SomethingElse;
                }
                value => value,
            },
            Recovery::RegisterOffset { register, offset } => self.get(register).plus(offset),
            Recovery::AtExpression(_) | Recovery::Expression(_) | Recovery::Undefined => {
                AbstractValue::Unknown
            }
        };
        match value {
            AbstractValue::Address(BasedAddress { base: Base::Cfa, offset })
                if register == self.abi.fp() && offset >= self.lowest_caller_fp() =>
            {
                Recovered::Something
            }
            // The function returns elsewhere on purpose (`longjmp`, `__builtin_eh_return`): that is its caller.
            _ if register == self.abi.ra()
                && !self.is_ra(value)
                && self.state.stack.has_replaced_ra(wanted) =>
            {
                Recovered::Something
            }
            // Something else is in the register of FP, whose entry value is in a slot.
            AbstractValue::Constant(_)
            | AbstractValue::AtMost(_)
            | AbstractValue::ScaledIndex(_)
            | AbstractValue::Element(_)
            | AbstractValue::Target(_)
                if rule == Recovery::Unchanged
                    && self.state.stack.holds(AbstractValue::Entry(wanted).into()) =>
            {
                Recovered::SomethingElse
            }
            // In the outermost frame, registers of the caller are zero (AMD64 psABI 3.4.1, AAPCS64 6.4.6).
            AbstractValue::Constant(0) => Recovered::Something,
            // What was loaded from elsewhere may be anything, also the value wanted.
            AbstractValue::Unknown
            | AbstractValue::AtMost(_)
            | AbstractValue::ScaledIndex(_)
            | AbstractValue::Element(_)
            | AbstractValue::Target(_) => Recovered::Something,
            known => Recovered::Value(known),
        }
    }
}

/// What a rule recovers, beside the value wanted.
#[derive(Clone, Copy)]
enum Recovered {
    Value(AbstractValue),
    /// Nothing is known about it.
    Something,
    /// Certainly not the value wanted, or a place that may be overwritten at any time.
    SomethingElse,
}

impl Recovered {
    /// The truth of the rule, if the value is not the one wanted.
    const fn truth(self) -> Truth {
        match self {
            Recovered::Something => Truth::Unknown,
            Recovered::Value(_) | Recovered::SomethingElse => Truth::Refuted,
        }
    }
}

/// Whether an address is counted from the context that the kernel saved for a signal handler.
const fn is_in_signal_frame(value: AbstractValue) -> bool {
    matches!(value, AbstractValue::Address(BasedAddress { base: Base::SignalFrame, .. }))
}
