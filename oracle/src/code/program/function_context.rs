//! What the analysis of a function may ask of the program, and how many blocks it may execute.

use std::cell::Cell;

use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Abi, Endian};

use super::{EntryEvidence, Program};
use crate::code::budget::LARGEST_FUNCTION;
use crate::code::context::{Exceptions, FileContext, Fragment};
use crate::code::conventions::Conventions;
use crate::code::effect::{ControlFlow, Effect};

/// The context of one analysis.
pub(super) struct FunctionContext<'r, 'e> {
    program: &'r Program<'e>,
    /// The number of blocks that may be executed.
    left: u64,
    /// The number of blocks that were executed; `None` if it would have to be larger.
    spent: Cell<Option<u64>>,
}

impl<'r, 'e> FunctionContext<'r, 'e> {
    /// For an analysis that may execute a number of blocks.
    pub(super) const fn new(program: &'r Program<'e>, left: u64) -> FunctionContext<'r, 'e> {
        FunctionContext { program, left, spent: Cell::new(Some(0)) }
    }

    /// The number of blocks that were executed; `None` if it would have to be larger.
    pub(super) const fn spent(&self) -> Option<u64> {
        self.spent.get()
    }

    fn place(&self, address: u64) -> CodeAddress {
        self.program.image.place(address)
    }
}

impl<'e> FileContext<'e> for FunctionContext<'_, 'e> {
    fn abi(&self) -> Abi {
        self.program.abi
    }

    fn conventions(&self) -> &'static Conventions {
        self.program.machine.conventions()
    }

    fn read(&self, address: u64, size: usize) -> Option<&'e [u8]> {
        // Jump tables are read in the byte order of AMD64 and of nearly all AArch64 systems.
        let is_little = self.program.abi.endian() == Endian::Little;
        self.program.image.bytes_from(address).filter(|_| is_little)?.get(..size)
    }

    fn next_referenced(&self, address: u64) -> u64 {
        self.program.references.next_referenced(&self.program.image, address)
    }

    fn fragment(&self, address: u64) -> Option<Fragment<'e>> {
        let index = self.program.image.find(self.place(address))?;
        self.program
            .image
            .fragment(index)
            .filter(|fragment| fragment.code.len() as u64 <= LARGEST_FUNCTION)
    }

    fn is_presumed_fragment(&self, address: u64) -> bool {
        let index = self.program.image.find(self.place(address));
        index.is_some_and(|index| self.program.evidence(index) == EntryEvidence::None)
    }

    fn exceptions(&self, fragment: &Fragment<'e>) -> Exceptions {
        self.program.image.exceptions(self.place(fragment.start), fragment)
    }

    fn number(&self, address: u64, bytes: &[u8]) -> Option<u64> {
        self.program.image.number(address, bytes)
    }

    #[inline(always)]
    fn relocate(
        &self,
        address: u64,
        length: u8,
        next: ControlFlow,
        effects: &mut [Effect],
    ) -> ControlFlow {
        self.program.image.relocate(address, length, next, effects)
    }

    fn is_kernel(&self) -> bool {
        self.program.image.is_kernel()
    }

    fn has_red_zone(&self) -> bool {
        self.program.elf().has_red_zone()
    }

    fn never_returns(&self, address: u64) -> bool {
        self.program.references.never_returns(&self.program.image, address)
    }

    fn keeps_registers(&self, address: u64) -> bool {
        let Program { image, machine, outlined, .. } = self.program;
        let place = self.place(address);
        let called = image.find(place).filter(|_| image.starts_at(place));
        called.is_none_or(|index| !outlined.contains(image, *machine, index))
    }

    fn spend(&self) -> bool {
        let spent = self.spent.get().filter(|spent| *spent < self.left);
        self.spent.set(spent.map(|blocks| blocks.saturating_add(1)));
        spent.is_some()
    }

    fn is_entered_elsewhere(&self, address: u64) -> bool {
        self.program.is_jump_target(address)
    }
}
