//! Frames that the kernel made to call a signal's handler.
//!
//! The handler returns to a few instructions that make the system call `rt_sigreturn`. CFI marks them as a signal frame,
//! SFrame does so from version 3 on; some C libraries and kernels describe them wrongly or not at all. Then they are
//! recognised by their instructions, as gdb and libgcc do, and the interrupted registers are read from the kernel's
//! frame.

use sframe_validator::Abi;
use sframe_validator::unwind::Register;

use super::memory::Memory;
use super::registers::{Cursor, Registers};

/// `mov $15, %rax; syscall`: `rt_sigreturn` is system call 15 (Linux, arch/x86/entry/syscalls/syscall_64.tbl).
const AMD64: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
/// `mov x8, #139; svc #0`: `rt_sigreturn` is system call 139 (Linux, include/uapi/asm-generic/unistd.h).
const AARCH64: [u8; 8] = [0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4];

/// On AMD64, SP points to `struct ucontext` when the handler has returned: the fields `uc_flags`, `uc_link` and
/// `uc_stack` have 40 bytes, then `struct sigcontext_64` has these registers, 8 bytes each (Linux,
/// arch/x86/include/uapi/asm/sigcontext.h and arch/x86/include/asm/sigframe.h), here by their DWARF numbers.
const AMD64_REGISTERS: (u64, [u32; 16]) =
    (40, [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7]);
/// On AArch64, SP points to `struct rt_sigframe`: `siginfo` has 128 bytes, `uc_flags` to `uc_sigmask` with its padding 176,
/// and `fault_address` 8. Then come x0 to x30, SP and PC (Linux, arch/arm64/include/uapi/asm/{sigcontext,ucontext}.h).
const AARCH64_REGISTERS: u64 = 128 + 176 + 8;

/// The interrupted frame, if the instructions at the PC are those to which the kernel lets handlers return.
pub(super) fn interrupted(abi: Abi, cursor: &Cursor, memory: &impl Memory) -> Option<Cursor> {
    let sp = cursor.sp(abi)?;
    match abi {
        Abi::Amd64 => {
            has_code(memory, cursor.pc, &AMD64)?;
            amd64_context(memory, sp)
        }
        Abi::Aarch64Little => {
            has_code(memory, cursor.pc, &AARCH64)?;
            let first = sp.checked_add(AARCH64_REGISTERS)?;
            let mut registers = Registers::default();
            for number in 0..32_u32 {
                let value = word(abi, memory, first, number.into())?;
                registers.set(Register(number), Some(value));
            }
            Some(Cursor { pc: word(abi, memory, first, 32)?, exact: true, registers })
        }
        // Not observed on these machines.
        Abi::Aarch64Big | Abi::S390x => None,
    }
}

/// The frame whose registers are in the `struct ucontext` at an address.
pub(crate) fn amd64_context(memory: &impl Memory, address: u64) -> Option<Cursor> {
    let (offset, order) = AMD64_REGISTERS;
    let first = address.checked_add(offset)?;
    let mut registers = Registers::default();
    for (number, name) in (0_u64..).zip(order) {
        registers.set(Register(name), Some(word(Abi::Amd64, memory, first, number)?));
    }
    Some(Cursor { pc: word(Abi::Amd64, memory, first, 16)?, exact: true, registers })
}

fn has_code<const N: usize>(memory: &impl Memory, pc: u64, code: &[u8; N]) -> Option<()> {
    let mut found = [0; N];
    (memory.read(pc, &mut found) && found == *code).then_some(())
}

fn word(abi: Abi, memory: &impl Memory, first: u64, number: u64) -> Option<u64> {
    memory.word(abi, first.checked_add(number * 8)?)
}
