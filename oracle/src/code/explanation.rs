//! Finds the reason for which the machine code decides nothing at a place.

use std::ops::Range;

use sframe_validator::unwind::{CodeAddress, Frame};

use super::budget::LARGEST_FUNCTION;
use super::fixpoint::Losses;
use super::function::Function;
use super::judgement::Unknown;
use super::padding::{Filling, Paddings};
use super::program::Program;
use super::unproven::{Unproven, WhyUnproven};
use crate::witness::CodeRange;

impl<'e> Program<'e> {
    /// Why nothing is decided about a row at a place, or about any row if there is no `frame`. `function` is the one that contains the
    /// place, if it could be examined. Meaningless if the code decides.
    pub fn why_unproven(
        &self,
        function: Option<&mut Function<'e>>,
        place: CodeAddress,
        frame: Option<&Frame>,
    ) -> WhyUnproven {
        let Some(function) = function else { return self.why_not_examined(place) };
        let unknown = function.at(place.address, |facts| facts.unknown(frame));
        if let Some(unknown) = unknown {
            return self.why_unknown(function, place.address, unknown, &mut Losses::default());
        }
        let gap = function.gap_around(place.address);
        let is_padding = self.paddings(gap).iter().any(|padding| padding.contains(&place.address));
        match is_padding {
            true => WhyUnproven::without_cause(Unproven::Padding),
            false => self.why_not_reached(function, gap.start.address),
        }
    }

    /// Why the function that contains a place is not examined.
    pub fn why_not_examined(&self, place: CodeAddress) -> WhyUnproven {
        let index = self.index_of(place);
        let function = index.and_then(|index| self.functions().get(index));
        WhyUnproven::without_cause(match function {
            None => Unproven::NoFunction,
            Some(function) if function.bytes() > LARGEST_FUNCTION => Unproven::TooLarge,
            Some(function) => self.unusual_entry(function.start).unwrap_or(Unproven::UnknownEntry),
        })
    }

    /// Why `function` does not reach code that starts at an address, and that is no padding.
    pub(crate) fn why_not_reached(&self, function: &Function<'e>, address: u64) -> WhyUnproven {
        let Some((reason, cause)) = function.why_not_reached(address) else {
            return WhyUnproven::without_cause(Unproven::UnknownEntry);
        };
        WhyUnproven { reason, cause: cause.map(|cause| self.place(cause)) }
    }

    /// Why something is not known before an instruction that `function` reaches.
    pub(crate) fn why_unknown(
        &self,
        function: &mut Function<'e>,
        address: u64,
        unknown: Unknown,
        losses: &mut Losses,
    ) -> WhyUnproven {
        let part = match unknown {
            Unknown::Because(reason) => return WhyUnproven::without_cause(reason),
            Unknown::Lost(part) => part,
        };
        let (reason, cause) = function.loss(address, part, losses);
        WhyUnproven { reason, cause: cause.map(|cause| self.place(cause)) }
    }

    /// The padding in code that is not reached, and before which comes an instruction of the same function that is, unless the code is at
    /// the function's start.
    pub(crate) fn paddings(&self, gap: CodeRange) -> Vec<Range<u64>> {
        let Some(code) = self.elf().code_bytes(gap.start, gap.bytes()) else { return Vec::new() };
        let before = if self.starts_at(gap.start) { Filling::Other } else { Filling::End };
        let mut paddings = Paddings::after(before);
        self.machine().search_padding(code, &mut paddings);
        let place = |offset: usize| gap.start.address.saturating_add(offset as u64);
        let paddings = paddings.found().into_iter();
        paddings.map(|padding| place(padding.start)..place(padding.end)).collect()
    }
}
