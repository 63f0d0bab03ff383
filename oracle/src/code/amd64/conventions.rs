//! The conventions of AMD64 (AMD64 psABI).

use sframe_validator::elf::Relocation;
use sframe_validator::unwind::{CodeAddress, Register};

use crate::code::conventions::{Conventions, SignalReturn};
use crate::code::effect::{Effect, NO_REGISTER};
use crate::code::machine::LONGEST_INSTRUCTION;
use crate::code::relocation::{FIELD, RelocationTarget};

pub(in crate::code) static CONVENTIONS: Conventions = Conventions {
    general_registers: 16,
    // RBX, R12 to R15 (psABI 3.2.1).
    callee_saved: &[Register(3), Register(12), Register(13), Register(14), Register(15)],
    // psABI 3.2.2.
    red_zone: 128,
    lowest_caller_fp: 0,
    plt_header: 16,
    call_of_next: &[
        Effect::Copy { to: 7, from: 7, plus: -8 },
        Effect::Store { from: NO_REGISTER, base: 7, offset: 0, size: 8 },
    ],
    return_instruction: b"\xc3",
    signal_return: SignalReturn {
        code: &[
            // mov $15,%eax; syscall
            b"\xb8\x0f\0\0\0\x0f\x05",
            // mov $15,%rax; syscall
            b"\x48\xc7\xc0\x0f\0\0\0\x0f\x05",
            // 32-bit code: pop %eax; mov $119,%eax; int $0x80 (sigreturn)
            b"\x58\xb8\x77\0\0\0\xcd\x80",
            // 32-bit code: mov $173,%eax; int $0x80 (rt_sigreturn)
            b"\xb8\xad\0\0\0\xcd\x80",
        ],
        // nop, endbr64
        nops: &[b"\x90", b"\xf3\x0f\x1e\xfa"],
        // `struct ucontext`: a field of 8 bytes, a pointer, `stack_t` of 24 bytes, then the registers, of which RBP is the 11th,
        // RSP the 16th, RIP the 17th (arch/x86/include/uapi/asm/sigcontext.h).
        saved_sp: 40 + 15 * 8,
        saved_pc: 40 + 16 * 8,
        saved_fp: 40 + 10 * 8,
    },
    // `ud2` (arch/x86/include/asm/bug.h).
    kernel_warning: Some(2),
    shortest_instruction: 1,
    longest_instruction: LONGEST_INSTRUCTION,
    relocation_target,
};

fn relocation_target(relocation: &Relocation) -> RelocationTarget {
    let Some(target) = relocation.target() else { return RelocationTarget::Elsewhere };
    match relocation.kind {
        // R_X86_64_PC32 and R_X86_64_PLT32, of a field at the end of its instruction, where the processor counts from.
        2 | 4 => RelocationTarget::Place(CodeAddress {
            address: target.address.wrapping_add(FIELD),
            ..target
        }),
        // R_X86_64_64, R_X86_64_32, R_X86_64_32S.
        1 | 10 | 11 => RelocationTarget::Address(target),
        _ => RelocationTarget::Elsewhere,
    }
}
