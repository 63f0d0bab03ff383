//! Functions that do not keep the registers that functions keep for their callers.
//!
//! LLVM's machine outliner makes a function of instructions that many functions have in common, also of a part of their prologues and
//! epilogues: it stores registers of its caller, sets the frame pointer, or loads registers again (observed with rustc 1.95). It has no
//! frame of its own. Helpers that are written by hand do the same.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use super::conventions::Conventions;
use super::effect::{ControlFlow, Decoder, Effect, RegisterSet};
use super::image::Image;
use super::machine::{Machine, WithDecoder};
use super::state::number;
use sframe_validator::Abi;

/// The number of instructions of such a function that are looked at.
const MOST_INSTRUCTIONS: usize = 64;

/// What is known about each function of a file.
#[derive(Debug)]
pub(super) struct OutlinedFunctions(Vec<AtomicU8>);

const UNKNOWN: u8 = 0;
const KEEPS: u8 = 1;
const OUTLINED: u8 = 2;

impl OutlinedFunctions {
    /// For a number of functions, about which nothing is known yet.
    pub(super) fn for_functions(functions: usize) -> OutlinedFunctions {
        let mut known = Vec::new();
        known.resize_with(functions, || AtomicU8::new(UNKNOWN));
        OutlinedFunctions(known)
    }

    /// Whether `functions()[index]` is a run of instructions without a frame of its own, which writes registers that functions keep.
    pub(super) fn contains(&self, image: &Image<'_>, machine: Machine, index: usize) -> bool {
        let Some(known) = self.0.get(index) else { return false };
        match known.load(Relaxed) {
            UNKNOWN => {
                let is_outlined = machine.decode(Run { image, machine, index });
                known.store(if is_outlined { OUTLINED } else { KEEPS }, Relaxed);
                is_outlined
            }
            known => known == OUTLINED,
        }
    }
}

/// The registers that functions keep for their callers, FP among them, as the bits of an effect's set.
pub(super) fn kept(conventions: &Conventions, abi: Abi) -> u32 {
    let registers = conventions.callee_saved.iter().copied().chain([abi.fp()]);
    let bit = |register| 1_u32.checked_shl(number(register).into()).unwrap_or(0);
    registers.fold(0, |all, register| all | bit(register))
}

/// The instructions of a function.
struct Run<'r, 'e> {
    image: &'r Image<'e>,
    machine: Machine,
    index: usize,
}

impl<'e> WithDecoder<'e> for Run<'_, 'e> {
    type Output = bool;

    fn run(self, decoder: &mut impl Decoder<'e>) -> bool {
        let Run { image, machine, index } = self;
        let (Some(fragment), Some(abi)) = (image.fragment(index), image.elf().abi()) else {
            return false;
        };
        let kept = RegisterSet::of_set(kept(machine.conventions(), abi));
        let sp = RegisterSet::of(number(abi.sp()));
        let (mut effects, mut offset, mut writes) = (Vec::new(), 0_usize, false);
        for _ in 0..MOST_INSTRUCTIONS {
            effects.clear();
            let address = fragment.start.wrapping_add(offset as u64);
            let decoded = decoder.decode(fragment.code, offset, address, &mut effects);
            let Some((length, next)) = decoded else { return false };
            match image.relocate(address, length, next, &mut effects) {
                ControlFlow::Following | ControlFlow::Call(_) => {}
                ControlFlow::Return | ControlFlow::Jump(_) => return writes,
                _ => return false,
            }
            // Loads and stores add to their base registers, many of them zero.
            let is_change =
                |it: &&Effect| !matches!(it, Effect::Copy { to, from, plus: 0 } if to == from);
            let changes = effects.iter().filter(is_change).map(Effect::changes);
            let changes = changes.fold(RegisterSet::default(), RegisterSet::with);
            if changes.meet(sp) {
                return false;
            }
            writes |= changes.meet(kept);
            offset = offset.saturating_add(length.into());
        }
        false
    }
}
