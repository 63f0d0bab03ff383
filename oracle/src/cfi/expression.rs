//! DWARF expressions that are equivalent to a simple rule.
//!
//! Two kinds have a simple meaning: a register (or the CFA) plus an offset, dereferenced or not; and the expression
//! that linkers write for the procedure linkage table, where the CFA depends on the position of the PC in its 16-byte
//! block. Anything else remains an expression.

use gimli::{EndianSlice, Operation, Reader, RunTimeEndian};
use sframe_validator::unwind::{Cfa, Expression, Recovery, Register};

/// Linkers write 11 to 14 bytes for the PLT expression. Longer expressions are not examined, so that the cost per row
/// is bounded.
const MAX_PLT_BYTES: u32 = 32;
/// The program counter's column on AMD64.
const PC_COLUMN: u16 = 16;

/// The base of an expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Zero,
    Cfa,
    Register(Register),
}

/// `base + offset`, or the memory at that address, plus a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    base: Base,
    offset: i64,
    /// What is added to the memory there, if it is loaded.
    loaded: Option<i64>,
}

impl Value {
    const fn constant(offset: i64) -> Value {
        Value { base: Base::Zero, offset, loaded: None }
    }

    fn plus(self, other: Value) -> Option<Value> {
        let (value, number) = match (self.base, other.base) {
            (_, Base::Zero) if other.loaded.is_none() => (self, other.offset),
            (Base::Zero, _) if self.loaded.is_none() => (other, self.offset),
            _ => return None,
        };
        Some(match value.loaded {
            Some(plus) => Value { loaded: Some(plus.checked_add(number)?), ..value },
            None => Value { offset: value.offset.checked_add(number)?, ..value },
        })
    }

    fn minus(self, other: Value) -> Option<Value> {
        let constant = other.base == Base::Zero && other.loaded.is_none();
        self.plus(Value::constant(other.offset.checked_neg().filter(|_| constant)?))
    }
}

/// A stack of the few values a simple expression needs.
struct Values {
    values: [Value; 4],
    used: usize,
}

impl Values {
    fn push(&mut self, value: Value) -> Option<()> {
        *self.values.get_mut(self.used)? = value;
        self.used += 1;
        Some(())
    }

    fn pop(&mut self) -> Option<Value> {
        self.used = self.used.checked_sub(1)?;
        self.values.get(self.used).copied()
    }
}

/// The bytes of an expression, and everything on which its operations depend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'c> {
    pub(crate) input: EndianSlice<'c, RunTimeEndian>,
    pub(crate) address_size: u8,
}

type Op<'c> = Operation<EndianSlice<'c, RunTimeEndian>>;

impl<'c> Bytes<'c> {
    /// The bytes of `expression`, which is in the section `whole`.
    pub(crate) fn of(
        expression: Expression,
        whole: EndianSlice<'c, RunTimeEndian>,
        address_size: u8,
    ) -> Option<Bytes<'c>> {
        let mut input = whole;
        input.skip(usize::try_from(expression.offset).ok()?).ok()?;
        let input = input.split(usize::try_from(expression.length).ok()?).ok()?;
        Some(Bytes { input, address_size })
    }

    /// The next operation; `None` at the end and for operations that gimli does not know.
    fn operation(&mut self) -> Option<Op<'c>> {
        let encoding = gimli::Encoding {
            address_size: self.address_size,
            format: gimli::Format::Dwarf32,
            version: 5,
        };
        Operation::parse(&mut self.input, encoding).ok()
    }

    /// The expression's value, if it is a simple one. `first` is on the stack initially.
    fn value(mut self, first: Option<Value>) -> Option<Value> {
        let mut stack = Values { values: [Value::constant(0); 4], used: 0 };
        if let Some(first) = first {
            stack.push(first)?;
        }
        while !self.input.is_empty() {
            let value = match self.operation()? {
                Operation::RegisterOffset { register, offset, base_type } if base_type.0 == 0 => {
                    Value {
                        base: Base::Register(Register(u32::from(register.0))),
                        offset,
                        loaded: None,
                    }
                }
                Operation::UnsignedConstant { value } => {
                    Value::constant(i64::try_from(value).ok()?)
                }
                Operation::SignedConstant { value } => Value::constant(value),
                Operation::PlusConstant { value } => {
                    stack.pop()?.plus(Value::constant(i64::try_from(value).ok()?))?
                }
                Operation::Plus => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    left.plus(right)?
                }
                Operation::Minus => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    left.minus(right)?
                }
                Operation::Deref { base_type, size, space: false }
                    if base_type.0 == 0 && size == self.address_size =>
                {
                    stack.pop()?.dereferenced()?
                }
                Operation::CallFrameCFA => first?,
                Operation::Nop => continue,
                _ => return None,
            };
            stack.push(value)?;
        }
        stack.pop()
    }

    /// The CFA of `DW_CFA_def_cfa_expression`.
    pub(crate) fn cfa(self) -> Option<Cfa> {
        let Value { base: Base::Register(register), offset, loaded } = self.value(None)? else {
            return None;
        };
        Some(match loaded {
            None => Cfa::RegisterOffset { register, offset },
            Some(0) => Cfa::Dereference { register, offset },
            Some(plus) => {
                let (offset, plus) = (i32::try_from(offset).ok()?, i32::try_from(plus).ok()?);
                Cfa::DereferencePlus { register, offset, plus }
            }
        })
    }

    /// The rule of `DW_CFA_expression`: the register is saved in memory at the value.
    pub(crate) fn saved_at(self) -> Option<Recovery> {
        self.value(Some(CFA))?.dereferenced()?.recovery()
    }

    /// The rule of `DW_CFA_val_expression`: the register has the value.
    pub(crate) fn is_value(self) -> Option<Recovery> {
        self.value(Some(CFA))?.recovery()
    }

    /// A constant value (`DW_CFA_val_expression` of the RA signing state).
    pub(crate) fn constant(self) -> Option<i64> {
        let value = self.value(Some(CFA))?;
        (value.base == Base::Zero && value.loaded.is_none()).then_some(value.offset)
    }

    /// The expression of the procedure linkage table: `register + offset`, plus `1 << shift` if the PC's low four bits
    /// are at least `threshold`.
    pub(crate) fn plt(mut self) -> Option<Plt> {
        if self.input.len() > usize::try_from(MAX_PLT_BYTES).ok()? {
            return None;
        }
        let base = self.operation()?;
        let Operation::RegisterOffset { register, offset, .. } = base else { return None };
        let pc = self.operation()?;
        let Operation::RegisterOffset { register: gimli::Register(PC_COLUMN), offset: 0, .. } = pc
        else {
            return None;
        };
        let mask = self.constant_operand()?;
        let and = self.operation()?;
        let threshold = self.constant_operand()?;
        let ge = self.operation()?;
        let shift = self.constant_operand()?;
        let shl = self.operation()?;
        let plus = self.operation()?;
        let shape = (and, ge, shl, plus);
        let right =
            matches!(shape, (Operation::And, Operation::Ge, Operation::Shl, Operation::Plus));
        if !right || mask != 15 || threshold > 15 || shift > 15 || !self.input.is_empty() {
            return None;
        }
        Some(Plt {
            register: Register(u32::from(register.0)),
            low: offset,
            high: offset.checked_add(1 << shift)?,
            threshold,
        })
    }

    fn constant_operand(&mut self) -> Option<u64> {
        match self.operation()? {
            Operation::UnsignedConstant { value } => Some(value),
            Operation::SignedConstant { value } => u64::try_from(value).ok(),
            _ => None,
        }
    }
}

const CFA: Value = Value { base: Base::Cfa, offset: 0, loaded: None };

impl Value {
    /// The memory at the value, unless that is loaded itself.
    fn dereferenced(self) -> Option<Value> {
        self.loaded.is_none().then_some(Value { loaded: Some(0), ..self })
    }

    fn recovery(self) -> Option<Recovery> {
        let offset = self.offset;
        Some(match (self.base, self.loaded) {
            (Base::Cfa, Some(0)) => Recovery::AtCfa(offset),
            (Base::Cfa, None) => Recovery::CfaOffset(offset),
            (Base::Register(register), Some(0)) => Recovery::AtRegister { register, offset },
            (Base::Register(register), None) => Recovery::RegisterOffset { register, offset },
            (_, Some(_)) | (Base::Zero, None) => return None,
        })
    }
}

/// The CFA in a procedure linkage table, depending on the PC's position in its 16-byte block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plt {
    register: Register,
    low: i64,
    high: i64,
    threshold: u64,
}

impl Plt {
    /// The size of a block in bytes.
    pub(crate) const BLOCK: u64 = 16;

    /// The CFA at `pc`, and the first PC after it with a different CFA; `None` at the end of the address space.
    pub(crate) fn at(&self, pc: u64) -> (Cfa, Option<u64>) {
        let block = pc & !(Plt::BLOCK - 1);
        let after = pc & (Plt::BLOCK - 1) >= self.threshold;
        let offset = if after { self.high } else { self.low };
        let next = if after { Plt::BLOCK } else { self.threshold };
        (Cfa::RegisterOffset { register: self.register, offset }, block.checked_add(next))
    }
}
