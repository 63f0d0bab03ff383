//! The vocabulary of unwinding that SFrame and DWARF CFI share. It is plain data, independent of the bytes of either
//! format.
//!
//! A [`Row`] is a range of PCs and the [`Frame`] that is valid there: how to find the canonical frame address (CFA),
//! the return address (RA) and the caller's frame pointer (FP).

mod apply;

use core::fmt;

pub use apply::{ApplyError, Caller, without_signature};

use crate::abi::Abi;
pub use crate::abi::Register;

/// A place in code: an offset in a section of a relocatable object, or an absolute address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeAddress {
    /// The ELF section index in a relocatable object; 0 for an absolute address.
    pub section: u32,
    /// The absolute address, or the offset in bytes in the section.
    pub address: u64,
}

impl CodeAddress {
    /// An address in a linked file.
    #[must_use]
    pub const fn absolute(address: u64) -> CodeAddress {
        CodeAddress { section: 0, address }
    }
}

/// A DWARF expression without a simpler equivalent: the place of its bytes in the CFI section.
///
/// SFrame has no expressions. Two expressions are equivalent if their bytes are equal. Comparing two values of this
/// type compares only their places, so compare the bytes instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expression {
    /// The offset in bytes from the start of the section to the expression's first operation.
    pub offset: u32,
    /// The size of the expression in bytes.
    pub length: u32,
}

/// How the CFA is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cfa {
    /// The value `register + offset`.
    RegisterOffset {
        /// The base register.
        register: Register,
        /// The bytes added to it.
        offset: i64,
    },
    /// The 8 bytes in memory at `register + offset`.
    Dereference {
        /// The base register.
        register: Register,
        /// The bytes added to it before the load.
        offset: i64,
    },
    /// The value of a DWARF expression.
    Expression(Expression),
    /// No rule: the row marks an outermost frame.
    Undefined,
}

/// How the caller's value of a register (RA or FP) is recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recovery {
    /// It is still in its register, because nothing saved it, or its value is the same.
    Unchanged,
    /// It is in memory at `CFA + offset`.
    AtCfa(i64),
    /// It is the value `CFA + offset` itself.
    CfaOffset(i64),
    /// It is in memory at `register + offset`.
    AtRegister {
        /// The base register.
        register: Register,
        /// The bytes added to it before the load.
        offset: i64,
    },
    /// It is the value `register + offset` itself; with offset 0, it is saved in that register.
    RegisterOffset {
        /// The base register.
        register: Register,
        /// The bytes added to it.
        offset: i64,
    },
    /// It is in memory at the address that a DWARF expression computes.
    AtExpression(Expression),
    /// It is the value of a DWARF expression.
    Expression(Expression),
    /// It cannot be recovered. An undefined RA marks the outermost frame.
    Undefined,
}

/// What is known about the caller's frame at one PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The canonical frame address.
    pub cfa: Cfa,
    /// The return address.
    pub ra: Recovery,
    /// The caller's frame pointer.
    pub fp: Recovery,
    /// Whether the return address has a pointer-authentication code (AArch64).
    pub ra_signed: bool,
}

impl Frame {
    /// The frame without a caller: RA is undefined, and nothing else is known.
    pub const OUTERMOST: Frame = Frame {
        cfa: Cfa::Undefined,
        ra: Recovery::Undefined,
        fp: Recovery::Unchanged,
        ra_signed: false,
    };
}

/// A [`Frame`] and the PCs at which it is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The first PC.
    pub start: u64,
    /// The first PC after the row; if it equals `start`, the range is empty.
    pub end: u64,
    /// The frame that is valid there.
    pub frame: Frame,
}

impl Row {
    /// Whether `pc` is in the row's range.
    #[must_use]
    pub const fn contains(&self, pc: u64) -> bool {
        self.start <= pc && pc < self.end
    }
}

/// Prints a [`Cfa`] or [`Recovery`] with the machine's own register names.
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
