//! Which witness is wrong where SFrame and CFI differ: the machine code decides.

use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{CodeAddress, Frame};

use super::verdict::Fields;
use crate::cfi::Cfi;
use crate::code::{Checked, Code, Facts, Function, Known, Truth};

/// Which of SFrame and CFI is wrong, as far as the machine code proves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wrong {
    /// SFrame.
    Sframe,
    /// CFI.
    Cfi,
    /// Both of them, in different ways.
    Both,
    /// CFI, and SFrame says the same.
    Inherited,
    /// Neither of them: they say the same in different ways.
    Neither,
    /// The code does not decide.
    Undecided,
}

/// Why the code decides, or why it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It decides before this instruction.
    Proof {
        /// The instruction's address.
        address: u64,
        /// The address of the instruction that changed the frame last, if it is in the code right before.
        change: Option<u64>,
        /// The parts of the frame that the code determines before the instruction at `address`.
        known: Known,
    },
    /// Machine code of this machine is not examined.
    Machine,
    /// The range is in no function that can be examined.
    NoFunction,
    /// No known path leads to the range.
    NoPath,
    /// The statements differ in what the code does not show: signal frames and outermost frames.
    NotInCode,
    /// The code is known, but proves neither of them wrong.
    Open,
}

/// The decision about a range of PCs where SFrame and CFI differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// Who is wrong.
    pub wrong: Wrong,
    /// Why.
    pub reason: Reason,
}

/// Decides differences in a file. Nothing is examined before the first one.
pub struct Arbiter<'e> {
    elf: &'e Elf<'e>,
    sections: &'e [Section<'e>],
    cfi: &'e [Cfi<'e>],
    /// `None` before the first difference.
    code: Option<Option<Code<'e>>>,
    /// The function examined last: differences come in the order of addresses.
    last: Option<Function<'e>>,
}

impl<'e> Arbiter<'e> {
    /// An arbiter for differences between `sections` and `cfi`, which must belong to the file.
    #[must_use]
    pub const fn new(
        elf: &'e Elf<'e>,
        sections: &'e [Section<'e>],
        cfi: &'e [Cfi<'e>],
    ) -> Arbiter<'e> {
        Arbiter { elf, sections, cfi, code: None, last: None }
    }

    /// Decides a difference in `fields` from `start` to the address `end`, between a frame of SFrame and one of CFI.
    pub fn rule(
        &mut self,
        (start, end): (CodeAddress, u64),
        fields: Fields,
        (sframe, cfi): (&Frame, &Frame),
    ) -> Ruling {
        let undecided = |reason| Ruling { wrong: Wrong::Undecided, reason };
        if !fields
            .intersects(Fields::CFA.with(Fields::RA).with(Fields::FP).with(Fields::RA_SIGNING))
        {
            return undecided(Reason::NotInCode);
        }
        let (elf, sections, all) = (self.elf, self.sections, self.cfi);
        let code = self.code.get_or_insert_with(|| Code::of(elf, sections, all));
        let Some(code) = code else { return undecided(Reason::Machine) };
        let is_last = self.last.as_ref().is_some_and(|function| function.contains(start));
        if !is_last {
            self.last = code.function(start);
        }
        let Some(function) = &mut self.last else { return undecided(Reason::NoFunction) };
        let mut ruling = undecided(Reason::NoPath);
        function.visit(start.address..end, |address, _, facts| {
            let (in_sframe, in_cfi) = (part(&facts, sframe, fields), part(&facts, cfi, fields));
            let wrong = match (in_sframe, in_cfi) {
                (Truth::Refuted, Truth::Refuted) => Wrong::Both,
                (Truth::Refuted, _) => Wrong::Sframe,
                (_, Truth::Refuted) => Wrong::Cfi,
                (Truth::Proven, Truth::Proven) => Wrong::Neither,
                _ => Wrong::Undecided,
            };
            ruling = ruling.and(wrong, address, &facts);
        });
        if let Reason::Proof { address, change, .. } = &mut ruling.reason {
            *change = function.changes_before(&[*address]).into_iter().flatten().next();
        }
        ruling
    }
}

/// Whether the fields of a frame are what the code says.
fn part(facts: &Facts<'_>, frame: &Frame, fields: Fields) -> Truth {
    let Checked { cfa, ra, fp } = facts.check(frame);
    let of = |field: Fields, truth| if fields.intersects(field) { truth } else { Truth::Proven };
    let ra = of(Fields::RA.with(Fields::RA_SIGNING), ra);
    Checked { cfa: of(Fields::CFA, cfa), ra, fp: of(Fields::FP, fp) }.whole()
}

impl Ruling {
    /// Adds what the code proves before another instruction of the range.
    fn and(self, wrong: Wrong, address: u64, facts: &Facts<'_>) -> Ruling {
        let is_first = matches!(self.reason, Reason::NoPath);
        let proof = || Reason::Proof { address, change: None, known: facts.known() };
        let (wrong, reason) = match (self.wrong, wrong) {
            (Wrong::Sframe, Wrong::Cfi) | (Wrong::Cfi, Wrong::Sframe) => (Wrong::Both, self.reason),
            (Wrong::Sframe | Wrong::Cfi, Wrong::Both) => (Wrong::Both, self.reason),
            // Who is wrong at one instruction is wrong about the range.
            (found @ (Wrong::Sframe | Wrong::Cfi | Wrong::Both), _) => (found, self.reason),
            (_, found @ (Wrong::Sframe | Wrong::Cfi | Wrong::Both)) => (found, proof()),
            (Wrong::Neither, Wrong::Neither) => (Wrong::Neither, self.reason),
            (_, Wrong::Neither) if is_first => (Wrong::Neither, proof()),
            _ => (Wrong::Undecided, Reason::Open),
        };
        Ruling { wrong, reason }
    }
}
