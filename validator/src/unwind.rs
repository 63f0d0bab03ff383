//! The vocabulary of unwinding that SFrame and DWARF CFI share: plain data, no format's bytes.
//!
//! A [`Row`] is a range of PCs and the [`Frame`] that holds there: how to find the canonical frame
//! address (CFA), the return address (RA) and the caller's frame pointer (FP).

use core::fmt;

use crate::abi::Abi;
pub use crate::abi::Register;

/// A DWARF expression that has no simpler meaning: where its bytes are in the CFI section.
///
/// SFrame has no expressions. Two of them say the same when their bytes are equal, which their
/// places do not tell: compare the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expression {
    /// Bytes from the start of the section to the expression's first operation.
    pub offset: u32,
    /// Bytes of the expression.
    pub length: u32,
}

/// How the CFA is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cfa {
    /// `register + offset`, bytes.
    RegisterOffset {
        /// The base.
        register: Register,
        /// Bytes added to it.
        offset: i64,
    },
    /// The 8 bytes in memory at `register + offset`.
    Dereference {
        /// The base.
        register: Register,
        /// Bytes added to it before the load.
        offset: i64,
    },
    /// The value of a DWARF expression.
    Expression(Expression),
    /// Nothing is said: the row marks an outermost frame.
    Undefined,
}

/// How the caller's value of a register (RA or FP) is recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recovery {
    /// Still in its register: nothing saved it, or it has the same value.
    Unchanged,
    /// In memory at `CFA + offset`.
    AtCfa(i64),
    /// The value `CFA + offset` itself.
    CfaOffset(i64),
    /// In memory at `register + offset`.
    AtRegister {
        /// The base.
        register: Register,
        /// Bytes added to it before the load.
        offset: i64,
    },
    /// The value `register + offset` itself; with offset 0, saved in that register.
    RegisterOffset {
        /// The base.
        register: Register,
        /// Bytes added to it.
        offset: i64,
    },
    /// In memory at the address that a DWARF expression computes.
    AtExpression(Expression),
    /// The value of a DWARF expression.
    Expression(Expression),
    /// Cannot be recovered; an undefined RA marks the outermost frame.
    Undefined,
}

/// What is known of the caller at one PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The canonical frame address.
    pub cfa: Cfa,
    /// The return address.
    pub ra: Recovery,
    /// The caller's frame pointer.
    pub fp: Recovery,
    /// The return address carries a pointer-authentication code (AArch64).
    pub ra_signed: bool,
}

impl Frame {
    /// The frame without a caller: RA undefined, nothing else known.
    pub const OUTERMOST: Frame = Frame {
        cfa: Cfa::Undefined,
        ra: Recovery::Undefined,
        fp: Recovery::Unchanged,
        ra_signed: false,
    };
}

/// A [`Frame`] and the PCs at which it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The first PC.
    pub start: u64,
    /// The first PC that is not in the row any more. `start == end`: an empty range.
    pub end: u64,
    /// What holds there.
    pub frame: Frame,
}

impl Row {
    /// Whether `pc` is in the row's range.
    #[must_use]
    pub const fn contains(&self, pc: u64) -> bool {
        self.start <= pc && pc < self.end
    }
}

/// A [`Cfa`] or [`Recovery`] that prints registers by the machine's own names.
///
/// ```
/// use sframe_validator::Abi;
/// use sframe_validator::unwind::{Named, Recovery, Register};
///
/// let saved = Recovery::AtRegister { register: Register(6), offset: 8 };
/// assert_eq!(saved.to_string(), "*(r6+8)");
/// assert_eq!(Named(Abi::Amd64, saved).to_string(), "*(rbp+8)");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Named<T>(pub Abi, pub T);

impl fmt::Display for Named<Register> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.register_name(self.1) {
            Some(name) => f.write_str(name),
            None => self.1.fmt(f),
        }
    }
}

impl fmt::Display for Named<Cfa> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |register| Named(self.0, register);
        match self.1 {
            Cfa::RegisterOffset { register, offset } => write!(f, "{}{offset:+}", name(register)),
            Cfa::Dereference { register, offset } => write!(f, "*({}{offset:+})", name(register)),
            other => other.fmt(f),
        }
    }
}

impl fmt::Display for Named<Recovery> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |register| Named(self.0, register);
        match self.1 {
            Recovery::AtRegister { register, offset } => {
                write!(f, "*({}{offset:+})", name(register))
            }
            Recovery::RegisterOffset { register, offset: 0 } => name(register).fmt(f),
            Recovery::RegisterOffset { register, offset } => {
                write!(f, "{}{offset:+}", name(register))
            }
            other => other.fmt(f),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expression@{:#x}", self.offset)
    }
}

impl fmt::Display for Cfa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cfa::RegisterOffset { register, offset } => write!(f, "{register}{offset:+}"),
            Cfa::Dereference { register, offset } => write!(f, "*({register}{offset:+})"),
            Cfa::Expression(expression) => expression.fmt(f),
            Cfa::Undefined => f.write_str("undefined"),
        }
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Recovery::Unchanged => f.write_str("unchanged"),
            Recovery::AtCfa(offset) => write!(f, "*(CFA{offset:+})"),
            Recovery::CfaOffset(offset) => write!(f, "CFA{offset:+}"),
            Recovery::AtRegister { register, offset } => write!(f, "*({register}{offset:+})"),
            Recovery::RegisterOffset { register, offset: 0 } => register.fmt(f),
            Recovery::RegisterOffset { register, offset } => write!(f, "{register}{offset:+}"),
            Recovery::AtExpression(expression) => write!(f, "*{expression}"),
            Recovery::Expression(expression) => expression.fmt(f),
            Recovery::Undefined => f.write_str("undefined"),
        }
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CFA={} RA={} FP={}", self.cfa, self.ra, self.fp)?;
        if self.ra_signed { f.write_str(" RA-signed") } else { Ok(()) }
    }
}
