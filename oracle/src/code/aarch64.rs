//! AArch64 instructions (Arm Architecture Reference Manual, C4 and C6; AAPCS64 6.1).

mod atomics;
mod conventions;
mod padding;
mod pauth_lr;
mod scalable;
mod search;
mod semantics;
mod tags;
mod vectors;

use disarm64::decoder::{self, Opcode};
use disarm64::{InsnOpcode, InsnOperand};
use disarm64_defn::InsnClass;

use super::effect::{Condition, ControlFlow, Decoder, Effect, Preview, RegisterNumber};
pub(super) use conventions::CONVENTIONS;
pub(super) use padding::search_padding;
pub(super) use search::may_refer;

/// The stack pointer. As an operand, the number means SP or zero, depending on the instruction.
const SP: RegisterNumber = 31;
/// The link register.
const LR: RegisterNumber = 30;
/// The registers that a call may change: X0 to X18, and LR.
const CALL: u32 = (1 << LR) | 0x7_ffff;

/// Decodes AArch64 instructions.
#[derive(Default)]
pub(super) struct Aarch64 {
    /// The pages whose addresses `adrp` has put into registers, for [`Decoder::preview`].
    pages: Box<[Option<u64>; 32]>,
}

impl<'c> Decoder<'c> for Aarch64 {
    fn decode(
        &mut self,
        code: &'c [u8],
        offset: usize,
        address: u64,
        effects: &mut Vec<Effect>,
    ) -> Option<(u8, ControlFlow)> {
        let code = code.get(offset..)?;
        if let Some(next) = pauth_lr::decode(code, effects) {
            return Some((4, next));
        }
        let instruction = Instruction::read(code, address)?;
        let next = instruction.next();
        match next {
            ControlFlow::Following | ControlFlow::SystemCall => instruction.effects(effects),
            _ if next.is_call() => effects.push(Effect::Call(CALL)),
            _ => {}
        }
        Some((4, next))
    }

    fn preview(&mut self, code: &'c [u8], offset: usize, address: u64) -> Option<Preview> {
        let code = code.get(offset..)?;
        if let Some(next) = pauth_lr::decode(code, &mut Vec::new()) {
            return Some(Preview { length: 4, next, refers: None, table: None });
        }
        let instruction = Instruction::read(code, address)?;
        let next = instruction.next();
        let refers = self.reference(&instruction);
        if !matches!(next, ControlFlow::Following | ControlFlow::SystemCall) {
            self.pages.fill(None);
        }
        Some(Preview { length: 4, next, refers, table: None })
    }
}

impl Aarch64 {
    /// The address that an instruction computes, alone or after `adrp`.
    fn reference(&mut self, instruction: &Instruction) -> Option<u64> {
        let mut page = |register: RegisterNumber, is_overwritten: bool| {
            let page = self.pages.get_mut(usize::from(register))?;
            if is_overwritten { page.take() } else { *page }
        };
        match instruction.class {
            InsnClass::PCRELADDR => {
                let target = instruction.relative();
                if !instruction.bit(31) {
                    return Some(target);
                }
                if let Some(page) = self.pages.get_mut(usize::from(instruction.rd())) {
                    *page = Some(target);
                }
                None
            }
            InsnClass::ADDSUB_IMM if !instruction.bit(30) => {
                let page = page(instruction.rn(), instruction.rd() == instruction.rn())?;
                Some(page.wrapping_add(u64::from(instruction.field(10, 12))))
            }
            InsnClass::LDST_POS => {
                let is_overwritten =
                    instruction.field(22, 2) != 0 && instruction.rd() == instruction.rn();
                let offset = instruction.field(10, 12) << instruction.field(30, 2);
                Some(page(instruction.rn(), is_overwritten)?.wrapping_add(u64::from(offset)))
            }
            _ => None,
        }
    }
}

/// An instruction, its address and its class.
struct Instruction {
    bits: u32,
    address: u64,
    class: InsnClass,
    operands: &'static [InsnOperand],
}

impl Instruction {
    fn read(code: &[u8], address: u64) -> Option<Instruction> {
        // Instructions are little-endian, whatever the data is.
        let bits = u32::from_le_bytes(*code.first_chunk()?);
        let opcode: Opcode = decoder::decode(bits)?;
        let definition = opcode.definition();
        let (class, operands) = (definition.class, definition.operands);
        Some(Instruction { bits, address, class, operands })
    }

    /// `width` bits from bit `from` on.
    const fn field(&self, from: u32, width: u32) -> u32 {
        (self.bits >> from) & ((1 << width) - 1)
    }

    /// `width` bits from bit `from` on, as a signed number.
    const fn signed(&self, from: u32, width: u32) -> i32 {
        let unused = 32 - width;
        (self.field(from, width) << unused).cast_signed() >> unused
    }

    const fn bit(&self, number: u32) -> bool {
        self.bits >> number & 1 != 0
    }

    /// A register's number in the 5 bits from bit `from` on.
    const fn register(&self, from: u32) -> RegisterNumber {
        (self.bits >> from & 31) as RegisterNumber
    }

    const fn rd(&self) -> RegisterNumber {
        self.register(0)
    }

    const fn rn(&self) -> RegisterNumber {
        self.register(5)
    }

    const fn rm(&self) -> RegisterNumber {
        self.register(16)
    }

    /// Whether registers have 8 bytes.
    const fn is_wide(&self) -> bool {
        self.bit(31)
    }

    /// The target of a branch with a distance of `width` bits, in instructions.
    fn target(&self, from: u32, width: u32) -> u64 {
        self.address.wrapping_add_signed(i64::from(self.signed(from, width)) * 4)
    }

    /// The result of `adr` or `adrp`.
    fn relative(&self) -> u64 {
        let distance = i64::from(self.signed(5, 19)) << 2 | i64::from(self.field(29, 2));
        match self.bit(31) {
            false => self.address.wrapping_add_signed(distance),
            true => (self.address & !0xfff).wrapping_add_signed(distance << 12),
        }
    }

    fn next(&self) -> ControlFlow {
        match self.class {
            InsnClass::BRANCH_IMM if self.bit(31) => ControlFlow::Call(self.target(0, 26)),
            InsnClass::BRANCH_IMM => ControlFlow::Jump(self.target(0, 26)),
            InsnClass::CONDBRANCH => ControlFlow::Branch(self.target(5, 19), self.condition()),
            InsnClass::COMPBRANCH => ControlFlow::Branch(self.target(5, 19), Condition::Other),
            InsnClass::TESTBRANCH => ControlFlow::Branch(self.target(5, 14), Condition::Other),
            // Bit 24 is set if the target is authenticated with a register.
            InsnClass::BRANCH_REG => match self.field(21, 3) {
                0 => ControlFlow::Indirect(self.rn()),
                1 => ControlFlow::IndirectCall,
                2 => ControlFlow::Return,
                _ => ControlFlow::Stop,
            },
            // `svc` continues after it.
            InsnClass::EXCEPTION if self.field(21, 3) == 0 && self.field(0, 2) == 1 => {
                ControlFlow::SystemCall
            }
            InsnClass::EXCEPTION => ControlFlow::Stop,
            _ => ControlFlow::Following,
        }
    }

    fn condition(&self) -> Condition {
        match self.field(0, 4) {
            0 => Condition::Equal,
            1 => Condition::NotEqual,
            2 => Condition::AboveOrEqual,
            3 => Condition::Below,
            8 => Condition::Above,
            9 => Condition::BelowOrEqual,
            _ => Condition::Other,
        }
    }
}
