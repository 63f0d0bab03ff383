//! The instructions with which gaps in code are filled.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, Register};

use crate::code::padding::Filling;

/// What the first instruction of code is, and its length in bytes.
pub(in crate::code) fn filling(code: &[u8]) -> (Filling, usize) {
    if code.starts_with(&[0, 0]) {
        return (Filling::Filler, 2);
    }
    let instruction = Decoder::new(64, code, DecoderOptions::NONE).decode();
    let filling = match (instruction.mnemonic(), instruction.flow_control()) {
        (Mnemonic::Nop | Mnemonic::Int3 | Mnemonic::Ud2, _) => Filling::Filler,
        (Mnemonic::Lea, _) if is_unchanged(&instruction) => Filling::Filler,
        (
            _,
            FlowControl::Return | FlowControl::UnconditionalBranch | FlowControl::IndirectBranch,
        ) => Filling::End,
        _ => Filling::Other,
    };
    (filling, instruction.len())
}

/// Whether `lea` computes the value that its register has: `lea 0(%rsi),%rsi`.
fn is_unchanged(lea: &Instruction) -> bool {
    lea.op0_register() == lea.memory_base()
        && lea.op0_register().is_gpr64()
        && lea.memory_index() == Register::None
        && lea.memory_displacement64() == 0
}
