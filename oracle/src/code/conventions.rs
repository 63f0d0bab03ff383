//! The conventions of a machine: what differs between machines beside their instructions.

use sframe_validator::elf::Relocation;

use super::effect::RegisterNumber;
use super::relocation::RelocationTarget;

/// The conventions of a machine, as far as the analysis depends on them and [`Abi`](sframe_validator::Abi) does not
/// have them.
#[derive(Debug)]
pub(super) struct Conventions {
    /// How many registers hold whole numbers or addresses, SP among them: those with the lowest numbers. What
    /// instructions do to others is not followed.
    pub(super) general_registers: RegisterNumber,
    /// The number of bytes below SP that signal handlers leave alone.
    pub(super) red_zone: i64,
    /// The lowest distance from the CFA at which the caller's FP may point to its own frame.
    pub(super) lowest_caller_fp: i32,
    /// The size in bytes of the code at the start of `.plt` to which the stubs jump.
    pub(super) plt_header: u64,
    /// The length of the instruction by which the Linux kernel reports a warning, and continues after it, if it does that.
    pub(super) kernel_warning: Option<u64>,
    /// What a relocation of code refers to.
    pub(super) relocation_target: fn(&Relocation) -> RelocationTarget,
}
