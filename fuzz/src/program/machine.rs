//! The meaning of single instructions.

use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};

use super::{Expression, Op};

/// The rules in effect at a place, and the rules that instructions can restore.
#[derive(Clone, Debug)]
pub struct Frames {
    abi: Abi,
    now: State,
    initial: Option<State>,
    remembered: Vec<State>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    frame: Frame,
    /// Whether the CFA's rule is an expression, so that no part of it can be changed on its own.
    by_expression: bool,
}

impl Frames {
    /// The state before the first instruction of a CIE.
    #[must_use]
    pub const fn new(abi: Abi) -> Frames {
        let frame = Frame {
            cfa: Cfa::Undefined,
            ra: Recovery::Unchanged,
            fp: Recovery::Unchanged,
            ra_signed: false,
        };
        let now = State { frame, by_expression: false };
        Frames { abi, now, initial: None, remembered: Vec::new() }
    }

    /// Ends the CIE's instructions: `restore` goes back to the rules that are now in effect.
    pub fn start(&mut self) {
        self.initial = Some(self.now);
    }

    /// The frame now in effect.
    #[must_use]
    pub const fn frame(&self) -> Frame {
        self.now.frame
    }

    /// Whether the CFA's rule is a register and an offset, which can be changed separately.
    #[must_use]
    pub const fn has_cfa_parts(&self) -> bool {
        !self.now.by_expression && matches!(self.now.frame.cfa, Cfa::RegisterOffset { .. })
    }

    /// The number of remembered states.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.remembered.len()
    }

    fn set(&mut self, register: Register, rule: Recovery) {
        if register == self.abi.ra() {
            self.now.frame.ra = rule;
        } else if register == self.abi.fp() {
            self.now.frame.fp = rule;
        }
    }

    fn define(&mut self, register: Register, offset: i64) {
        self.now.frame.cfa = Cfa::RegisterOffset { register, offset };
        self.now.by_expression = false;
    }

    fn cfa_parts(&self) -> (Register, i64) {
        match self.now.frame.cfa {
            Cfa::RegisterOffset { register, offset } if !self.now.by_expression => {
                (register, offset)
            }
            other => panic!("no parts of {other:?} can be changed"),
        }
    }

    /// Whether an instruction has a meaning here.
    #[must_use]
    pub const fn can_step(&self, op: &Op) -> bool {
        match op {
            Op::DefCfaOffset { .. } | Op::DefCfaRegister { .. } => self.has_cfa_parts(),
            Op::RestoreState => self.depth() > 0,
            _ => true,
        }
    }

    /// Executes an instruction other than an advance.
    ///
    /// # Panics
    /// Panics if the instruction has no meaning here.
    pub fn step(&mut self, op: &Op) {
        match *op {
            Op::Advance { .. } => panic!("rows are the caller's"),
            Op::DefCfa { register, offset, .. } => self.define(register, offset),
            Op::DefCfaRegister { register } => {
                let (_, offset) = self.cfa_parts();
                self.define(register, offset);
            }
            Op::DefCfaOffset { offset, .. } => {
                let (register, _) = self.cfa_parts();
                self.define(register, offset);
            }
            Op::DefCfaExpression { expression } => {
                let Expression { register, offset, loaded, .. } = expression;
                let register = register.expect("a CFA is not based on itself");
                self.now.frame.cfa = match loaded {
                    true => Cfa::Dereference { register, offset },
                    false => Cfa::RegisterOffset { register, offset },
                };
                self.now.by_expression = true;
            }
            Op::Undefined { register } => self.set(register, Recovery::Undefined),
            Op::SameValue { register } => self.set(register, Recovery::Unchanged),
            Op::Offset { register, offset, .. } => self.set(register, Recovery::AtCfa(offset)),
            Op::ValOffset { register, offset, .. } => {
                self.set(register, Recovery::CfaOffset(offset));
            }
            Op::Register { register, source } if register == source => {
                self.set(register, Recovery::Unchanged);
            }
            Op::Register { register, source } => {
                self.set(register, Recovery::RegisterOffset { register: source, offset: 0 });
            }
            Op::Expression { register, expression } => {
                assert!(!expression.loaded, "a rule says that once");
                self.set(register, recovery(Expression { loaded: true, ..expression }));
            }
            Op::ValExpression { register, expression } => {
                self.set(register, recovery(expression));
            }
            Op::Restore { register, .. } => {
                let initial = self.initial.expect("not in a CIE").frame;
                let rule = if register == self.abi.ra() { initial.ra } else { initial.fp };
                self.set(register, rule);
            }
            Op::RememberState => self.remembered.push(self.now),
            Op::RestoreState => self.now = self.remembered.pop().expect("remembered"),
            Op::Nop | Op::ArgsSize { .. } | Op::WindowSave => {}
            Op::NegateRaState { .. } => self.now.frame.ra_signed = !self.now.frame.ra_signed,
        }
    }
}

fn recovery(expression: Expression) -> Recovery {
    let Expression { register, offset, loaded, .. } = expression;
    match (register, loaded) {
        (None, true) => Recovery::AtCfa(offset),
        (None, false) => Recovery::CfaOffset(offset),
        (Some(register), true) => Recovery::AtRegister { register, offset },
        (Some(register), false) => Recovery::RegisterOffset { register, offset },
    }
}
