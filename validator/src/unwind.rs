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
    /// The 8 bytes in memory at `register + offset`, plus a number: a stack pointer that was saved before bytes were pushed.
    /// SFrame has no such rule.
    DereferencePlus {
        /// The base register.
        register: Register,
        /// The bytes added to it before the load.
        offset: i32,
        /// The bytes added to what was loaded.
        plus: i32,
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

/// Writes a CFA; `name` gives the name of a register.
fn write_cfa<N: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    cfa: Cfa,
    name: impl Fn(Register) -> N,
) -> fmt::Result {
    match cfa {
        Cfa::RegisterOffset { register, offset } => write!(f, "{}{offset:+}", name(register)),
        Cfa::Dereference { register, offset } => write!(f, "*({}{offset:+})", name(register)),
        Cfa::DereferencePlus { register, offset, plus } => {
            write!(f, "*({}{offset:+}){plus:+}", name(register))
        }
        Cfa::Expression(expression) => fmt::Display::fmt(&expression, f),
        Cfa::Undefined => f.write_str("undefined"),
    }
}

/// Writes a recovery; `name` gives the name of a register.
fn write_recovery<N: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    recovery: Recovery,
    name: impl Fn(Register) -> N,
) -> fmt::Result {
    match recovery {
        Recovery::Unchanged => f.write_str("unchanged"),
        Recovery::AtCfa(offset) => write!(f, "*(CFA{offset:+})"),
        Recovery::CfaOffset(offset) => write!(f, "CFA{offset:+}"),
        Recovery::AtRegister { register, offset } => write!(f, "*({}{offset:+})", name(register)),
        Recovery::RegisterOffset { register, offset: 0 } => name(register).fmt(f),
        Recovery::RegisterOffset { register, offset } => write!(f, "{}{offset:+}", name(register)),
        Recovery::AtExpression(expression) => write!(f, "*{expression}"),
        Recovery::Expression(expression) => fmt::Display::fmt(&expression, f),
        Recovery::Undefined => f.write_str("undefined"),
    }
}

impl fmt::Display for Named<Cfa> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_cfa(f, self.1, |register| Named(self.0, register))
    }
}

impl fmt::Display for Cfa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_cfa(f, *self, |register| register)
    }
}

impl fmt::Display for Named<Recovery> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_recovery(f, self.1, |register| Named(self.0, register))
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_recovery(f, *self, |register| register)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expression@{:#x}", self.offset)
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CFA={} RA={} FP={}", self.cfa, self.ra, self.fp)?;
        if self.ra_signed { f.write_str(" RA-signed") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn a_row_contains_its_start_and_not_its_end() {
        let row = Row { start: 4, end: 8, frame: Frame::OUTERMOST };
        assert_eq!([3, 4, 7, 8].map(|pc| row.contains(pc)), [false, true, true, false]);
        assert!(!Row { end: 4, ..row }.contains(4));
    }

    /// The notation of `objdump --sframe` and of the DWARF texts: an offset has its sign, and a load is `*(...)`.
    #[test]
    fn values_are_written_as_expressions() {
        let register = Register(6);
        let expression = Expression { offset: 0x1f, length: 3 };
        let cfa = [
            (Cfa::RegisterOffset { register, offset: 8 }, "r6+8", "rbp+8"),
            (Cfa::Dereference { register, offset: -8 }, "*(r6-8)", "*(rbp-8)"),
            (Cfa::DereferencePlus { register, offset: -8, plus: 8 }, "*(r6-8)+8", "*(rbp-8)+8"),
            (Cfa::Expression(expression), "expression@0x1f", "expression@0x1f"),
            (Cfa::Undefined, "undefined", "undefined"),
        ];
        for (value, plain, named) in cfa {
            assert_eq!(value.to_string(), plain);
            assert_eq!(Named(Abi::Amd64, value).to_string(), named);
        }
        let recoveries = [
            (Recovery::Unchanged, "unchanged", "unchanged"),
            (Recovery::AtCfa(-16), "*(CFA-16)", "*(CFA-16)"),
            (Recovery::CfaOffset(16), "CFA+16", "CFA+16"),
            (Recovery::AtRegister { register, offset: 0 }, "*(r6+0)", "*(rbp+0)"),
            (Recovery::RegisterOffset { register, offset: 0 }, "r6", "rbp"),
            (Recovery::RegisterOffset { register, offset: -4 }, "r6-4", "rbp-4"),
            (Recovery::AtExpression(expression), "*expression@0x1f", "*expression@0x1f"),
            (Recovery::Expression(expression), "expression@0x1f", "expression@0x1f"),
            (Recovery::Undefined, "undefined", "undefined"),
        ];
        for (value, plain, named) in recoveries {
            assert_eq!(value.to_string(), plain);
            assert_eq!(Named(Abi::Amd64, value).to_string(), named);
        }
        let cfa = Cfa::RegisterOffset { register, offset: 8 };
        let frame =
            Frame { cfa, ra: Recovery::AtCfa(-8), fp: Recovery::Unchanged, ra_signed: false };
        assert_eq!(frame.to_string(), "CFA=r6+8 RA=*(CFA-8) FP=unchanged");
        let signed = Frame { ra_signed: true, ..frame };
        assert_eq!(signed.to_string(), "CFA=r6+8 RA=*(CFA-8) FP=unchanged RA-signed");
    }

    /// The machines' own names; a register without a name has its number.
    #[test]
    fn registers_have_the_names_of_their_machine() {
        let name = |abi, number| Named(abi, Register(number)).to_string();
        assert_eq!(name(Abi::Amd64, 7), "rsp");
        assert_eq!(name(Abi::Amd64, 17), "r17");
        assert_eq!(name(Abi::Aarch64Big, 31), "sp");
        // ELF ABI s390x: f0 is 16, and f2 is 17.
        assert_eq!((name(Abi::S390x, 15), name(Abi::S390x, 17)), ("r15".into(), "f2".into()));
    }
}
