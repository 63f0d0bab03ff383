//! The decoder of a machine's instructions.

use sframe_validator::Abi;

use super::aarch64::Aarch64;
use super::amd64::Amd64;
use super::effect::{ControlFlow, Decoder, Effect, Preview};

/// A decoder for one of the machines whose code is examined.
pub(super) enum Machine<'c> {
    Amd64(Box<Amd64<'c>>),
    Aarch64(Aarch64),
}

impl<'c> Machine<'c> {
    /// The decoder for a machine; `None` if its code is not examined.
    pub(super) fn of(abi: Abi) -> Option<Machine<'c>> {
        match abi {
            Abi::Amd64 => Some(Machine::Amd64(Box::new(Amd64::new()))),
            Abi::Aarch64Little | Abi::Aarch64Big => Some(Machine::Aarch64(Aarch64::default())),
            _ => None,
        }
    }
}

impl<'c> Decoder<'c> for Machine<'c> {
    fn decode(
        &mut self,
        code: &'c [u8],
        offset: usize,
        address: u64,
        effects: &mut Vec<Effect>,
    ) -> Option<(u8, ControlFlow)> {
        match self {
            Machine::Amd64(amd64) => amd64.decode(code, offset, address, effects),
            Machine::Aarch64(aarch64) => aarch64.decode(code, offset, address, effects),
        }
    }

    fn preview(&mut self, code: &'c [u8], offset: usize, address: u64) -> Option<Preview> {
        match self {
            Machine::Amd64(amd64) => amd64.preview(code, offset, address),
            Machine::Aarch64(aarch64) => aarch64.preview(code, offset, address),
        }
    }
}
