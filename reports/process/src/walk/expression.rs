//! DWARF expressions in rows: of PLT stubs, of functions that align their stack, and of the code that signal handlers
//! return to.

use gimli::{
    Encoding, EndianSlice, Evaluation, EvaluationResult, Format, Location, RunTimeEndian, Value,
};
use sframe_validator::unwind::{Cfa, Expression, Frame, Recovery, Register};
use sframe_validator::{Abi, Endian};

/// The number of operations after which an expression is not evaluated further.
const MOST_OPERATIONS: u32 = 1000;
/// The DWARF number of the PC on AMD64. Other machines have a register with this number.
const AMD64_PC: u16 = 16;
/// Numbers of registers that no machine has, for the values of a frame's expressions.
const VALUES: [Register; 3] = [Register(u32::MAX - 2), Register(u32::MAX - 1), Register(u32::MAX)];

/// Where a frame's expressions are evaluated: the machine, and what is known there.
#[derive(Clone, Copy)]
pub(crate) struct Context<R, M> {
    pub(crate) abi: Abi,
    pub(crate) pc: u64,
    /// Returns the value of a register.
    pub(crate) registers: R,
    /// Returns the 8 bytes at an address, in the machine's byte order.
    pub(crate) read: M,
}

/// Evaluates the expressions of one frame.
pub(crate) struct Evaluator<R, M> {
    context: Context<R, M>,
    /// The values for the registers in [`VALUES`]: of CFA, RA and FP.
    values: [u64; 3],
}

impl<R: Fn(Register) -> Option<u64>, M: Fn(u64) -> Option<u64>> Evaluator<R, M> {
    pub(crate) const fn new(context: Context<R, M>) -> Evaluator<R, M> {
        Evaluator { context, values: [0; 3] }
    }

    /// The value for a register that [`Evaluator::resolve`] has put in place of an expression.
    pub(crate) fn value(&self, register: Register) -> Option<u64> {
        let number = VALUES.iter().position(|value| *value == register)?;
        self.values.get(number).copied()
    }

    /// `frame` with registers in place of its expressions. `bytes` returns the operations of an expression.
    ///
    /// # Errors
    /// Why an expression cannot be evaluated.
    pub(crate) fn resolve<'b>(
        &mut self,
        frame: &Frame,
        bytes: impl Fn(Expression) -> Option<&'b [u8]>,
    ) -> Result<Frame, &'static str> {
        let mut plain = *frame;
        let [cfa, ra, fp] = VALUES;
        let context = &self.context;
        let evaluate = |expression, initial| context.evaluate(bytes(expression)?, initial);
        if let Cfa::Expression(expression) = frame.cfa {
            let value = evaluate(expression, None);
            self.values[0] = value.ok_or("the CFA is an expression that cannot be evaluated")?;
            plain.cfa = Cfa::RegisterOffset { register: cfa, offset: 0 };
        }
        let base = match plain.cfa {
            Cfa::RegisterOffset { register, offset } if register == cfa => {
                Some(self.values[0].wrapping_add_signed(offset))
            }
            Cfa::RegisterOffset { register, offset } => {
                (context.registers)(register).map(|value| value.wrapping_add_signed(offset))
            }
            Cfa::Dereference { register, offset } => (context.registers)(register)
                .and_then(|value| (context.read)(value.wrapping_add_signed(offset))),
            Cfa::DereferencePlus { register, offset, plus } => (context.registers)(register)
                .and_then(|value| (context.read)(value.wrapping_add_signed(offset.into())))
                .map(|value| value.wrapping_add_signed(plus.into())),
            _ => None,
        };
        let replace = |recovery: &mut Recovery, register| -> Option<u64> {
            let (expression, result) = match *recovery {
                Recovery::AtExpression(expression) => {
                    (expression, Recovery::AtRegister { register, offset: 0 })
                }
                Recovery::Expression(expression) => {
                    (expression, Recovery::RegisterOffset { register, offset: 0 })
                }
                _ => return Some(0),
            };
            *recovery = result;
            evaluate(expression, base)
        };
        let values = (replace(&mut plain.ra, ra), replace(&mut plain.fp, fp));
        let (Some(ra), Some(fp)) = values else {
            return Err("RA or FP is an expression that cannot be evaluated");
        };
        (self.values[1], self.values[2]) = (ra, fp);
        Ok(plain)
    }
}

impl<R: Fn(Register) -> Option<u64>, M: Fn(u64) -> Option<u64>> Context<R, M> {
    /// The value of an expression. `initial` is the value on the stack at first.
    pub(crate) fn evaluate(&self, bytes: &[u8], initial: Option<u64>) -> Option<u64> {
        let endian = match self.abi.endian() {
            Endian::Little => RunTimeEndian::Little,
            Endian::Big => RunTimeEndian::Big,
        };
        let encoding = Encoding { address_size: 8, format: Format::Dwarf32, version: 4 };
        let mut evaluation = Evaluation::new(EndianSlice::new(bytes, endian), encoding);
        evaluation.set_max_iterations(MOST_OPERATIONS);
        if let Some(initial) = initial {
            evaluation.set_initial_value(initial);
        }
        let mut result = evaluation.evaluate().ok()?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = match register.0 {
                        AMD64_PC if self.abi == Abi::Amd64 => Some(self.pc),
                        number => (self.registers)(Register(number.into())),
                    };
                    evaluation.resume_with_register(Value::Generic(value?)).ok()?
                }
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let value = self.load(address, size)?;
                    evaluation.resume_with_memory(Value::Generic(value)).ok()?
                }
                _ => return None,
            };
        }
        match evaluation.result().as_slice() {
            [piece] => match piece.location {
                Location::Address { address } => Some(address),
                Location::Value { value } => value.to_u64(u64::MAX).ok(),
                _ => None,
            },
            _ => None,
        }
    }

    /// The first `size` bytes at an address as a number.
    fn load(&self, address: u64, size: u8) -> Option<u64> {
        let word = (self.read)(address)?;
        let unused = 64_u32.checked_sub(u32::from(size) * 8)?;
        match self.abi.endian() {
            Endian::Little => word.checked_shl(unused)?.checked_shr(unused),
            Endian::Big => word.checked_shr(unused),
        }
    }
}
