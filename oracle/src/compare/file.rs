//! Compares the SFrame sections of a file, or of a part of it, with its CFI.

use core::ops::ControlFlow;

use sframe_validator::Version;
use sframe_validator::unwind::{CodeAddress, Row};

use super::agreement::agree_all_over;
use super::divide::Part;
use super::event::{Event, Report, Wanted};
use super::judge::{Judgement, Side, judge};
use super::range::Range;
use super::sweep::{Observer, sweep};
use super::tables::Tables;
use super::unplaced::Search;
use super::verdict::{Totals, Verdict};
use crate::cfi::{CfiError, Fde, RowContext, same};
use crate::witness::{
    Budgets, CfiWitness, CodeRange, Current, Evidence, Found, Left, Lookup, Marks, Places, Says,
    SframeFunction, SframeWitness, Shared, Statement, Witness,
};

/// The results so far.
struct Comparison<'c, 'p, 'r, 'f> {
    totals: Totals,
    search: Search<'c, 'p>,
    /// The last range, which the next one may extend.
    pending: Option<Range<'c>>,
    wanted: Wanted,
    report: &'r mut Report<'f, 'c>,
}

impl<'c> Comparison<'c, '_, '_, '_> {
    /// Passes on the last range, which the next one does not extend.
    #[inline]
    fn flush(&mut self) {
        if self.pending.is_some() {
            self.report_pending();
        }
    }

    #[cold]
    fn report_pending(&mut self) {
        if let Some(range) = self.pending.take() {
            (self.report)(Event::Range(range));
        }
    }

    /// Adds a range to be passed on.
    #[cold]
    fn add(&mut self, range: Range<'c>) {
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
            Says::Nothing => verdict == Verdict::Neither && !self.wanted.neither,
            Says::Unread(function) if self.wanted.sizes_without_sframe => {
                (self.report)(Event::WithoutSframe(function, bytes));
                true
            }
            Says::Unread(_) => false,
            _ => verdict == Verdict::Equal && !self.wanted.equal,
        };
        if settled {
            self.flush();
        } else {
            self.add(describe(place, end, judgement, &sframe, &cfi));
        }
        let (in_sframe, in_cfi) = (sframe.shared(), cfi.shared());
        if in_sframe == Shared::All {
            sframe_witness.note(in_cfi);
        }
        if in_cfi == Shared::All && !sought {
            cfi_witness.note(in_sframe);
        }
    }
}

impl<'c, 'w, E> Observer<SframeWitness<'w, E>, CfiWitness<'c, '_>> for Comparison<'c, '_, '_, '_>
where
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
        if self.wanted.equal {
            return false;
        }
        let agree = sframe.all_over(place, end, |current, function, budget| {
            current.marks == cfi.marks()
                && cfi.all_over(place, |rows| {
                    agree_all_over(function, budget, rows, place.address, end)
                })
        });
        if agree {
            self.flush();
            self.totals.bytes.add(Verdict::Equal, end - place.address);
            sframe.note(Shared::All);
            cfi.note(Shared::All);
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
            (Says::Row(_, row), Says::Row(_, other)) if !self.wanted.equal => {
                let marks = sframe.current().map(|current| current.marks);
                same(&row.frame, &other.frame) && marks == Some(cfi.marks())
            }
            _ => false,
        };
        if equal {
            self.flush();
            self.totals.bytes.add(Verdict::Equal, end - place.address);
            sframe.note(Shared::All);
            cfi.note(Shared::All);
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
            (self.report)(Event::Error(left.function, error));
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

/// The judgement on two rows.
pub(super) fn judge_rows(
    current: &Current<'_>,
    row: &Row,
    other: &Row,
    cfi_marks: Marks,
) -> Judgement {
    let sframe = Side { frame: &row.frame, marks: current.marks, version: Some(current.version) };
    let cfi = Side { frame: &other.frame, marks: cfi_marks, version: None };
    judge(sframe, cfi, current.abi)
}

/// The evidence of CFI about a row of an SFrame function at a place.
#[cold]
pub(super) fn evidence(
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

/// As [`compare`](super::compare), only for `code`, which must be ordered and without overlaps, reporting everything that is
/// `wanted`.
pub(super) fn compare_code<'c>(
    code: &[CodeRange],
    tables: Tables<'_, 'c>,
    wanted: Wanted,
    report: &mut Report<'_, 'c>,
) -> Totals {
    let task = Task { tables, places: &Places::of(tables.sections), wanted };
    task.compare(&Part::of(code.to_vec()), &mut task.budgets(), report)
}

/// What is compared, and what is to be reported.
pub(super) struct Task<'t, 'c> {
    pub(super) tables: Tables<'t, 'c>,
    /// The functions of the SFrame sections.
    pub(super) places: &'t Places,
    pub(super) wanted: Wanted,
}

impl<'c> Task<'_, 'c> {
    /// The work that comparing all of the code may take.
    pub(super) fn budgets(&self) -> Budgets {
        Budgets::new(self.tables.sections, self.tables.elf.data().len() as u64)
    }

    /// Compares a part of the code. The totals are without SFrame functions whose start is unreadable.
    pub(super) fn compare(
        &self,
        part: &Part,
        budgets: &mut Budgets,
        report: &mut Report<'_, 'c>,
    ) -> Totals {
        let Task { tables: Tables { elf, sections, cfi }, places, wanted } = *self;
        let version = sections.first().map_or(Version::V3, |section| section.header().version);
        let mut comparison = Comparison {
            totals: Totals::default(),
            search: Search::new(places, version),
            pending: None,
            wanted,
            report,
        };
        // Needed only for repeated blocks of version 1.
        let mut lookup = None;
        let evidence = |current: &Current<'_>, place: CodeAddress, row: &Row| {
            evidence(lookup.get_or_insert_with(|| Lookup::new(cfi)), current, place, row)
        };
        let functions = places.functions.get(part.sframe..).unwrap_or_default();
        let mut sframe_witness =
            SframeWitness::new(sections, functions, elf.abi(), budgets, evidence);
        let mut contexts: Vec<_> = cfi.iter().map(RowContext::new).collect();
        let mut cfi_witness = CfiWitness::new(cfi, &mut contexts).starting_at(&part.cfi);
        sweep(&part.code, &mut sframe_witness, &mut cfi_witness, &mut comparison);
        comparison.flush();
        comparison.totals
    }
}

#[cfg(test)]
mod tests {
    use sframe_validator::elf::Elf;
    use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};
    use sframe_validator::write::elf::Image;
    use sframe_validator::write::{FunctionBuilder, SectionBuilder};
    use sframe_validator::{Abi, Placement, Section};

    use super::*;
    use crate::cfi::Cfi;

    /// Counts the pieces that are compared without the shortcut for whole functions.
    struct Counting<'c, 'p, 'r, 'f>(Comparison<'c, 'p, 'r, 'f>, usize);

    impl<'c, 'w, E> Observer<SframeWitness<'w, E>, CfiWitness<'c, '_>> for Counting<'c, '_, '_, '_>
    where
        E: FnMut(&Current<'w>, CodeAddress, &Row) -> Evidence,
    {
        fn agree_all_over(
            &mut self,
            place: CodeAddress,
            end: u64,
            sframe: &mut SframeWitness<'w, E>,
            cfi: &mut CfiWitness<'c, '_>,
        ) -> bool {
            self.0.agree_all_over(place, end, sframe, cfi)
        }

        fn piece(
            &mut self,
            place: CodeAddress,
            end: u64,
            sframe: &mut SframeWitness<'w, E>,
            cfi: &mut CfiWitness<'c, '_>,
        ) -> ControlFlow<()> {
            self.1 += 1;
            self.0.piece(place, end, sframe, cfi)
        }
    }

    fn frame(offset: i64) -> Frame {
        let cfa = Cfa::RegisterOffset { register: Register(7), offset };
        Frame { cfa, ra: Recovery::AtCfa(-8), fp: Recovery::Unchanged, ra_signed: false }
    }

    /// Four functions of 16 bytes, after each of which 16 bytes are not described. In CFI, the CFA is SP+8, and SP+16
    /// from the fourth byte on (advance 4, def_cfa_offset 16). SFrame says the same about the first and the second, has
    /// no function for the third, and says SP+24 at the end of the last.
    #[test]
    fn functions_that_agree_are_not_compared_piece_by_piece() {
        let mut builder = SectionBuilder::new(Version::V2, Abi::Amd64);
        builder.address(0x4000);
        let agrees = |start| FunctionBuilder::new(start, 16).row(0, frame(8)).row(4, frame(16));
        builder.function(agrees(0x1000)).function(agrees(0x1020));
        builder.function(agrees(0x1060).row(12, frame(24)));
        // More rows follow, because the last rows of a section cannot be read as plain rows.
        let many = FunctionBuilder::new(0x2000, 16);
        builder.function((0..8).fold(many, |function, start| function.row(start, frame(8))));
        let sframe = builder.build().expect("a section").bytes;
        let mut cfi = vec![14, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1];
        for start in [0x1000_u64, 0x1020, 0x1040, 0x1060] {
            let id = u32::try_from(cfi.len() + 4).expect("short").to_le_bytes();
            let range = [start.to_le_bytes(), 16_u64.to_le_bytes()].concat();
            cfi.extend([[23, 0, 0, 0].as_slice(), &id, &range, &[0x44, 0x0e, 16]].concat());
        }
        let code = 0x1000..0x1080;
        let eh_frame = Some((cfi.as_slice(), 0x8000));
        let image =
            Image { abi: Abi::Amd64, code, sframe: (&sframe, 0x4000), typed: true, eh_frame };
        let file = image.bytes().expect("a file");
        let elf = Elf::parse(&file).expect("ELF");
        let cfi = Cfi::load_all(&elf).expect("readable");
        let sections = [Section::parse(&sframe, Placement::at(0x4000)).expect("a section")];

        let mut ranges = Vec::new();
        let code = crate::compare::code_of(&elf);
        let tables = Tables { elf: &elf, sections: &sections, cfi: &cfi };
        let totals = compare_code(&code, tables, Wanted::default(), &mut |event| {
            if let Event::Range(range) = event {
                ranges.push((range.start, range.end, range.verdict));
            }
        });
        let different = Verdict::Different(crate::compare::Fields::CFA);
        let wanted = [(0x1040, 0x1050, Verdict::OnlyCfi), (0x106c, 0x1070, different)];
        assert_eq!(ranges, wanted);

        let places = Places::of(&sections);
        let mut budgets = Budgets::new(&sections, 1 << 16);
        let evidence = |_: &Current<'_>, _, _: &Row| Evidence::NONE;
        let mut sframe_witness =
            SframeWitness::new(&sections, &places.functions, None, &mut budgets, evidence);
        let mut contexts: Vec<_> = cfi.iter().map(RowContext::new).collect();
        let mut cfi_witness = CfiWitness::new(&cfi, &mut contexts);
        let comparison = Comparison {
            totals: Totals::default(),
            search: Search::new(&places, Version::V2),
            pending: None,
            wanted: Wanted::default(),
            report: &mut |_| {},
        };
        assert!(!sframe_witness.describes() && !cfi_witness.describes());
        let mut counting = Counting(comparison, 0);
        let code = crate::compare::code_of(&elf);
        sweep(&code, &mut sframe_witness, &mut cfi_witness, &mut counting);
        assert_eq!(counting.0.totals.bytes, totals.bytes);
        // Code without a description follows each function. The third is one piece, and the last has three.
        assert_eq!(counting.1, 4 + 1 + 3);
    }
}
