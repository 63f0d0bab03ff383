//! DWARF expressions in rows: of PLT stubs, and of the code that signal handlers return to.

use gimli::{
    Encoding, EndianSlice, Evaluation, EvaluationResult, Format, LittleEndian, Location, Value,
};
use sframe_validator::unwind::{Cfa, Expression, Frame, Recovery, Register};

/// The number of operations after which an expression is not evaluated further.
const MOST_OPERATIONS: u32 = 1000;
/// The DWARF number of the PC, which is no register otherwise.
const PC: u16 = 16;
/// Numbers of registers that no machine has, for the values of a frame's expressions.
const VALUES: [Register; 3] = [Register(u32::MAX - 2), Register(u32::MAX - 1), Register(u32::MAX)];

/// Evaluates the expressions of one frame.
pub(super) struct Evaluator<'e> {
    section: Option<&'e [u8]>,
    pc: u64,
    /// The values for the registers in [`VALUES`]: of CFA, RA and FP.
    values: [u64; 3],
}

impl<'e> Evaluator<'e> {
    /// `section` is the CFI section with the expressions, if it is known.
    pub(super) const fn new(section: Option<&'e [u8]>, pc: u64) -> Evaluator<'e> {
        Evaluator { section, pc, values: [0; 3] }
    }

    /// The value for a register that [`Evaluator::resolve`] has put in place of an expression.
    pub(super) fn value(&self, register: Register) -> Option<u64> {
        let number = VALUES.iter().position(|value| *value == register)?;
        self.values.get(number).copied()
    }

    /// The same frame with registers in place of its expressions.
    ///
    /// # Errors
    /// Why an expression cannot be evaluated.
    pub(super) fn resolve(
        &mut self,
        frame: &Frame,
        registers: impl Fn(Register) -> Option<u64>,
        read: impl Fn(u64) -> Option<u64>,
    ) -> Result<Frame, &'static str> {
        let mut plain = *frame;
        let [cfa, ra, fp] = VALUES;
        if let Cfa::Expression(expression) = frame.cfa {
            let value = self.evaluate(expression, None, &registers, &read);
            self.values[0] = value.ok_or("the CFA is an expression that cannot be evaluated")?;
            plain.cfa = Cfa::RegisterOffset { register: cfa, offset: 0 };
        }
        let base = match plain.cfa {
            Cfa::RegisterOffset { register, offset } => self
                .value(register)
                .or_else(|| registers(register))
                .map(|value| value.wrapping_add_signed(offset)),
            Cfa::Dereference { register, offset } => {
                registers(register).and_then(|value| read(value.wrapping_add_signed(offset)))
            }
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
            self.evaluate(expression, base, &registers, &read)
        };
        let values = (replace(&mut plain.ra, ra), replace(&mut plain.fp, fp));
        let (Some(ra), Some(fp)) = values else {
            return Err("RA or FP is an expression that cannot be evaluated");
        };
        (self.values[1], self.values[2]) = (ra, fp);
        Ok(plain)
    }

    /// The value of an expression. `initial` is the value on the stack at first.
    fn evaluate(
        &self,
        expression: Expression,
        initial: Option<u64>,
        registers: &impl Fn(Register) -> Option<u64>,
        read: &impl Fn(u64) -> Option<u64>,
    ) -> Option<u64> {
        let start = usize::try_from(expression.offset).ok()?;
        let end = start.checked_add(usize::try_from(expression.length).ok()?)?;
        let bytes = EndianSlice::new(self.section?.get(start..end)?, LittleEndian);
        let encoding = Encoding { address_size: 8, format: Format::Dwarf32, version: 4 };
        let mut evaluation = Evaluation::new(bytes, encoding);
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
                        PC => Some(self.pc),
                        number => registers(Register(number.into())),
                    };
                    evaluation.resume_with_register(Value::Generic(value?)).ok()?
                }
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let word = read(address)?;
                    let unused = 64_u32.checked_sub(u32::from(size) * 8)?;
                    let value = word.checked_shl(unused)?.checked_shr(unused)?;
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
}
