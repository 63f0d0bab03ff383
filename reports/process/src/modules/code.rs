//! What the machine code says, by address.

use std::collections::VecDeque;

use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::{Code, Function};
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{CodeAddress, Row};

use crate::statement::{FurtherRules, Silence, Statement};

/// The number of functions that are kept. Examining one takes a millisecond, and walks and traces come back to most.
const KEPT: usize = 32;

/// The machine code of a file, and the functions looked up last.
pub(super) struct CodeSource<'s> {
    /// `None` if code of this machine is not examined.
    code: Option<Code<'s>>,
    /// The functions, the one looked up last first.
    functions: VecDeque<Function<'s>>,
}

impl<'s> CodeSource<'s> {
    /// CFI says where functions are.
    pub(super) fn new(elf: &Elf<'s>, cfi: Vec<Cfi<'s>>) -> CodeSource<'s> {
        CodeSource { code: Code::owning(elf.clone(), &[], cfi), functions: VecDeque::new() }
    }

    /// The statement about an address of the file: a row for the instruction there, if the code determines all of its
    /// frame.
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
                let Some(function) = code.function(place) else {
                    return Statement::nothing(Silence::NoFunction);
                };
                self.functions.truncate(KEPT - 1);
                self.functions.push_front(function);
            }
        }
        let Some(function) = self.functions.front_mut() else {
            return Statement::nothing(Silence::NoFunction);
        };
        let range = function.range();
        let frame = function.at(address, |facts| facts.known().frame()).flatten();
        let row = frame.map(|frame| Row { start: address, end: address.saturating_add(1), frame });
        let function = Some((range.start.address, range.end));
        let row = row.ok_or(Silence::NoRow);
        Statement { function, row, signal: false, further: FurtherRules::NONE }
    }
}
