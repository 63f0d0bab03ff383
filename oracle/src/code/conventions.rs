//! The conventions of a machine: what differs between machines beside their instructions.

use sframe_validator::elf::Relocation;
use sframe_validator::unwind::Register;

use super::effect::{Effect, RegisterNumber};
use super::relocation::RelocationTarget;

/// The code to which signal handlers return, which asks the Linux kernel to continue where the signal came, and the context
/// that the kernel saved there. It is never called.
#[derive(Debug)]
pub(super) struct SignalReturn {
    /// Its instructions, one of these.
    pub(super) code: &'static [&'static [u8]],
    /// What may precede them.
    pub(super) nops: &'static [&'static [u8]],
    /// The distances in bytes from SP to where SP, PC and FP were saved.
    pub(super) saved_sp: i32,
    pub(super) saved_pc: i32,
    pub(super) saved_fp: i32,
}

impl SignalReturn {
    /// Whether it is at the start of `code`.
    pub(super) fn is_at_start(&self, mut code: &[u8]) -> bool {
        while let Some(rest) = self.nops.iter().find_map(|nop| code.strip_prefix(*nop)) {
            code = rest;
        }
        self.code.iter().any(|expected| code.starts_with(expected))
    }
}

/// The conventions of a machine, as far as the analysis depends on them and [`Abi`](sframe_validator::Abi) does not
/// have them.
#[derive(Debug)]
pub(super) struct Conventions {
    /// How many registers hold whole numbers or addresses, SP among them: those with the lowest numbers. What
    /// instructions do to others is not followed.
    pub(super) general_registers: RegisterNumber,
    /// The registers that a function keeps for its caller, apart from SP, FP and RA.
    pub(super) callee_saved: &'static [Register],
    /// The number of bytes below SP that signal handlers leave alone.
    pub(super) red_zone: i64,
    /// The lowest distance from the CFA at which the caller's FP may point to its own frame.
    pub(super) lowest_caller_fp: i32,
    /// The size in bytes of the code at the start of `.plt` to which the stubs jump.
    pub(super) plt_header: u64,
    /// The effects of a call of the instruction after it: it saves the address of that instruction, and nothing returns.
    pub(super) call_of_next: &'static [Effect],
    /// The instruction by which functions return, as an assembler writes it.
    pub(super) return_instruction: &'static [u8],
    /// How a signal handler returns to the kernel.
    pub(super) signal_return: SignalReturn,
    /// The length of the instruction by which the Linux kernel reports a warning, and continues after it, if it does that.
    pub(super) kernel_warning: Option<u64>,
    /// The number of bytes that an instruction has at least, if it cannot be decoded.
    pub(super) shortest_instruction: u8,
    /// The number of bytes that it has at most: fewer at the end of a function may be a part of an instruction.
    pub(super) longest_instruction: u8,
    /// What a relocation of code refers to.
    pub(super) relocation_target: fn(&Relocation) -> RelocationTarget,
}
