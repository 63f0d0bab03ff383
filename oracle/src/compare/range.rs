//! What both sides say about a range of PCs, and how that stands to each other.

use sframe_validator::section::CodeAddress;
use sframe_validator::unwind::{Frame, Row};
use sframe_validator::{Abi, Version};

use super::lookup::{Found, Lookup};
use super::reading::Evidence;
use super::sframe::Piece;
use super::stream::Marks;
use super::verdict::{Fields, Judgement, Side, Verdict, judge};
use crate::cfi::Fde;

/// A range of PCs with one verdict. Neighbours that say the same are one range.
#[derive(Clone, Copy, Debug)]
pub struct Range<'c> {
    /// The ELF section in a relocatable object, else 0.
    pub section: u32,
    /// The first PC.
    pub start: u64,
    /// The first PC behind.
    pub end: u64,
    /// How the sides stand to each other.
    pub verdict: Verdict,
    /// The fields that could not be compared, where others could: CFI has an expression for them.
    pub undecided: Fields,
    /// SFrame: which of the sections compared, which function, what it says; no frame where it
    /// cannot be read, or has no rows and is not outermost by that.
    pub sframe: Option<(u32, u32, Option<Frame>)>,
    /// Where SFrame's row starts, as it is stored: a row out of order holds only later. In a repeated
    /// block, its place in the first one.
    pub row_start: Option<u64>,
    /// CFI: the function, and what it says; no frame where it cannot be read, or SFrame says
    /// nothing it could be compared with.
    pub cfi: Option<(Fde<'c>, Option<Frame>)>,
}

impl Range<'_> {
    pub(super) fn continues(&self, next: &Range<'_>) -> bool {
        self.section == next.section
            && self.end == next.start
            && self.verdict == next.verdict
            && self.sframe == next.sframe
            && self.cfi == next.cfi
    }
}

/// What an entry's rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// There are some.
    Rows,
    /// None, which marks an outermost frame (V3 1.2).
    Outermost,
    /// None, which means nothing.
    Nothing,
}

/// The SFrame function whose rows are told.
pub(super) struct Function {
    pub(super) section: u32,
    pub(super) index: u32,
    pub(super) version: Version,
    pub(super) abi: Abi,
    pub(super) marks: Marks,
    pub(super) content: Content,
}

/// What SFrame says about a range: a row of a function.
pub(super) type Ours<'f> = (&'f Function, Piece<'f>);

/// What CFI says about a PC.
#[derive(Clone, Copy)]
pub(super) enum Said<'s, 'c> {
    Nothing,
    Row(&'s Row, Fde<'c>),
    /// SFrame says nothing, so that it does not matter what CFI does.
    Something(Fde<'c>),
    Unreadable(Fde<'c>),
}

#[inline]
pub(super) fn decide(ours: Option<Ours<'_>>, truth: Said<'_, '_>) -> Judgement {
    let ours = ours.filter(|(ours, _)| ours.content != Content::Nothing);
    match (ours, truth) {
        (None, Said::Nothing) => Verdict::Neither.into(),
        (None, _) => Verdict::OnlyCfi.into(),
        (Some((_, None)), _) | (Some(_), Said::Unreadable(_) | Said::Something(_)) => {
            Verdict::Undecided.into()
        }
        (Some(_), Said::Nothing) => Verdict::OnlySframe.into(),
        (Some((ours, Some(row))), Said::Row(truth, function)) => {
            let cie = function.cie();
            let Marks { signal, key_b } = ours.marks;
            let sframe = Side { frame: &row.frame, signal, key_b };
            let cfi = Side { frame: &truth.frame, signal: cie.signal, key_b: cie.pauth_key_b };
            judge(sframe, cfi, ours.version, ours.abi)
        }
    }
}

/// What CFI says about a row of `ours` at a place.
#[cold]
pub(super) fn evidence(
    lookup: &mut Lookup<'_>,
    ours: &Function,
    place: CodeAddress,
    row: &Row,
) -> Evidence {
    let (found, until) = lookup.at(place);
    let Found::Row(truth, function) = found else { return Evidence { agrees: None, until } };
    let judgement = decide(Some((ours, Some(row))), Said::Row(truth, function));
    let agrees = match judgement.verdict {
        Verdict::Equal | Verdict::Limited(_) => Some(true),
        Verdict::Different(_) => Some(false),
        _ => None,
    };
    Evidence { agrees, until }
}

#[cold]
pub(super) fn describe<'c>(
    place: CodeAddress,
    end: u64,
    Judgement { verdict, undecided }: Judgement,
    ours: Option<Ours<'_>>,
    truth: Said<'_, 'c>,
) -> Range<'c> {
    // Where SFrame has no row, CFI's rows do not matter: all of the function is lost alike.
    let rows = verdict != Verdict::OnlyCfi && ours.is_some_and(|(_, row)| row.is_some());
    Range {
        section: place.section,
        start: place.address,
        end,
        verdict,
        undecided,
        sframe: ours.map(|(ours, row)| {
            let row = row.filter(|_| ours.content != Content::Nothing);
            (ours.section, ours.index, row.map(|row| row.frame))
        }),
        row_start: ours.and_then(|(_, row)| row.map(|row| row.start)),
        cfi: match truth {
            Said::Nothing => None,
            Said::Row(row, function) => Some((function, rows.then_some(row.frame))),
            Said::Unreadable(function) | Said::Something(function) => Some((function, None)),
        },
    }
}
