//! The proofs of a file's findings that the machine code decides.

use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::{Function, Program};
use sframe_oracle::compare::{Reason, Ruling, function_as_described, wrong_rules};
use sframe_record::{LeftOut, Text, Why};
use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{CodeAddress, Register};

use super::names::Names;
use super::why::{clause_about_registers, clause_against, why};

/// The maximum number of findings of a file that have a proof, and of those about registers.
const MOST_WAYS: usize = 100;
/// The number of instructions at the start and at the end of a longer way that are kept.
const KEPT: usize = 50;
/// The maximum number of registers of a proof.
const MOST_REGISTERS: usize = 8;

/// Finds the proofs of findings. The code is divided into functions when the first one is wanted.
pub struct Ways<'w, 'n> {
    elf: &'w Elf<'w>,
    sections: &'w [Section<'w>],
    cfi: &'w [Cfi<'w>],
    names: &'n Names<'n, 'n>,
    code: Option<Option<Program<'w>>>,
    /// The function examined last: findings come in the order of addresses.
    last: Option<Function<'w>>,
    /// The number of proofs that may still be found.
    left: usize,
}

impl<'w, 'n> Ways<'w, 'n> {
    /// The proofs in a file with these sections and CFI.
    #[must_use]
    pub const fn new(
        elf: &'w Elf<'w>,
        sections: &'w [Section<'w>],
        cfi: &'w [Cfi<'w>],
        names: &'n Names<'n, 'n>,
    ) -> Ways<'w, 'n> {
        Ways { elf, sections, cfi, names, code: None, last: None, left: MOST_WAYS }
    }

    /// The proof of a ruling about code in the section of `start`. `None` if nothing is proven, or no way is known.
    pub fn of_ruling(&mut self, start: CodeAddress, ruling: Ruling) -> Option<Why<'static>> {
        let Reason::Proof { address, .. } = ruling.reason else { return None };
        let place = CodeAddress { address, ..start };
        self.find(place, clause_against(ruling.wrong), |_| Vec::new())
    }

    /// The proof that rules of CFI for callee-saved registers are wrong at `place`.
    pub fn of_registers(&mut self, place: CodeAddress) -> Option<Why<'static>> {
        let (elf, cfi) = (self.elf, self.cfi);
        self.find(place, Some(clause_about_registers()), |function| {
            let found = wrong_rules(function, elf, cfi);
            let rules = found.iter().flat_map(|found| &found.rules);
            let here = rules.filter(|rule| (rule.start..rule.end).contains(&place.address));
            let mut registers: Vec<Register> = here.map(|rule| rule.register).collect();
            registers.sort_unstable();
            registers.dedup();
            registers.truncate(MOST_REGISTERS);
            registers
        })
    }

    fn find(
        &mut self,
        place: CodeAddress,
        clause: Option<Text<'static>>,
        registers: impl FnOnce(&mut Function<'w>) -> Vec<Register>,
    ) -> Option<Why<'static>> {
        self.left = self.left.checked_sub(1)?;
        let Ways { elf, sections, cfi, names, .. } = *self;
        let abi = elf.abi()?;
        let code =
            self.code.get_or_insert_with(|| Program::for_few(elf, sections, cfi)).as_ref()?;
        if !self.last.as_ref().is_some_and(|function| function.contains(place)) {
            self.last = function_as_described(code, elf, sections, cfi, place);
        }
        let function = self.last.as_mut()?;
        let registers = registers(function);
        let found = why(elf, abi, names, (code, function), (place.address, &registers));
        (!found.way.is_empty()).then(|| without_middle(Why { clause, ..found }))
    }
}

/// A proof without the middle of a long way.
fn without_middle(mut why: Why<'static>) -> Why<'static> {
    if let Some(instructions) = why.way.len().checked_sub(2 * KEPT).filter(|count| *count > 0) {
        why.way.drain(KEPT..KEPT.saturating_add(instructions));
        why.left_out = Some(LeftOut { after: KEPT, instructions });
    }
    why
}
