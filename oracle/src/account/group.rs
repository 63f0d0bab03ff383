//! Groups of differences that have one origin.

use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{CodeAddress, Frame};

use super::pattern::Pattern;
use crate::cfi::Cfi;
use crate::compare::{Arbiter, Fields, RuledRange, Wrong};

/// The maximum number of ranges of a file that the code is asked about: a file in which every function differs must not take
/// much longer than others.
const MOST_RULINGS: u32 = 1 << 14;

/// What differences have in common that are reported as one: whoever reads about the first one has to know about the others
/// as well. A linker's stubs and a compiler's code have different origins, and so have the mistakes of different witnesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Group {
    /// The name of the broken rule.
    pub(super) rule: &'static str,
    pub(super) pattern: Pattern,
    /// The number of the ELF section that contains the code.
    pub(super) section: Option<u32>,
    /// Who is wrong; `None` if the code was not asked.
    pub(super) wrong: Option<Wrong>,
}

/// What decides to which group a difference belongs.
pub(super) struct Judge<'e> {
    elf: &'e Elf<'e>,
    arbiter: Arbiter<'e>,
    /// The number of ranges that the code may still be asked about.
    left: u32,
}

impl<'e> Judge<'e> {
    /// For differences in a file between `sections` and `cfi`.
    pub(super) const fn new(
        elf: &'e Elf<'e>,
        sections: &'e [Section<'e>],
        cfi: &'e [Cfi<'e>],
    ) -> Judge<'e> {
        Judge { elf, arbiter: Arbiter::new(elf, sections, cfi), left: MOST_RULINGS }
    }

    /// The number of the section that contains a place.
    pub(super) fn section(&self, place: CodeAddress) -> Option<u32> {
        self.elf.code_section_at(place).map(|section| section.index)
    }

    /// What the code says about a difference: rulings about its parts, or nothing if it was asked too often.
    pub(super) fn rule(
        &mut self,
        range: (CodeAddress, u64),
        fields: Fields,
        frames: (&Frame, &Frame),
    ) -> Vec<RuledRange> {
        let left = self.left.checked_sub(1);
        self.left = left.unwrap_or_default();
        match left {
            Some(_) => self.arbiter.rule(range, fields, frames),
            None => Vec::new(),
        }
    }
}
