//! The conventions of AMD64 (AMD64 psABI).

use sframe_validator::elf::Relocation;
use sframe_validator::unwind::CodeAddress;

use crate::code::conventions::Conventions;
use crate::code::relocation::{FIELD, RelocationTarget};

pub(in crate::code) static CONVENTIONS: Conventions = Conventions {
    general_registers: 16,
    // psABI 3.2.2.
    red_zone: 128,
    lowest_caller_fp: 0,
    plt_header: 16,
    // `ud2` (arch/x86/include/asm/bug.h).
    kernel_warning: Some(2),
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
