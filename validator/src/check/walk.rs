//! Walks over the function table and the rows, and applies the rules about functions and rows.
//!
//! There are two passes. The [survey](Walk::survey) reads everything once, and records the extent of each function and
//! which functions break a rule. Then it is known whose rows overlap, and the [report](Walk::report) visits those few
//! functions again and reports the findings. Rows that belong to another function are not reported, because they read
//! as nonsense only due to the overlap.
//!
//! Nearly every function and row of a real section is sound, and they rarely differ in the properties that rules
//! examine. The walk therefore remembers what broke no rule: shapes of functions ([`SoundFunctions`]), places of rows
//! ([`SoundPlaces`]), and contents of rows ([`SoundRows`]). A rule that examines other properties has another kind of
//! check, which runs on every function or row.

use alloc::vec::Vec;
use core::ops::Range;

use super::confirm::{Claim, Confirm, Unconfirmed};
use super::selection::Selection;
use super::sound_functions::SoundFunctions;
use super::sound_rows::SoundRows;
use crate::finding::reporter::{Collector, Doubt, Reporter};
use crate::finding::{FunctionId, Keep};
use crate::rules::CATALOGUE;
use crate::section::{FrameRowEntries, FrameRowEntry, Function, FunctionEntry, RowLayout, Version};
use crate::subject::code::{CodeMap, CodeRange};
use crate::subject::extents::{Block, CodeExtent, Extents, Totals};
use crate::subject::row_place::{RowPlace, RowSpace, SoundPlaces};
use crate::subject::shape::FunctionShape;
use crate::subject::{FunctionContext, RowContext, RowsContext, SectionContext, UnreadableRow};
use crate::unwind::CodeAddress;

/// The results of the survey.
#[derive(Debug)]
pub(crate) struct Surveyed {
    pub(crate) extents: Extents,
    pub(crate) totals: Totals,
    /// The functions that break a rule, by their index in the table.
    faulty: Vec<u32>,
}

/// A walk over one section.
pub(crate) struct Walk<'a> {
    whole: &'a SectionContext<'a>,
    code: &'a CodeMap,
    selection: &'a Selection,
    /// The section's position in the report.
    section: Option<usize>,
    /// The source that can confirm rows.
    confirm: &'a dyn Confirm,
    sound: SoundRows,
    sound_places: SoundPlaces,
    sound_functions: SoundFunctions,
    /// The bytes of rows that the pass may still read. It starts with the size of the section: rows of a sound one do not
    /// overlap.
    budget: u64,
}

/// The result of reading the rows of one function.
struct RowsRead {
    count: u32,
    /// The section offset of the end of the last row that could be read.
    end: u64,
    /// Whether all rows could be read.
    complete: bool,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        whole: &'a SectionContext<'a>,
        code: &'a CodeMap,
        selection: &'a Selection,
        section: Option<usize>,
        confirm: &'a dyn Confirm,
    ) -> Walk<'a> {
        Walk {
            whole,
            code,
            selection,
            section,
            confirm,
            sound: SoundRows::new(),
            sound_places: SoundPlaces::default(),
            sound_functions: SoundFunctions::new(),
            budget: 0,
        }
    }

    /// Reads every function and row once.
    pub(crate) fn survey(&mut self) -> Surveyed {
        // The number of entries for which there are bytes.
        let functions = usize::try_from(self.whole.section.entry_count()).unwrap_or(0);
        let mut surveyed = Surveyed {
            extents: Extents::with_capacity(functions),
            totals: Totals::default(),
            faulty: Vec::new(),
        };
        surveyed.totals.complete = self.whole.section.entry_count() == self.whole.header().num_fdes;
        self.budget = self.whole.section.data().len() as u64;
        let mut nothing = |_| ();
        let mut counter = Collector::new(CATALOGUE, Keep::First(0), &mut nothing);
        let mut range: Option<CodeRange> = None;
        let mut previous = None;
        for entry in self.whole.section.entries() {
            let before = counter.total();
            let context = self.context(entry, previous);
            range = self.range_at(&context, range);
            let source = context.shape_source(range);
            if let Ok(start) = context.start {
                previous = Some(start);
                let (size, index) = (entry.size(), entry.index());
                surveyed.extents.code.push(CodeExtent { start, size, index });
            }
            let key = source.key();
            if self.selection.thorough || !self.sound_functions.contains(key) {
                self.check_shape(&context, &source.shape(), &mut counter);
                if counter.total() == before {
                    self.sound_functions.insert(key);
                }
            }
            self.check_any_function(&context, &mut counter);
            surveyed.totals.functions += 1;
            self.survey_rows(&context, &mut surveyed, &mut counter);
            if counter.total() > before {
                surveyed.faulty.push(entry.index());
            }
        }
        surveyed.extents.sort();
        surveyed
    }

    fn survey_rows(
        &mut self,
        context: &FunctionContext<'_>,
        surveyed: &mut Surveyed,
        counter: &mut Collector<'_>,
    ) {
        let read = match &context.function {
            Ok(function) if function.fre_type().is_ok() && rows_start_inside(function) => {
                self.walk_rows::<false>(function, counter)
            }
            Ok(_) | Err(_) => {
                surveyed.totals.complete = false;
                return;
            }
        };
        surveyed.totals.complete &= read.complete;
        surveyed.totals.rows += u64::from(read.count);
        let start = context.entry.fre_offset();
        let end = read.end.saturating_sub(self.whole.header().fre_start());
        let end = u32::try_from(end).unwrap_or(u32::MAX).max(start);
        surveyed.extents.blocks.push(Block { start, end, index: context.entry.index() });
    }

    /// Reports the findings of functions that break a rule. `suspects` is a sorted list of functions whose rows may
    /// belong to another function.
    pub(crate) fn report(
        &mut self,
        surveyed: &Surveyed,
        suspects: &[u32],
        collector: &mut Collector<'_>,
    ) {
        self.budget = self.whole.section.data().len() as u64;
        for &index in &surveyed.faulty {
            let Some(entry) = self.whole.section.entry(index) else { continue };
            let before = index.checked_sub(1).and_then(|index| self.whole.section.entry(index));
            let previous = before.and_then(|entry| entry.start().ok());
            let context = self.context(entry, previous);
            let mut shape = context.shape_source(self.range_at(&context, None)).shape();
            let suspect = suspects.binary_search(&index).is_ok();
            // Since version 3, the attributes are stored with the rows, and belong to another function like these.
            let foreign_attributes = suspect && self.whole.header().version >= Version::V3;
            if foreign_attributes {
                shape.attributes = None;
            }
            self.check_shape(&context, &shape, collector);
            if !foreign_attributes {
                self.check_any_function(&context, collector);
            }
            if let Ok(function) = &context.function
                && !suspect
                && rows_start_inside(function)
            {
                self.walk_rows::<true>(function, collector);
            }
        }
    }

    // This is part of the survey's loop, and inlining keeps most of it in registers.
    #[inline(always)]
    fn context(
        &self,
        entry: FunctionEntry<'a>,
        previous: Option<CodeAddress>,
    ) -> FunctionContext<'a> {
        FunctionContext {
            whole: self.whole,
            entry,
            function: entry.function(),
            start: entry.start(),
            previous,
            code: self.code,
        }
    }

    /// The range of code in which the function starts; `before` is the range of another function.
    #[inline]
    fn range_at(
        &self,
        context: &FunctionContext<'_>,
        before: Option<CodeRange>,
    ) -> Option<CodeRange> {
        let start = context.start.ok()?;
        let containing = || self.code.containing(start).copied();
        before.filter(|range| range.contains(start, 1)).or_else(containing)
    }

    /// Applies the rules that depend on the function's shape.
    #[inline(never)]
    fn check_shape(
        &self,
        context: &FunctionContext<'_>,
        shape: &FunctionShape,
        collector: &mut Collector<'_>,
    ) {
        let mut reporter = self.entry_reporter(&context.entry, collector);
        for rule in &self.selection.function {
            (rule.check)(shape, context, reporter.for_rule(rule.index));
        }
    }

    /// Applies the rules that depend on more than the function's shape.
    #[inline]
    fn check_any_function(&self, context: &FunctionContext<'_>, collector: &mut Collector<'_>) {
        if self.selection.any_function.is_empty() {
            return;
        }
        let mut reporter = self.entry_reporter(&context.entry, collector);
        for rule in &self.selection.any_function {
            (rule.check)(context, reporter.for_rule(rule.index));
        }
    }

    /// Reads the rows of a function and applies the rules. With `REPORT`, no row is reported after one with an error:
    /// if that error is about its length, the following bytes are not rows.
    fn walk_rows<const REPORT: bool>(
        &mut self,
        function: &Function<'_>,
        collector: &mut Collector<'_>,
    ) -> RowsRead {
        let Ok(mut entries) = function.frame_row_entries() else {
            return RowsRead { count: 0, end: function.first_row_offset(), complete: false };
        };
        let layout = RowLayout::of(function);
        let space = RowSpace::of(function);
        let size = function.size();
        let learns = self.selection.learns_rows();
        let errors = collector.errors();
        let mut budget = self.budget;
        let mut previous: Option<FrameRowEntry<'_>> = None;
        let mut together = RowsContext::new(function);
        let mut index = 0;
        let mut complete = true;
        loop {
            if learns && let Ok(layout) = &layout {
                index +=
                    self.pass_sound(&mut entries, &mut previous, (&space, layout), &mut budget);
            }
            let row = match entries.next() {
                Some(Ok(row)) => row,
                Some(Err(error)) => {
                    let unreadable = UnreadableRow { function, error };
                    self.check_unreadable(&unreadable, index, collector);
                    complete = false;
                    break;
                }
                None => break,
            };
            let Some(rest) = budget.checked_sub(row.size()) else {
                complete = false;
                break;
            };
            budget = rest;
            if let Ok(layout) = &layout {
                let before = previous.as_ref().map(|row| row.start);
                let place = space.place(row.start, before);
                let known = self.sound_places.contains(place) && self.sound.contains(&row, layout);
                if !(learns && known) {
                    let context = RowContext {
                        function,
                        row: &row,
                        index,
                        previous: previous.as_ref(),
                        end: entries.peek_start().map_or(size, |next| next.min(size)),
                        layout,
                        frame: layout.interpret(&row),
                        red_zone: self.whole.section.placement().red_zone,
                    };
                    if !self.selection.rows_of.is_empty() {
                        together.add(&context);
                    }
                    self.check_row::<REPORT>(&context, place, collector);
                }
            }
            if REPORT && collector.errors() > errors {
                complete = false;
                break;
            }
            previous = Some(row);
            index += 1;
        }
        self.budget = budget;
        if !self.selection.rows_of.is_empty() && together.count == function.num_rows() {
            self.check_rows_of(&together, collector);
        }
        RowsRead { count: index, end: entries.offset(), complete }
    }

    /// Skips rows at ordinary places that are known to be sound, and returns their number. `previous` is then the last
    /// of them.
    fn pass_sound<'r>(
        &self,
        entries: &mut FrameRowEntries<'r>,
        previous: &mut Option<FrameRowEntry<'r>>,
        (space, layout): (&RowSpace, &RowLayout),
        budget: &mut u64,
    ) -> u32 {
        let mut before = previous.as_ref().map(|row| row.start);
        let ordinary = self.sound_places.contains_ordinary(space);
        let mut left = *budget;
        let mut size = 0;
        let mut count = 0;
        while let Some(row) = entries.short()
            && ordinary
            && space.is_ordinary(row.start, before)
            && self.sound.contains_short(&row, layout)
            && let Some(rest) = left.checked_sub(row.size as u64)
        {
            left = rest;
            entries.pass(&row);
            before = Some(row.start);
            size = row.size;
            count += 1;
        }
        *budget = left;
        if count > 0 && entries.remaining() > 0 {
            *previous = entries.before(size);
        }
        count
    }

    /// With `REPORT`, asks the confirming source about warnings about values. The survey, which runs first, counts them
    /// all.
    fn check_row<const REPORT: bool>(
        &mut self,
        context: &RowContext<'_>,
        place: RowPlace,
        collector: &mut Collector<'_>,
    ) {
        let row = context.row.offset..context.row.offset + context.row.size();
        let entry = context.function.entry();
        let mut reporter = self.reporter(entry, Some(context.index), row, collector);
        if self.selection.thorough || !self.sound_places.contains(place) {
            for rule in &self.selection.row_place {
                (rule.check)(place, context, reporter.for_rule(rule.index));
            }
            if !reporter.reported {
                self.sound_places.insert(place);
            }
        }
        for rule in &self.selection.any_row {
            (rule.check)(context, reporter.for_rule(rule.index));
        }
        if !self.selection.thorough && self.sound.contains(context.row, context.layout) {
            return;
        }
        let claim = Claim::new(context, if REPORT { self.confirm } else { &Unconfirmed });
        let is_confirmed = || claim.is_confirmed();
        let instead = self.selection.confirmed;
        let doubt = Doubt { is_confirmed: &is_confirmed, instead };
        let mut reporter = Reporter { doubt: None, reported: false, ..reporter };
        for rule in &self.selection.row_content {
            reporter.doubt = rule.check.confirmable.then_some(doubt);
            (rule.check.check)(context, reporter.for_rule(rule.index));
        }
        // A confirmed row is not sound: the same content may not be confirmed elsewhere.
        if !reporter.reported {
            self.sound.insert(context.row, context.layout);
        }
    }

    fn entry_reporter<'r>(
        &self,
        entry: &FunctionEntry<'_>,
        collector: &'r mut Collector<'_>,
    ) -> Reporter<'r> {
        let start = entry.offset();
        let subject = start..start + self.whole.header().version.entry_size();
        self.reporter(entry, None, subject, collector)
    }

    fn check_rows_of(&self, context: &RowsContext<'_>, collector: &mut Collector<'_>) {
        let mut reporter = self.entry_reporter(context.function.entry(), collector);
        for rule in &self.selection.rows_of {
            (rule.check)(context, reporter.for_rule(rule.index));
        }
    }

    fn check_unreadable(
        &self,
        context: &UnreadableRow<'_>,
        index: u32,
        collector: &mut Collector<'_>,
    ) {
        let mut reporter = self.reporter(context.function.entry(), Some(index), 0..0, collector);
        for rule in &self.selection.unreadable_row {
            (rule.check)(context, reporter.for_rule(rule.index));
        }
    }

    /// A reporter about a function or one of its rows, for each rule in turn.
    fn reporter<'r>(
        &self,
        entry: &FunctionEntry<'_>,
        row: Option<u32>,
        subject: Range<u64>,
        collector: &'r mut Collector<'_>,
    ) -> Reporter<'r> {
        let id = FunctionId::of(entry);
        Reporter {
            collector,
            rule: 0,
            section: self.section,
            function: Some(id),
            row,
            subject,
            doubt: None,
            reported: false,
        }
    }
}

/// Whether the function's offset of rows leads into the FRE sub-section, or the function has no rows. Since version 3,
/// the offset leads to the attributes; if these end the sub-section, the first row is missing.
fn rows_start_inside(function: &Function<'_>) -> bool {
    let header = function.section().header();
    let (first, end) = (function.first_row_offset(), header.fre_end());
    let inside = if header.version < Version::V3 { first < end } else { first <= end };
    function.num_rows() == 0 || inside
}
