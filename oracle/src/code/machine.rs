//! The machines whose code is examined.
//!
//! A machine is a folder with its decoder, the semantics of its instructions (`semantics.rs`) and its conventions
//! (`conventions.rs`). It has a variant of [`Machine`], with an arm in each function here, and nothing elsewhere.

use core::ops::Range;

use sframe_validator::Abi;

use super::aarch64::{self, Aarch64};
use super::amd64::{self, Amd64};
use super::conventions::Conventions;
use super::effect::Decoder;
use super::padding::Paddings;

/// The size of the longest instruction of any machine in bytes (AMD64).
pub(super) const LONGEST_INSTRUCTION: u8 = 15;

/// A machine whose code is examined.
#[derive(Clone, Copy, Debug)]
pub(super) enum Machine {
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
    pub(super) const fn of(abi: Abi) -> Option<Machine> {
        match abi {
            Abi::Amd64 => Some(Machine::Amd64),
            Abi::Aarch64Little | Abi::Aarch64Big => Some(Machine::Aarch64),
            _ => None,
        }
    }

    pub(super) const fn conventions(self) -> &'static Conventions {
        match self {
            Machine::Amd64 => &amd64::CONVENTIONS,
            Machine::Aarch64 => &aarch64::CONVENTIONS,
        }
    }

    /// Whether the code at `address` may contain an instruction that refers to an address in a range: always if one does.
    pub(super) fn may_refer(self, code: &[u8], address: u64, targets: &Range<u64>) -> bool {
        match self {
            Machine::Amd64 => amd64::may_refer(code, address, targets),
            Machine::Aarch64 => aarch64::may_refer(code, address, targets),
        }
    }

    /// Adds the instructions of code to the search for padding.
    pub(super) fn search_padding(self, code: &[u8], paddings: &mut Paddings) {
        match self {
            Machine::Amd64 => amd64::search_padding(code, paddings),
            Machine::Aarch64 => aarch64::search_padding(code, paddings),
        }
    }

    /// Passes a decoder to `task`.
    pub(super) fn decode<'c, T: WithDecoder<'c>>(self, task: T) -> T::Output {
        match self {
            Machine::Amd64 => task.run(&mut Amd64::new()),
            Machine::Aarch64 => task.run(&mut Aarch64::default()),
        }
    }
}
