//! The instructions with which gaps in code are filled.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, Register};

use crate::code::padding::{Filling, Paddings};

/// Adds the instructions of code to the search for padding.
pub(in crate::code) fn search_padding(code: &[u8], paddings: &mut Paddings) {
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    while decoder.can_decode() {
        let start = decoder.position();
        // Zeros decode as `add %al,(%rax)`, which no compiler writes.
        if code.get(start..).is_some_and(|rest| rest.starts_with(&[0, 0]))
            && decoder.set_position(start.saturating_add(2)).is_ok()
        {
            paddings.add(Filling::Filler, 2);
            continue;
        }
        decoder.decode_out(&mut instruction);
        paddings.add(filling(&instruction), instruction.len());
    }
}

fn filling(instruction: &Instruction) -> Filling {
    match (instruction.mnemonic(), instruction.flow_control()) {
        (Mnemonic::Nop | Mnemonic::Int3 | Mnemonic::Ud2, _) => Filling::Filler,
        (Mnemonic::Lea, _) if is_unchanged(instruction) => Filling::Filler,
        (
            _,
            FlowControl::Return | FlowControl::UnconditionalBranch | FlowControl::IndirectBranch,
        ) => Filling::End,
        _ => Filling::Other,
    }
}

/// Whether `lea` computes the value that its register has: `lea 0(%rsi),%rsi`.
fn is_unchanged(lea: &Instruction) -> bool {
    lea.op0_register() == lea.memory_base()
        && lea.op0_register().is_gpr64()
        && lea.memory_index() == Register::None
        && lea.memory_displacement64() == 0
}
