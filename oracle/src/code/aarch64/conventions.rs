//! The conventions of AArch64 (AAPCS64, ELF for the Arm 64-bit Architecture).

use sframe_validator::elf::Relocation;
use sframe_validator::unwind::Register;

use crate::code::conventions::{Conventions, SignalReturn};
use crate::code::effect::Effect;
use crate::code::relocation::RelocationTarget;

pub(in crate::code) static CONVENTIONS: Conventions = Conventions {
    general_registers: 32,
    // X19 to X28, and V8 to V15, of which the lower halves are kept (AAPCS64 6.1.1, 6.1.2).
    callee_saved: &[
        Register(19),
        Register(20),
        Register(21),
        Register(22),
        Register(23),
        Register(24),
        Register(25),
        Register(26),
        Register(27),
        Register(28),
        Register(72),
        Register(73),
        Register(74),
        Register(75),
        Register(76),
        Register(77),
        Register(78),
        Register(79),
    ],
    // There is none (AAPCS64 6.4.5.1).
    red_zone: 0,
    // Go keeps FP 8 bytes below SP (Go internal ABI, arm64 architecture).
    lowest_caller_fp: -8,
    plt_header: 32,
    call_of_next: &[Effect::Clobber(1 << 30)],
    return_instruction: b"\xc0\x03\x5f\xd6",
    signal_return: SignalReturn {
        // mov x8, #139; svc #0, or with w8
        code: &[b"\x68\x11\x80\xd2\x01\0\0\xd4", b"\x68\x11\x80\x52\x01\0\0\xd4"],
        // nop, bti c, bti j, bti jc
        nops: &[b"\x1f\x20\x03\xd5", b"\x5f\x24\x03\xd5", b"\x9f\x24\x03\xd5", b"\xdf\x24\x03\xd5"],
        // `siginfo_t` of 128 bytes, then `struct ucontext`, with `struct sigcontext` after 176 bytes: an address, X0 to X30, SP,
        // PC (arch/arm64/kernel/signal.c, arch/arm64/include/uapi/asm/{ucontext,sigcontext}.h).
        saved_sp: 128 + 176 + 8 + 31 * 8,
        saved_pc: 128 + 176 + 8 + 32 * 8,
        saved_fp: 128 + 176 + 8 + 29 * 8,
    },
    kernel_warning: None,
    shortest_instruction: 4,
    longest_instruction: 4,
    relocation_target,
};

fn relocation_target(relocation: &Relocation) -> RelocationTarget {
    let Some(target) = relocation.target() else { return RelocationTarget::Elsewhere };
    match relocation.kind {
        // R_AARCH64_ADR_PREL_LO21, R_AARCH64_TSTBR14, R_AARCH64_CONDBR19, R_AARCH64_JUMP26, R_AARCH64_CALL26.
        274 | 279 | 280 | 282 | 283 => RelocationTarget::Place(target),
        // R_AARCH64_ADR_PREL_PG_HI21, R_AARCH64_ADR_PREL_PG_HI21_NC.
        275 | 276 => RelocationTarget::Page(target),
        // R_AARCH64_ADD_ABS_LO12_NC, and R_AARCH64_LDST8_ABS_LO12_NC to R_AARCH64_LDST128_ABS_LO12_NC.
        277 | 278 | 284..=286 | 299 => RelocationTarget::InPage(target),
        _ => RelocationTarget::Elsewhere,
    }
}
