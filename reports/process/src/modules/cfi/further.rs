//! The rules of CFI that rows cannot express: for registers other than SP, FP and RA, and expressions.

use std::collections::BTreeMap;

use sframe_oracle::cfi::{Cfi, Fde, Instruction, Instructions, MAX_STATES};
use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Expression, Frame, Recovery, Register};

use crate::statement::FurtherRules;

/// The number of registers: AArch64 has 32 general ones. Walks know no others.
const COUNT: usize = 32;
/// The largest size of an expression that is evaluated. Those of compilers and C libraries have a dozen bytes.
const LONGEST: u32 = 256;
/// The number of addresses whose rules are kept: recursion looks up the same ones again and again.
const KEPT: usize = 256;
/// The largest number of instructions that are executed for one file: a second's work. A hostile file can have a long
/// function, and the stack any number of its frames.
const MOST_INSTRUCTIONS: u64 = 1 << 27;

/// The rules for all registers; `None` for a register without a rule.
type Rules = [Option<Recovery>; COUNT];

/// Looks up further rules, and remembers them.
pub(super) struct Further {
    kept: BTreeMap<u64, FurtherRules>,
    /// The number of instructions that may still be executed.
    left: u64,
}

impl Default for Further {
    fn default() -> Further {
        Further { kept: BTreeMap::new(), left: MOST_INSTRUCTIONS }
    }
}

impl Further {
    /// The further rules at an address of a function, where its frame is `frame`. If they cannot be read, there are none.
    pub(super) fn at(&mut self, fde: &Fde<'_>, address: u64, frame: &Frame) -> FurtherRules {
        if let Some(known) = self.kept.get(&address) {
            return known.clone();
        }
        let rules = Execution::rules_at(fde, address, &mut self.left);
        let found = further(fde.cfi(), rules, frame);
        if self.kept.len() >= KEPT {
            self.kept.clear();
        }
        self.kept.insert(address, found.clone());
        found
    }
}

/// The rules for registers in `rules`, and the operations of all expressions in them and in `frame`.
fn further(cfi: &Cfi<'_>, rules: Option<Rules>, frame: &Frame) -> FurtherRules {
    let abi = cfi.abi();
    let mut found = FurtherRules::NONE;
    for (register, rule) in (0..).map(Register).zip(rules.into_iter().flatten()) {
        if [abi.sp(), abi.fp(), abi.ra()].contains(&register) {
            continue;
        }
        // Without a rule, a register has the same value if functions have to preserve it.
        let kept = is_preserved(abi, register).then_some(Recovery::Unchanged);
        found.registers.extend(rule.or(kept).map(|rule| (register, rule)));
    }
    let in_cfa = match frame.cfa {
        Cfa::Expression(expression) => Some(expression),
        _ => None,
    };
    let of_registers = found.registers.iter().map(|(_, rule)| *rule);
    let in_rules = of_registers.chain([frame.ra, frame.fp]).filter_map(expression_in);
    let expressions = in_cfa.into_iter().chain(in_rules).filter(|found| found.length <= LONGEST);
    found.expressions = expressions.map(|found| (found, cfi.expression(found).to_vec())).collect();
    found
}

const fn expression_in(rule: Recovery) -> Option<Expression> {
    match rule {
        Recovery::AtExpression(expression) | Recovery::Expression(expression) => Some(expression),
        _ => None,
    }
}

/// Whether functions preserve a register: AMD64 psABI figure 3.4, AAPCS64 6.1.1, ELF ABI s390x table 1.8.
const fn is_preserved(abi: Abi, register: Register) -> bool {
    match abi {
        // rbx, rbp, r12 to r15.
        Abi::Amd64 => matches!(register.0, 3 | 6 | 12..=15),
        Abi::Aarch64Little | Abi::Aarch64Big => matches!(register.0, 19..=29),
        // r6 to r13, and f8 to f15, whose numbers are not in their order.
        Abi::S390x => matches!(register.0, 6..=13 | 24..=31),
    }
}

/// Executes the instructions of a function for all registers. The oracle's rows have only CFA, RA and FP.
struct Execution<'l> {
    rules: Rules,
    /// The rules before the function's first instruction.
    initial: Rules,
    remembered: Vec<Rules>,
    location: u64,
    code_factor: u64,
    data_factor: i64,
    left: &'l mut u64,
}

impl Execution<'_> {
    /// The rules at an address of a function; `None` if they cannot be read.
    fn rules_at(fde: &Fde<'_>, address: u64, left: &mut u64) -> Option<Rules> {
        let cie = fde.cie();
        let mut execution = Execution {
            rules: [None; COUNT],
            initial: [None; COUNT],
            remembered: Vec::new(),
            location: fde.start().address,
            code_factor: cie.code_alignment_factor,
            data_factor: cie.data_alignment_factor,
            left,
        };
        execution.until(address, fde.cfi().initial_instructions(cie))?;
        execution.initial = execution.rules;
        execution.until(address, fde.instructions())?;
        Some(execution.rules)
    }

    /// Executes instructions up to the one that goes beyond `address`.
    fn until(&mut self, address: u64, instructions: Instructions<'_>) -> Option<()> {
        for instruction in instructions {
            *self.left = self.left.checked_sub(1)?;
            match instruction.ok()? {
                Instruction::AdvanceLoc(delta) => {
                    let bytes = delta.checked_mul(self.code_factor)?;
                    self.location = self.location.checked_add(bytes)?;
                }
                Instruction::SetLoc(place) => self.location = place.address,
                other => self.execute(other)?,
            }
            if self.location > address {
                break;
            }
        }
        Some(())
    }

    fn execute(&mut self, instruction: Instruction) -> Option<()> {
        let signed = u64::cast_signed;
        match instruction {
            Instruction::Undefined(register) => self.set(register, Recovery::Undefined),
            Instruction::SameValue(register) => self.set(register, Recovery::Unchanged),
            Instruction::Offset(register, offset) => self.saved(register, signed(offset))?,
            Instruction::OffsetSf(register, offset) => self.saved(register, offset)?,
            Instruction::NegativeOffset(register, offset) => {
                self.saved(register, signed(offset).checked_neg()?)?;
            }
            Instruction::ValOffset(register, offset) => self.is_value(register, signed(offset))?,
            Instruction::ValOffsetSf(register, offset) => self.is_value(register, offset)?,
            Instruction::Register(register, source) => {
                self.set(register, Recovery::RegisterOffset { register: source, offset: 0 });
            }
            Instruction::Expression(register, expression) => {
                self.set(register, Recovery::AtExpression(expression));
            }
            Instruction::ValExpression(register, expression) => {
                self.set(register, Recovery::Expression(expression));
            }
            Instruction::Restore(register) => {
                let number = usize::try_from(register.0).ok()?;
                let initial = self.initial.get(number).copied();
                if let (Some(rule), Some(initial)) = (self.rules.get_mut(number), initial) {
                    *rule = initial;
                }
            }
            Instruction::RememberState if self.remembered.len() < MAX_STATES => {
                self.remembered.push(self.rules);
            }
            Instruction::RememberState => return None,
            Instruction::RestoreState => self.rules = self.remembered.pop()?,
            // They describe the CFA, the signing of RA, or nothing.
            _ => {}
        }
        Some(())
    }

    fn saved(&mut self, register: Register, factored: i64) -> Option<()> {
        self.set(register, Recovery::AtCfa(factored.checked_mul(self.data_factor)?));
        Some(())
    }

    fn is_value(&mut self, register: Register, factored: i64) -> Option<()> {
        self.set(register, Recovery::CfaOffset(factored.checked_mul(self.data_factor)?));
        Some(())
    }

    /// Registers that rows cannot name have no place.
    fn set(&mut self, register: Register, rule: Recovery) {
        let number = usize::try_from(register.0).unwrap_or(usize::MAX);
        if let Some(place) = self.rules.get_mut(number) {
            *place = Some(rule);
        }
    }
}
