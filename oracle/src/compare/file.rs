//! Compares the SFrame sections of a file with its CFI.

use core::ops::ControlFlow;

use sframe_validator::elf::Elf;
use sframe_validator::unwind::{CodeAddress, Row};
use sframe_validator::{Section, Version};

use super::agreement::agree_all_over;
use super::code::code_of;
use super::judge::{Judgement, Side, judge};
use super::range::Range;
use super::sweep::{Observer, sweep};
use super::unplaced::Search;
use super::verdict::{Totals, Verdict};
use crate::cfi::{Cfi, CfiError, Fde, RowContext, same};
use crate::witness::{
    Budgets, CfiWitness, CodeRange, Current, Evidence, Found, Left, Lookup, Marks, Places, Says,
    SframeFunction, SframeWitness, Shared, Statement, Witness,
};

/// Receives the results of a comparison.
pub(crate) trait Sink<'c> {
    /// Whether the sink needs ranges that neither side describes: there is one after most functions.
    const NEITHER: bool = false;

    /// Whether the sink needs ranges about which both agree.
    const EQUAL: bool = false;

    /// Receives a range whose verdict is not [`Verdict::Equal`], or any with [`Sink::EQUAL`], in the order of addresses.
    fn range(&mut self, range: &Range<'c>);

    /// Receives the size of the code of a function that no SFrame function describes. Returns false if the sink needs
    /// the ranges instead.
    fn without_sframe(&mut self, _: &Fde<'c>, _bytes: u64) -> bool {
        false
    }

    /// Receives the defect that ends the rows of a function too early, once for each function.
    fn error(&mut self, _: &Fde<'c>, _: CfiError) {}
}

impl<'c, F: FnMut(&Range<'c>)> Sink<'c> for F {
    const NEITHER: bool = true;

    fn range(&mut self, range: &Range<'c>) {
        self(range);
    }
}

/// The results so far.
struct Comparison<'c, 'p, 's, S> {
    totals: Totals,
    search: Search<'c, 'p>,
    /// The last range, which the next one may extend.
    pending: Option<Range<'c>>,
    sink: &'s mut S,
}

impl<'c, S: Sink<'c>> Comparison<'c, '_, '_, S> {
    /// Passes on the last range, which the next one does not extend.
    #[inline]
    fn flush(&mut self) {
        if let Some(range) = &self.pending {
            self.sink.range(range);
            self.pending = None;
        }
    }

    /// Adds a range to be passed on.
    #[cold]
    fn report(&mut self, range: Range<'c>) {
        match &mut self.pending {
            Some(last) if last.continues(&range) => last.end = range.end,
            _ => {
                self.flush();
                self.pending = Some(range);
            }
        }
    }

    /// Judges a piece about which the witnesses are not obviously equal.
    #[inline(never)]
    fn judge<'w, E>(
        &mut self,
        place: CodeAddress,
        end: u64,
        sframe_witness: &mut SframeWitness<'w, E>,
        cfi_witness: &mut CfiWitness<'c, '_>,
    ) where
        E: FnMut(&Current<'w>, CodeAddress, &Row) -> Evidence,
    {
        let (sframe, cfi) = (sframe_witness.says(), cfi_witness.says());
        let bytes = end - place.address;
        let mut judgement = decide(sframe_witness.current(), &sframe, &cfi, cfi_witness.marks());
        let sought = match cfi {
            Says::Unread(function) => self.search.may_be_about(function),
            _ => false,
        };
        if sought {
            judgement = Verdict::Undecided.into();
        }
        let verdict = judgement.verdict;
        self.totals.bytes.add(verdict, bytes);
        let settled = match cfi {
            Says::Nothing => verdict == Verdict::Neither && !S::NEITHER,
            Says::Unread(function) if matches!(sframe, Says::Nothing) && !sought => {
                self.sink.without_sframe(&function, bytes)
            }
            _ => verdict == Verdict::Equal && !S::EQUAL,
        };
        if settled {
            self.flush();
        } else {
            self.report(describe(place, end, judgement, &sframe, &cfi));
        }
        let (in_sframe, in_cfi) = (sframe.anything(), cfi.anything());
        if in_sframe {
            sframe_witness.note(in_cfi);
        }
        if in_cfi && !sought {
            cfi_witness.note(in_sframe);
        }
    }
}

impl<'c, 'w, S, E> Observer<SframeWitness<'w, E>, CfiWitness<'c, '_>> for Comparison<'c, '_, '_, S>
where
    S: Sink<'c>,
    E: FnMut(&Current<'w>, CodeAddress, &Row) -> Evidence,
{
    #[inline]
    fn agree_all_over(
        &mut self,
        place: CodeAddress,
        end: u64,
        sframe: &mut SframeWitness<'w, E>,
        cfi: &mut CfiWitness<'c, '_>,
    ) -> bool {
        if S::EQUAL {
            return false;
        }
        let agree = sframe.all_over(place, end, |current, function, budget| {
            current.marks == cfi.marks()
                && cfi.all_over(place, end, |rows| {
                    agree_all_over(function, budget, rows, place.address, end)
                })
        });
        if agree {
            self.flush();
            self.totals.bytes.add(Verdict::Equal, end - place.address);
            sframe.note(true);
            cfi.note(true);
        }
        agree
    }

    #[inline]
    fn piece(
        &mut self,
        place: CodeAddress,
        end: u64,
        sframe: &mut SframeWitness<'w, E>,
        cfi: &mut CfiWitness<'c, '_>,
    ) -> ControlFlow<()> {
        let equal = match (sframe.says(), cfi.says()) {
            (Says::Row(_, row), Says::Row(_, other)) if !S::EQUAL => {
                let marks = sframe.current().map(|current| current.marks);
                same(&row.frame, &other.frame) && marks == Some(cfi.marks())
            }
            _ => false,
        };
        if equal {
            self.flush();
            self.totals.bytes.add(Verdict::Equal, end - place.address);
            sframe.note(true);
            cfi.note(true);
        } else {
            self.judge(place, end, sframe, cfi);
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn left_first(&mut self, left: Left<SframeFunction, core::convert::Infallible>) {
        self.totals.functions.only_sframe += u64::from(left.shared == Shared::Nothing);
    }

    #[inline]
    fn left_second(&mut self, left: Left<Fde<'c>, CfiError>) {
        match left.shared {
            Shared::All => self.totals.functions.both += 1,
            Shared::Partly => self.totals.functions.partly += 1,
            Shared::Nothing => self.totals.functions.only_cfi += 1,
            Shared::Unknown => {}
        }
        if let Some(error) = left.error {
            self.sink.error(&left.function, error);
        }
    }
}

/// The verdict on the statements of SFrame and CFI about a PC.
fn decide(
    current: Option<&Current<'_>>,
    sframe: &Says<'_, SframeFunction, Row>,
    cfi: &Says<'_, Fde<'_>, Row>,
    cfi_marks: Marks,
) -> Judgement {
    match (sframe, cfi) {
        (Says::Nothing | Says::NoRows(_), Says::Nothing | Says::NoRows(_)) => {
            Verdict::Neither.into()
        }
        (Says::Nothing | Says::NoRows(_), _) => Verdict::OnlyCfi.into(),
        (Says::Unreadable(_) | Says::Unread(_), _) => Verdict::Undecided.into(),
        (Says::Row(..), Says::Unreadable(_) | Says::Unread(_)) => Verdict::Undecided.into(),
        (Says::Row(..), Says::Nothing | Says::NoRows(_)) => Verdict::OnlySframe.into(),
        (Says::Row(_, row), Says::Row(_, other)) => match current {
            Some(current) => judge_rows(current, row, other, cfi_marks),
            None => Verdict::Undecided.into(),
        },
    }
}

fn judge_rows(current: &Current<'_>, row: &Row, other: &Row, cfi_marks: Marks) -> Judgement {
    let sframe = Side { frame: &row.frame, marks: current.marks, version: Some(current.version) };
    let cfi = Side { frame: &other.frame, marks: cfi_marks, version: None };
    judge(sframe, cfi, current.abi)
}

/// The evidence of CFI about a row of an SFrame function at a place.
#[cold]
fn evidence(
    lookup: &mut Lookup<'_>,
    current: &Current<'_>,
    place: CodeAddress,
    row: &Row,
) -> Evidence {
    let (found, until) = lookup.at(place);
    let Found::Row(other, function) = found else { return Evidence { agrees: None, until } };
    let marks = Marks::of_cie(function.cie());
    let agrees = match judge_rows(current, row, other, marks).verdict {
        Verdict::Equal | Verdict::Limited(_) => Some(true),
        Verdict::Different(_) => Some(false),
        _ => None,
    };
    Evidence { agrees, until }
}

#[cold]
fn describe<'c>(
    place: CodeAddress,
    end: u64,
    Judgement { verdict, undecided }: Judgement,
    sframe: &Says<'_, SframeFunction, Row>,
    cfi: &Says<'_, Fde<'c>, Row>,
) -> Range<'c> {
    let sframe_row = match sframe {
        Says::Row(_, row) => Some(*row),
        _ => None,
    };
    let cfi_frame = match cfi {
        // If SFrame has no row, CFI's rows do not matter: the whole function is lost.
        Says::Row(_, row) if sframe_row.is_some() => Some(row.frame),
        _ => None,
    };
    Range {
        section: place.section,
        start: place.address,
        end,
        verdict,
        undecided,
        sframe: sframe
            .function()
            .map(|function| Statement { function, frame: sframe_row.map(|row| row.frame) }),
        row_start: sframe_row.map(|row| row.start),
        cfi: cfi.function().map(|function| Statement { function, frame: cfi_frame }),
    }
}

/// Sweeps over the code of `elf` with the functions of `sections` and `cfi`, all of which must belong to the file.
/// `sink` receives every range that is not [`Verdict::Equal`], in the order of addresses.
///
/// The time is linear in the size of the file, whatever its tables claim.
pub fn compare<'c>(
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    mut sink: impl FnMut(&Range<'c>),
) -> Totals {
    compare_file(elf, sections, cfi, &mut sink)
}

/// Like [`compare`], for a sink that needs more details.
pub(crate) fn compare_file<'c>(
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    sink: &mut impl Sink<'c>,
) -> Totals {
    compare_code(&code_of(elf), elf, sections, cfi, sink)
}

/// Like [`compare_file`], but only for `code`, which must be ordered and without overlaps.
pub(super) fn compare_code<'c>(
    code: &[CodeRange],
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    sink: &mut impl Sink<'c>,
) -> Totals {
    let places = Places::of(sections);
    let version = sections.first().map_or(Version::V3, |section| section.header().version);
    let mut comparison = Comparison {
        totals: Totals::default(),
        search: Search::new(&places, version),
        pending: None,
        sink,
    };
    comparison.totals.functions.unplaced = places.unplaced.count();
    // Needed only for repeated blocks of version 1.
    let mut lookup = None;
    let evidence = |current: &Current<'_>, place: CodeAddress, row: &Row| {
        evidence(lookup.get_or_insert_with(|| Lookup::new(cfi)), current, place, row)
    };
    let mut budgets = Budgets::new(sections, elf.data().len() as u64);
    let origin = CodeAddress::absolute(0);
    let mut sframe_witness =
        SframeWitness::new(sections, &places.functions, origin, elf.abi(), &mut budgets, evidence);
    let mut contexts: Vec<_> = cfi.iter().map(RowContext::new).collect();
    let mut cfi_witness = CfiWitness::new(cfi, &mut contexts);
    sweep(code, &mut sframe_witness, &mut cfi_witness, &mut comparison);
    comparison.flush();
    comparison.totals
}
