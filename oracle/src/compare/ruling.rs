//! Which witness is wrong where SFrame and CFI differ: the machine code decides.

use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{CodeAddress, Frame};

use super::verdict::Fields;
use crate::cfi::Cfi;
use crate::code::{
    Function, Judgement, KnownFacts, Losses, Program, ProvenRow, Truth, Unproven, Workspace,
};
use crate::witness::CodeRange;

/// Which of SFrame and CFI is wrong, as far as the machine code proves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Wrong {
    /// SFrame.
    Sframe,
    /// CFI.
    Cfi,
    /// Both, in different ways.
    Both,
    /// CFI, and SFrame has inherited the error.
    Inherited,
    /// Neither: they say the same in different ways.
    Neither,
    /// It is not decided.
    Undecided,
}

impl Wrong {
    /// The name used in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Wrong::Sframe => "sframe",
            Wrong::Cfi => "cfi",
            Wrong::Both => "both",
            Wrong::Inherited => "inherited",
            Wrong::Neither => "neither",
            Wrong::Undecided => "undecided",
        }
    }
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
        known: ProvenRow,
    },
    /// It does not decide.
    Unproven(Unproven),
}

/// The decision about a range of PCs where SFrame and CFI differ. It is true at each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// Who is wrong.
    pub wrong: Wrong,
    /// Why.
    pub reason: Reason,
}

/// PCs at which one ruling is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuledRange {
    /// The first PC.
    pub start: u64,
    /// The end, exclusive.
    pub end: u64,
    /// The ruling.
    pub ruling: Ruling,
}

/// Decides differences in a file. Nothing is examined before the first one.
pub struct Arbiter<'e> {
    elf: &'e Elf<'e>,
    sections: &'e [Section<'e>],
    cfi: &'e [Cfi<'e>],
    /// `None` before the first difference.
    code: Option<Option<Program<'e>>>,
    /// The function examined last: differences come in the order of addresses.
    last: Option<Function<'e>>,
    /// What is known about where it loses parts of the frame.
    losses: Losses,
    workspace: Workspace<'e>,
}

impl<'e> Arbiter<'e> {
    /// An arbiter for differences between `sections` and `cfi`, which must belong to the file.
    #[must_use]
    pub fn new(elf: &'e Elf<'e>, sections: &'e [Section<'e>], cfi: &'e [Cfi<'e>]) -> Arbiter<'e> {
        let (losses, workspace) = Default::default();
        Arbiter { elf, sections, cfi, code: None, last: None, losses, workspace }
    }

    /// Decides a difference in `fields` from `start` to the address `end`, between a frame of SFrame and one of CFI. The range is
    /// divided into parts by who is wrong, because the code may decide at some of its PCs only, or in different ways.
    pub fn rule(
        &mut self,
        (start, end): (CodeAddress, u64),
        fields: Fields,
        frames: (&Frame, &Frame),
    ) -> Vec<RuledRange> {
        let mut parts = Parts { place: start.address, all: Vec::new() };
        let (sframe, cfi) = frames;
        let in_frame = Fields::CFA.with(Fields::RA).with(Fields::FP);
        // The key with which the return address is signed is no part of a frame.
        let in_frame = match sframe.ra_signed == cfi.ra_signed {
            true => in_frame,
            false => in_frame.with(Fields::RA_SIGNING),
        };
        if !fields.intersects(in_frame) {
            parts.add(end, Ruling::undecided(Unproven::NotInCode));
            return parts.all;
        }
        let (elf, sections, all) = (self.elf, self.sections, self.cfi);
        let code = self.code.get_or_insert_with(|| Program::of(elf, sections, all));
        let Some(code) = code else {
            parts.add(end, Ruling::undecided(Unproven::Machine));
            return parts.all;
        };
        while parts.place < end {
            let place = CodeAddress { address: parts.place, ..start };
            if !self.last.as_ref().is_some_and(|function| function.contains(place)) {
                self.last.take().into_iter().for_each(|last| self.workspace.recycle(last));
                self.last = code.function_in(place, &mut self.workspace);
                self.losses = Losses::default();
            }
            match &mut self.last {
                Some(function) => {
                    parts.in_function((code, function, &mut self.losses), end, fields, frames);
                }
                None => {
                    let next = next_function(code.functions(), place);
                    let why = code.why_not_examined(place);
                    parts
                        .add(next.map_or(end, |next| next.min(end)), Ruling::undecided(why.reason));
                }
            }
        }
        // What both say of the frame is right, and they differ in something else as well.
        if !in_frame.contains(fields) {
            let both_right = parts.all.iter_mut().filter(|it| it.ruling.wrong == Wrong::Neither);
            both_right.for_each(|part| part.ruling = Ruling::undecided(Unproven::NotInCode));
        }
        parts.all
    }
}

/// The start of the first function after a place, if it is in the same section.
fn next_function(functions: &[CodeRange], place: CodeAddress) -> Option<u64> {
    let next = functions.get(functions.partition_point(|it| it.start <= place))?;
    (next.start.section == place.section).then_some(next.start.address)
}

/// The parts of a range, one after the other.
struct Parts {
    /// The end of the last one.
    place: u64,
    all: Vec<RuledRange>,
}

impl Parts {
    /// Adds what the code of a function says, up to the function's end or the address `end`.
    fn in_function<'e>(
        &mut self,
        (code, function, losses): (&Program<'e>, &mut Function<'e>, &mut Losses),
        end: u64,
        fields: Fields,
        (sframe, cfi): (&Frame, &Frame),
    ) {
        let (first, end) = (self.all.len(), function.range().end.min(end));
        let mut instructions = Vec::new();
        function.visit(self.place..end, |address, next, facts| {
            let truths = (part(&facts, sframe, fields), part(&facts, cfi, fields));
            let said = match truths {
                (Truth::Unknown, Truth::Unknown) => Err(facts.unknown(Some(cfi))),
                _ => Ok(of_instruction(truths, || Reason::Proof {
                    address,
                    change: None,
                    known: facts.proven_row(),
                })),
            };
            instructions.push((address, next, said));
        });
        for (address, next, said) in instructions {
            self.add_unreached((code, function), address.min(end));
            let ruling = said.unwrap_or_else(|unknown| {
                let why = code.why_unknown(function, address, unknown, losses);
                Ruling::undecided(why.reason)
            });
            self.add(next.min(end), ruling);
        }
        self.add_unreached((code, function), end);
        let found = self.all.get_mut(first..).unwrap_or_default();
        let proofs = found.iter().filter_map(|part| part.ruling.reason.proof());
        let changes = function.changes_before(&proofs.collect::<Vec<u64>>());
        let reasons = found.iter_mut().map(|part| &mut part.ruling.reason);
        let proofs = reasons.filter(|reason| reason.proof().is_some());
        for (reason, changed) in proofs.zip(changes) {
            if let Reason::Proof { change, .. } = reason {
                *change = changed;
            }
        }
    }

    /// Adds the PCs up to `end`, which the code of a function does not reach.
    fn add_unreached<'e>(&mut self, (code, function): (&Program<'e>, &Function<'e>), end: u64) {
        if end <= self.place {
            return;
        }
        let start = CodeAddress { address: self.place, ..function.range().start };
        let gap = start.address..end;
        let is_padding = code.paddings(CodeRange { start, end }).first() == Some(&gap);
        let why = match is_padding {
            true => Unproven::Padding,
            false => code.why_not_reached(function, start.address).reason,
        };
        self.add(end, Ruling::undecided(why));
    }

    /// Adds a ruling about the PCs up to `end`.
    fn add(&mut self, end: u64, ruling: Ruling) {
        if end <= self.place {
            return;
        }
        match self.all.last_mut() {
            Some(last) if last.ruling.is_like(&ruling) => last.end = end,
            _ => self.all.push(RuledRange { start: self.place, end, ruling }),
        }
        self.place = end;
    }
}

/// The ruling about an instruction at which the frames of SFrame and CFI are as true as this.
fn of_instruction((sframe, cfi): (Truth, Truth), proof: impl FnOnce() -> Reason) -> Ruling {
    let wrong = match (sframe, cfi) {
        (Truth::Refuted, Truth::Refuted) => Wrong::Both,
        (Truth::Refuted, _) => Wrong::Sframe,
        (_, Truth::Refuted) => Wrong::Cfi,
        (Truth::Proven, Truth::Proven) => Wrong::Neither,
        (Truth::Proven, Truth::Unknown) => return Ruling::undecided(Unproven::SframeRight),
        (Truth::Unknown, Truth::Proven) => return Ruling::undecided(Unproven::CfiRight),
        (Truth::Unknown, Truth::Unknown) => return Ruling::undecided(Unproven::Open),
    };
    Ruling { wrong, reason: proof() }
}

/// Whether the fields of a frame are what the code says.
fn part(facts: &KnownFacts<'_>, frame: &Frame, fields: Fields) -> Truth {
    let Judgement { cfa, ra, fp } = facts.judge(frame);
    let of = |field: Fields, truth| if fields.intersects(field) { truth } else { Truth::Proven };
    let ra = of(Fields::RA.with(Fields::RA_SIGNING), ra);
    Judgement { cfa: of(Fields::CFA, cfa), ra, fp: of(Fields::FP, fp) }.whole()
}

impl Reason {
    /// The address of the instruction that decides.
    const fn proof(&self) -> Option<u64> {
        match self {
            Reason::Proof { address, .. } => Some(*address),
            Reason::Unproven(_) => None,
        }
    }
}

impl Ruling {
    const fn undecided(why: Unproven) -> Ruling {
        Ruling { wrong: Wrong::Undecided, reason: Reason::Unproven(why) }
    }

    /// Whether somebody is proven wrong.
    pub(crate) const fn is_proof_of_error(&self) -> bool {
        !matches!(self.wrong, Wrong::Neither | Wrong::Undecided)
    }

    /// Whether this is the same decision, even if another instruction proves it.
    fn is_like(&self, other: &Ruling) -> bool {
        let undecided = |ruling: &Ruling| match ruling.reason {
            Reason::Unproven(why) => Some(why),
            Reason::Proof { .. } => None,
        };
        self.wrong == other.wrong && undecided(self) == undecided(other)
    }
}
