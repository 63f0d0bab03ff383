//! What an AMD64 instruction does to the stack of calls, as far as it can be seen in its bytes.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

/// The size of the longest instruction.
pub(crate) const LONGEST: usize = 15;
/// In the number of a kind, the bit that marks a call; the other bits are the instruction's length.
const CALL: u8 = 0x10;

/// The kind of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Anything else: it changes SP by an amount, or not at all.
    Plain,
    /// It loads SP from another register or from memory.
    LoadsSp,
    /// A call, which pushes the address of the next instruction.
    Call {
        /// The length in bytes.
        length: u8,
    },
    /// A return.
    Return,
    /// A jump to an address in the instruction.
    Jump,
    /// A jump to an address in a register or in memory.
    IndirectJump,
    /// A system call.
    Syscall,
    /// A string instruction that is repeated, each time as a step of its own.
    Repeated,
    /// It raises SIGTRAP itself.
    Trap,
    /// Its bytes cannot be read or decoded, or it is a far call, jump or return.
    Unknown,
}

impl Kind {
    /// The kind of the instruction at `pc`, whose bytes `code` starts with. More bytes, if there are any, are those of
    /// the next instruction.
    pub(crate) fn decode(code: &[u8], pc: u64) -> Kind {
        let mut decoder = Decoder::with_ip(64, code, pc, DecoderOptions::NONE);
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return Kind::Unknown;
        }
        let is_near = instruction.op0_kind() == OpKind::NearBranch64;
        let is_far = matches!(instruction.op0_kind(), OpKind::FarBranch16 | OpKind::FarBranch32);
        match instruction.mnemonic() {
            _ if is_far => Kind::Unknown,
            Mnemonic::Call if is_far_indirect(&instruction) => Kind::Unknown,
            Mnemonic::Jmp if is_far_indirect(&instruction) => Kind::Unknown,
            Mnemonic::Call if is_near && gets_pc(&instruction, &mut decoder) => Kind::Plain,
            Mnemonic::Call => match u8::try_from(instruction.len()) {
                Ok(length) => Kind::Call { length },
                Err(_) => Kind::Unknown,
            },
            Mnemonic::Ret => Kind::Return,
            Mnemonic::Jmp if !is_near => Kind::IndirectJump,
            _ if is_near => Kind::Jump,
            Mnemonic::Syscall => Kind::Syscall,
            Mnemonic::Int3 | Mnemonic::Int1 | Mnemonic::Int => Kind::Trap,
            Mnemonic::Retf | Mnemonic::Iret | Mnemonic::Iretd | Mnemonic::Iretq => Kind::Unknown,
            _ if loads_sp(&instruction) => Kind::LoadsSp,
            _ if instruction.has_rep_prefix() || instruction.has_repne_prefix() => Kind::Repeated,
            _ => Kind::Plain,
        }
    }

    /// A number from 1 to 31 for the kind.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Kind::Plain => 1,
            Kind::LoadsSp => 2,
            Kind::Return => 3,
            Kind::Jump => 4,
            Kind::IndirectJump => 5,
            Kind::Syscall => 6,
            Kind::Repeated => 7,
            Kind::Trap => 8,
            Kind::Unknown => 9,
            Kind::Call { length } => CALL | length,
        }
    }

    /// The kind with this number.
    #[inline]
    pub(crate) const fn of_number(number: u8) -> Kind {
        match number {
            1 => Kind::Plain,
            2 => Kind::LoadsSp,
            3 => Kind::Return,
            4 => Kind::Jump,
            5 => Kind::IndirectJump,
            6 => Kind::Syscall,
            7 => Kind::Repeated,
            8 => Kind::Trap,
            _ if number & CALL != 0 => Kind::Call { length: number & !CALL },
            _ => Kind::Unknown,
        }
    }
}

/// Whether an indirect call or jump is a far one: its operand in memory has a selector, too.
fn is_far_indirect(instruction: &Instruction) -> bool {
    use iced_x86::MemorySize;
    matches!(
        instruction.memory_size(),
        MemorySize::SegPtr16 | MemorySize::SegPtr32 | MemorySize::SegPtr64
    )
}

/// Whether a call only pushes its own address: it calls the next instruction, which takes the address from the stack.
fn gets_pc(call: &Instruction, decoder: &mut Decoder<'_>) -> bool {
    call.near_branch_target() == call.next_ip() && decoder.decode().mnemonic() == Mnemonic::Pop
}

/// Whether SP is loaded from elsewhere, and not changed by an amount.
fn loads_sp(instruction: &Instruction) -> bool {
    let is_sp = |operand| {
        operand < instruction.op_count()
            && instruction.op_kind(operand) == OpKind::Register
            && matches!(
                instruction.op_register(operand),
                Register::RSP | Register::ESP | Register::SP
            )
    };
    match instruction.mnemonic() {
        Mnemonic::Leave => true,
        Mnemonic::Xchg | Mnemonic::Xadd => is_sp(0) || is_sp(1),
        Mnemonic::Lea => {
            let stays = instruction.memory_base() == Register::RSP
                && instruction.memory_index() == Register::None;
            is_sp(0) && !stays
        }
        Mnemonic::Add
        | Mnemonic::Sub
        | Mnemonic::And
        | Mnemonic::Or
        | Mnemonic::Inc
        | Mnemonic::Dec
        | Mnemonic::Push
        | Mnemonic::Cmp
        | Mnemonic::Test
        | Mnemonic::Bt => false,
        _ => is_sp(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes are those that GNU as writes for the instruction in the comment.
    #[test]
    fn instructions_have_their_kinds() {
        let call = |length| Kind::Call { length };
        let cases: [(&[u8], Kind); 29] = [
            (&[0x55], Kind::Plain),                                // push %rbp
            (&[0x48, 0x83, 0xec, 0x20], Kind::Plain),              // sub $32, %rsp
            (&[0x48, 0x8d, 0x64, 0x24, 0x08], Kind::Plain),        // lea 8(%rsp), %rsp
            (&[0x48, 0x89, 0xe5], Kind::Plain),                    // mov %rsp, %rbp
            (&[0x48, 0x39, 0xc4], Kind::Plain),                    // cmp %rax, %rsp
            (&[0xc9], Kind::LoadsSp),                              // leave
            (&[0x48, 0x89, 0xc4], Kind::LoadsSp),                  // mov %rax, %rsp
            (&[0x48, 0x8b, 0x66, 0x10], Kind::LoadsSp),            // mov 16(%rsi), %rsp
            (&[0x48, 0x8d, 0x65, 0xf0], Kind::LoadsSp),            // lea -16(%rbp), %rsp
            (&[0x48, 0x94], Kind::LoadsSp),                        // xchg %rax, %rsp
            (&[0x5c], Kind::LoadsSp),                              // pop %rsp
            (&[0xe8, 0, 1, 0, 0], call(5)),                        // call .+0x105
            (&[0xe8, 0, 0, 0, 0, 0x58], Kind::Plain),              // call 1f; 1: pop %rax
            (&[0xe8, 0, 0, 0, 0, 0x55], call(5)),                  // call 1f; 1: push %rbp
            (&[0xff, 0xd0], call(2)),                              // call *%rax
            (&[0xff, 0x15, 0, 1, 0, 0], call(6)),                  // call *256(%rip)
            (&[0x48, 0xff, 0x18], Kind::Unknown),                  // rex.W lcall *(%rax)
            (&[0xc3], Kind::Return),                               // ret
            (&[0xf3, 0xc3], Kind::Return),                         // repz ret
            (&[0xc2, 8, 0], Kind::Return),                         // ret $8
            (&[0x48, 0xcf], Kind::Unknown),                        // iretq
            (&[0xeb, 0x10], Kind::Jump),                           // jmp .+0x12
            (&[0x74, 0x10], Kind::Jump),                           // je .+0x12
            (&[0xff, 0xe1], Kind::IndirectJump),                   // jmp *%rcx
            (&[0xf2, 0xff, 0x25, 0, 1, 0, 0], Kind::IndirectJump), // bnd jmp *256(%rip)
            (&[0x0f, 0x05], Kind::Syscall),                        // syscall
            (&[0xf3, 0x48, 0xab], Kind::Repeated),                 // rep stos %rax, (%rdi)
            (&[0xcc], Kind::Trap),                                 // int3
            (&[0x06], Kind::Unknown),                              // not an instruction
        ];
        for (code, kind) in cases {
            assert_eq!(Kind::decode(code, 0x1000), kind, "{code:x?}");
            assert_eq!(Kind::of_number(kind.number()), kind);
        }
    }
}
