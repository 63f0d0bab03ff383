//! AMD64 instructions (AMD64 Architecture Programmer's Manual, volume 3; AMD64 psABI 3.2).

mod apx;
mod conventions;
mod padding;
mod search;
mod semantics;

use iced_x86::{
    Code, ConditionCode, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register,
};

use super::effect::{
    Condition, ControlFlow, Decoder, Effect, NO_REGISTER, Preview, RegisterNumber, SCRATCH,
};
pub(super) use conventions::CONVENTIONS;
pub(super) use padding::search_padding;
pub(super) use search::may_refer;
use semantics::{Semantics, jump_target};

/// The registers that a call may change (psABI 3.2.1): RAX, RDX, RCX, RSI, RDI, R8 to R11.
const CALLER_SAVED: u32 = 0b1111_0011_0111;

/// The DWARF numbers of the general registers, in the order of their numbers in instructions (psABI, figure 3.36).
const NUMBERS: [RegisterNumber; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];

/// Decodes AMD64 instructions.
pub(super) struct Amd64<'c> {
    /// The code that was decoded last. Making a decoder takes as long as decoding an instruction.
    code: &'c [u8],
    decoder: iced_x86::Decoder<'c>,
    /// The instruction that was decoded last. It is read where it is: copying it takes longer than decoding it.
    instruction: Instruction,
    meaning: Semantics,
}

impl<'c> Amd64<'c> {
    pub(super) fn new() -> Amd64<'c> {
        Amd64 {
            code: &[],
            decoder: decoder(&[]),
            instruction: Instruction::default(),
            meaning: Semantics::default(),
        }
    }

    /// Reads the instruction at an offset in `code`, which is at `address`. Returns its length; `None` if there is none.
    #[inline]
    fn read(&mut self, code: &'c [u8], offset: usize, address: u64) -> Option<u8> {
        if !core::ptr::eq(self.code, code) {
            (self.code, self.decoder) = (code, decoder(code));
        }
        self.decoder.set_position(offset).ok()?;
        self.decoder.set_ip(address);
        self.decoder.decode_out(&mut self.instruction);
        let length = u8::try_from(self.instruction.len()).ok();
        length.filter(|_| !self.instruction.is_invalid())
    }
}

fn decoder(code: &[u8]) -> iced_x86::Decoder<'_> {
    iced_x86::Decoder::new(64, code, DecoderOptions::NONE)
}

/// The length in bytes of the AMD64 instruction at the start of `code`; `None` if there is none.
///
/// For [`Checker::amd64_instructions`](sframe_validator::check::Checker::amd64_instructions).
#[must_use]
pub fn instruction_length(code: &[u8]) -> Option<usize> {
    let instruction = decoder(code).decode();
    (!instruction.is_invalid()).then(|| instruction.len())
}

impl<'c> Decoder<'c> for Amd64<'c> {
    #[inline(always)]
    fn decode(
        &mut self,
        code: &'c [u8],
        offset: usize,
        address: u64,
        effects: &mut Vec<Effect>,
    ) -> Option<(u8, ControlFlow)> {
        let Some(length) = self.read(code, offset, address) else {
            let length = apx::decode(code.get(offset..)?, effects)?;
            return Some((length, ControlFlow::Following));
        };
        let next = next(&self.instruction);
        match next {
            ControlFlow::Following | ControlFlow::SystemCall => {
                self.meaning.effects(&self.instruction, effects);
            }
            _ if next.is_call() => effects.push(Effect::Call(CALLER_SAVED)),
            ControlFlow::Indirect(SCRATCH) => jump_target(&self.instruction, effects),
            _ => {}
        }
        Some((length, next))
    }

    #[inline]
    fn preview(&mut self, code: &'c [u8], offset: usize, address: u64) -> Option<Preview> {
        let Some(length) = self.read(code, offset, address) else {
            let length = apx::decode(code.get(offset..)?, &mut Vec::new())?;
            let next = ControlFlow::Following;
            return Some(Preview { length, next, refers: None, table: None });
        };
        let instruction = &self.instruction;
        let is_relative = instruction.is_ip_rel_memory_operand();
        let refers = is_relative.then(|| instruction.ip_rel_memory_address());
        let (next, table) = (next(instruction), table(instruction));
        Some(Preview { length, next, refers, table })
    }
}

/// Where execution continues.
#[inline(always)]
fn next(instruction: &Instruction) -> ControlFlow {
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::Interrupt => match instruction.code() {
            Code::Hlt | Code::Int3 => ControlFlow::Stop,
            _ => ControlFlow::Following,
        },
        FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => {
            match instruction.mnemonic() {
                Mnemonic::Xend | Mnemonic::Xabort => ControlFlow::Following,
                _ => ControlFlow::Branch(instruction.near_branch_target(), condition(instruction)),
            }
        }
        FlowControl::UnconditionalBranch => ControlFlow::Jump(instruction.near_branch_target()),
        FlowControl::Call if instruction.code() == Code::Syscall => ControlFlow::SystemCall,
        FlowControl::Call => ControlFlow::Call(instruction.near_branch_target()),
        FlowControl::IndirectCall if instruction.is_ip_rel_memory_operand() => {
            ControlFlow::CallBy(instruction.ip_rel_memory_address())
        }
        FlowControl::IndirectCall => ControlFlow::IndirectCall,
        FlowControl::IndirectBranch => match instruction.op0_kind() {
            OpKind::Register => {
                ControlFlow::Indirect(whole(instruction.op0_register()).unwrap_or(NO_REGISTER))
            }
            _ => ControlFlow::Indirect(SCRATCH),
        },
        FlowControl::Return => ControlFlow::Return,
        FlowControl::Exception => ControlFlow::Stop,
    }
}

/// The table at a fixed address from which a jump takes its target by an index.
#[inline]
fn table(instruction: &Instruction) -> Option<u64> {
    let is_indexed = instruction.memory_base() == Register::None
        && instruction.memory_index() != Register::None
        && instruction.memory_index_scale() == 8;
    (instruction.flow_control() == FlowControl::IndirectBranch && is_indexed)
        .then(|| instruction.memory_displacement64())
}

fn condition(instruction: &Instruction) -> Condition {
    match instruction.condition_code() {
        ConditionCode::a => Condition::Above,
        ConditionCode::ae => Condition::AboveOrEqual,
        ConditionCode::b => Condition::Below,
        ConditionCode::be => Condition::BelowOrEqual,
        ConditionCode::e => Condition::Equal,
        ConditionCode::ne => Condition::NotEqual,
        _ => Condition::Other,
    }
}

/// The DWARF number of a general register, of any width.
#[inline]
fn number(name: Register) -> Option<RegisterNumber> {
    whole(name.full_register())
}

/// The DWARF number of a general register of 8 bytes (psABI, figure 3.36).
#[inline]
fn whole(name: Register) -> Option<RegisterNumber> {
    // iced-x86's names are in the order of the numbers in instructions.
    let index = (name as usize).checked_sub(Register::RAX as usize)?;
    NUMBERS.get(index).copied()
}
