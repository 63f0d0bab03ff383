//! What the machine code says, by address.

use std::collections::VecDeque;

use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::{Function, KnownFacts, Program, ProvenRow, Truth, Workspace};
use sframe_validator::Abi;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery, Register, Row};

use super::stubs;
use crate::statement::{FurtherRules, Silence, Statement};

/// The number of functions that are kept. Examining one takes a millisecond, and walks and traces come back to most.
const KEPT: usize = 32;
/// The size of an AArch64 instruction.
const INSTRUCTION: u64 = 4;
/// The number of the register into which AArch64 calls put the return address. Those before it are general ones.
const LINK_REGISTER: u32 = 30;
/// The size of the stack that is searched for the return address, from either end of a frame.
const SEARCHED: i64 = 4096;

/// The machine code of a file, and the functions looked up last.
pub(super) struct CodeSource<'s> {
    elf: Elf<'s>,
    /// `None` if code of this machine is not examined.
    code: Option<Program<'s>>,
    workspace: Workspace<'s>,
    /// The functions, the one looked up last first.
    functions: VecDeque<Function<'s>>,
    /// Whether calls put the return address into a register.
    return_in_register: bool,
}

impl<'s> CodeSource<'s> {
    /// CFI says where functions are.
    pub(super) fn new(elf: &Elf<'s>, cfi: Vec<Cfi<'s>>) -> CodeSource<'s> {
        let return_in_register = elf.abi().is_some_and(Abi::is_aarch64);
        let code = Program::owning(elf.clone(), &[], cfi);
        let (workspace, functions) = Default::default();
        CodeSource { elf: elf.clone(), code, workspace, functions, return_in_register }
    }

    /// The statement about an address of the file: a row for the instruction there, if the code determines all of its
    /// frame.
    ///
    /// An address inside an instruction is in a call, which a walk looks up for a return address.
    pub(super) fn at(&mut self, address: u64) -> Statement {
        let Some(code) = &self.code else { return Statement::nothing(Silence::NoSection) };
        let place = CodeAddress::absolute(address);
        match self.functions.iter().position(|function| function.contains(place)) {
            Some(0) => {}
            Some(kept) => {
                let function = self.functions.remove(kept);
                function.into_iter().for_each(|function| self.functions.push_front(function));
            }
            None => {
                let Some(function) = code.function_in(place, &mut self.workspace) else {
                    let row = stubs::row(&self.elf, address);
                    return Statement {
                        row: row.ok_or(Silence::NoFunction),
                        ..Statement::nothing(Silence::NoFunction)
                    };
                };
                let dropped = self.functions.drain((KEPT - 1).min(self.functions.len())..);
                dropped.for_each(|function| self.workspace.recycle(function));
                self.functions.push_front(function);
            }
        }
        let Some(function) = self.functions.front_mut() else {
            return Statement::nothing(Silence::NoFunction);
        };
        let range = function.range();
        let in_call = self.return_in_register && !address.is_multiple_of(INSTRUCTION);
        let in_register = self.return_in_register;
        let frame = function.at(address, |facts| match facts.proven_row() {
            // The call has put another address into the register.
            known if in_call && known.ra == Some(Recovery::Unchanged) => {
                let frame = known.frame()?;
                Some(on_stack(&facts, frame).or_else(|| elsewhere(&facts, frame)).unwrap_or(frame))
            }
            ProvenRow { cfa: Some(cfa), ra: None, fp: Some(fp), .. } if in_register => {
                elsewhere(&facts, Frame { cfa, ra: Recovery::Undefined, fp, ra_signed: false })
            }
            known => known.frame(),
        });
        let frame = frame.flatten();
        let row = frame.map(|frame| Row { start: address, end: address.saturating_add(1), frame });
        let function = Some((range.start.address, range.end));
        let row = row.ok_or(Silence::NotDetermined);
        Statement { function, row, signal: false, further: FurtherRules::NONE }
    }
}

/// `frame` with RA recovered from the stack; `None` if the code has not saved it there.
fn on_stack(facts: &KnownFacts<'_>, frame: Frame) -> Option<Frame> {
    // The frame's lowest known place.
    let bottom = match frame.cfa {
        Cfa::RegisterOffset { offset, .. } => offset.checked_neg()?,
        _ => return None,
    };
    let from_bottom = (0..SEARCHED).step_by(8).filter_map(|above| bottom.checked_add(above));
    let from_top = (1..=SEARCHED / 8).map(|below| -8 * below);
    let places = from_bottom.chain(from_top);
    let mut frames = places.map(|offset| Frame { ra: Recovery::AtCfa(offset), ..frame });
    frames.find(|frame| facts.judge(frame).ra == Truth::Proven)
}

/// `frame` with RA recovered from a register other than its own, where outlined functions save it.
fn elsewhere(facts: &KnownFacts<'_>, frame: Frame) -> Option<Frame> {
    let registers = (0..LINK_REGISTER).map(Register);
    let rules = registers.map(|register| Recovery::RegisterOffset { register, offset: 0 });
    let mut frames = rules.map(|ra| Frame { ra, ..frame });
    frames.find(|frame| facts.judge(frame).ra == Truth::Proven)
}
