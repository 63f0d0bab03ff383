//! The machines whose code is examined: their decoders, and what differs between them beside their instructions.
//!
//! A machine is a folder with its decoder, the semantics of its instructions (`semantics.rs`) and its conventions
//! (`conventions.rs`). It has a variant of [`Instructions`] and an arm of [`Machine::of`] here, and nothing elsewhere.

use sframe_validator::Abi;
use sframe_validator::elf::Relocation;

use super::aarch64::{self, Aarch64};
use super::amd64::{self, Amd64};
use super::effect::{Decoder, RegisterNumber};
use super::relocation::RelocationTarget;

/// The size of the longest instruction of any machine in bytes (AMD64).
pub(super) const LONGEST_INSTRUCTION: u8 = 15;

/// The conventions of a machine, as far as the analysis depends on them and [`Abi`] does not have them.
#[derive(Debug)]
pub(super) struct Machine {
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
    pub(super) instructions: Instructions,
}

/// The machines whose instructions can be decoded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instructions {
    Amd64,
    Aarch64,
}

/// Something that needs a decoder. It is compiled for each machine, because calls of a decoder are too frequent to be
/// dispatched one by one.
pub(super) trait WithDecoder<'c> {
    type Output;

    fn run(self, decoder: &mut impl Decoder<'c>) -> Self::Output;
}

impl Machine {
    /// `None` if code for this ABI is not examined.
    pub(super) const fn of(abi: Abi) -> Option<&'static Machine> {
        match abi {
            Abi::Amd64 => Some(&amd64::MACHINE),
            Abi::Aarch64Little | Abi::Aarch64Big => Some(&aarch64::MACHINE),
            _ => None,
        }
    }

    /// Passes a decoder to `task`.
    pub(super) fn decode<'c, T: WithDecoder<'c>>(&self, task: T) -> T::Output {
        match self.instructions {
            Instructions::Amd64 => task.run(&mut Amd64::new()),
            Instructions::Aarch64 => task.run(&mut Aarch64::default()),
        }
    }
}
