//! The walk over the function table and the rows: applies the rules about functions and rows.
//!
//! It goes over the section twice. The [survey](Walk::survey) reads everything once, notes what
//! each function takes up, and which functions break a rule. When it is known whose rows overlap,
//! the [report](Walk::report) looks at those few functions again and says what is wrong: nothing
//! about rows that are another function's, which read as nonsense and follow from the overlap.
//!
//! Nearly every function and row of a real section is sound, so the survey first asks one cheap
//! question that no faulty one passes ([`plain_function`], [`plain_place`]) and runs the rules one
//! by one only where the answer is no. What a row says depends on few bytes that recur: those
//! known to be sound are remembered ([`SoundRows`]). With lints every rule runs everywhere.

use alloc::vec::Vec;
use core::ops::Range;

use super::Selection;
use super::confirm::{Claim, Confirm, Unconfirmed};
use super::sound_rows::SoundRows;
use crate::abi::Abi;
use crate::finding::reporter::{Collector, Doubt, Reporter};
use crate::finding::{FunctionId, Keep};
use crate::rules::CATALOGUE;
use crate::rules::entry::Check;
use crate::section::{
    FrameRowEntries, FrameRowEntry, Function, FunctionEntry, FunctionInfo, FunctionInfo2,
    RowLayout, Version,
};
use crate::subject::code::{CodeMap, CodeRange};
use crate::subject::extents::{Block, CodeExtent, Extents, Totals};
use crate::subject::{FunctionContext, RowContext, RowsContext, SectionContext, UnreadableRow};

/// What the survey leaves behind.
#[derive(Debug)]
pub(crate) struct Surveyed {
    pub(crate) extents: Extents,
    pub(crate) totals: Totals,
    /// Functions that break a rule, by their place in the table.
    faulty: Vec<u32>,
}

/// A walk over one section.
pub(crate) struct Walk<'a> {
    whole: &'a SectionContext<'a>,
    code: &'a CodeMap,
    selection: &'a Selection,
    /// The section's position in the report.
    section: Option<usize>,
    /// Who may confirm rows.
    confirm: &'a dyn Confirm,
    sound: SoundRows,
}

/// What came of reading the rows of one function.
struct RowsRead {
    count: u32,
    /// Section offset behind the last row that could be read.
    end: u64,
    /// All rows could be read.
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
        Walk { whole, code, selection, section, confirm, sound: SoundRows::new() }
    }

    /// Reads every function and row once.
    pub(crate) fn survey(&mut self) -> Surveyed {
        // As many as there are bytes for.
        let functions = usize::try_from(self.whole.section.entry_count()).unwrap_or(0);
        let mut surveyed = Surveyed {
            extents: Extents::with_capacity(functions),
            totals: Totals::default(),
            faulty: Vec::new(),
        };
        surveyed.totals.complete = self.whole.section.entry_count() == self.whole.header().num_fdes;
        // Rows do not overlap in a sound section: who reads more bytes of them than the section
        // has, has seen an overlap, and need not go on.
        let mut budget = self.whole.section.data().len() as u64;
        let mut counter = Collector::new(CATALOGUE, Keep::First(0));
        let mut range: Option<CodeRange> = None;
        let mut previous = None;
        for entry in self.whole.section.entries() {
            let before = counter.total();
            let context = self.context(entry, previous);
            if let Ok(start) = context.start {
                let containing = || self.code.containing(start).copied();
                range = range.filter(|range| range.contains(start, 1)).or_else(containing);
                let size = entry.size();
                previous = Some((start, size));
                let index = entry.index();
                surveyed.extents.code.push(CodeExtent { start, size, index });
            }
            if !self.selection.quick || !plain_function(&context, range) {
                self.check_function(&context, true, &mut counter);
            }
            surveyed.totals.functions += 1;
            self.survey_rows(&context, &mut surveyed, &mut budget, &mut counter);
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
        budget: &mut u64,
        counter: &mut Collector,
    ) {
        let read = match &context.function {
            Ok(function) if function.fre_type().is_ok() && rows_start_inside(function) => {
                self.walk_rows::<false>(function, budget, counter)
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

    /// Says what is wrong with the functions that break a rule. Of those in `suspects`, ordered,
    /// the rows may be another function's.
    pub(crate) fn report(
        &mut self,
        surveyed: &Surveyed,
        suspects: &[u32],
        collector: &mut Collector,
    ) {
        let mut budget = self.whole.section.data().len() as u64;
        for &index in &surveyed.faulty {
            let Some(entry) = self.whole.section.entry(index) else { continue };
            let before = index.checked_sub(1).and_then(|index| self.whole.section.entry(index));
            let previous = before.and_then(|entry| Some((entry.start().ok()?, entry.size())));
            let context = self.context(entry, previous);
            let suspect = suspects.binary_search(&index).is_ok();
            self.check_function(&context, !suspect, collector);
            if let Ok(function) = &context.function
                && !suspect
                && rows_start_inside(function)
            {
                self.walk_rows::<true>(function, &mut budget, collector);
            }
        }
    }

    fn context(
        &self,
        entry: FunctionEntry<'a>,
        previous: Option<(crate::section::CodeAddress, u32)>,
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

    /// `own_rows`: what the function's offset of rows leads to is its own. Since version 3 its
    /// attributes stand there as well.
    fn check_function(
        &self,
        context: &FunctionContext<'_>,
        own_rows: bool,
        collector: &mut Collector,
    ) {
        let entry = context.entry.offset();
        let size = context.whole.header().version.entry_size();
        let id = FunctionId::of(&context.entry);
        let attributes = own_rows || context.whole.header().version < Version::V3;
        for rule in &self.selection.function {
            let check = match *rule.check {
                Check::Function(check) => check,
                Check::Attributes(check) if attributes => check,
                _ => continue,
            };
            check(
                context,
                &mut Reporter {
                    collector,
                    rule: rule.index,
                    section: self.section,
                    function: Some(id),
                    row: None,
                    subject: entry..entry + size,
                    doubt: None,
                    spoke: false,
                },
            );
        }
    }

    /// Reads the rows of a function and applies the rules. With `REPORT`, nothing more is said
    /// behind a row of error level: where it misleads about its length, what follows is nonsense.
    fn walk_rows<const REPORT: bool>(
        &mut self,
        function: &Function<'_>,
        budget: &mut u64,
        collector: &mut Collector,
    ) -> RowsRead {
        let Ok(mut entries) = function.frame_row_entries() else {
            return RowsRead { count: 0, end: function.first_row_offset(), complete: false };
        };
        let layout = RowLayout::of(function);
        let space = RowSpace::of(function);
        let size = function.size();
        let errors = collector.errors();
        let mut previous: Option<FrameRowEntry<'_>> = None;
        let mut together = RowsContext::new(function);
        let mut index = 0;
        let mut complete = true;
        loop {
            if self.selection.quick && layout.is_ok() {
                index += self.pass_plain(&mut entries, &mut previous, &space, budget);
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
            *budget = rest;
            if let Ok(layout) = &layout {
                let before = previous.as_ref().map(|row| row.start);
                let plain = self.selection.quick && space.is_plain(row.start, before);
                if !(plain && self.sound.contains(&row, layout)) {
                    let context = RowContext {
                        function,
                        row: &row,
                        index,
                        previous: previous.as_ref(),
                        end: entries.peek_start().map_or(size, |next| next.min(size)),
                        layout,
                        frame: layout.interpret(&row),
                    };
                    if !self.selection.rows_of.is_empty() {
                        together.add(&context);
                    }
                    self.check_row::<REPORT>(&context, plain, collector);
                }
            }
            if REPORT && collector.errors() > errors {
                complete = false;
                break;
            }
            previous = Some(row);
            index += 1;
        }
        if together.count == function.num_rows() {
            self.check_rows_of(&together, collector);
        }
        RowsRead { count: index, end: entries.offset(), complete }
    }

    /// Passes over rows that no rule above lint level can find fault with: how many. Behind them
    /// `previous` is the last one.
    fn pass_plain<'r>(
        &self,
        entries: &mut FrameRowEntries<'r>,
        previous: &mut Option<FrameRowEntry<'r>>,
        space: &RowSpace,
        budget: &mut u64,
    ) -> u32 {
        let mut before = previous.as_ref().map(|row| row.start);
        let mut left = *budget;
        let mut size = 0;
        let mut count = 0;
        while let Some(row) = entries.short()
            && space.is_plain(row.start, before)
            && self.sound.contains_short(&row, space.flexible)
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

    /// With `REPORT`, warnings about values are put to who may confirm them; the survey before it
    /// notes them all.
    fn check_row<const REPORT: bool>(
        &mut self,
        context: &RowContext<'_>,
        plain_place: bool,
        collector: &mut Collector,
    ) {
        if !plain_place {
            for rule in &self.selection.row_place {
                let Check::RowPlace(check) = *rule.check else { continue };
                check(context, &mut self.row_reporter(rule.index, context, collector));
            }
        }
        if !self.selection.thorough && self.sound.contains(context.row, context.layout) {
            return;
        }
        let claim = Claim::new(context, if REPORT { self.confirm } else { &Unconfirmed });
        let is_confirmed = || claim.is_confirmed();
        let instead = self.selection.confirmed;
        let doubt = Doubt { is_confirmed: &is_confirmed, instead };
        let mut sound = true;
        for rule in &self.selection.row_content {
            let mut reporter = self.row_reporter(rule.index, context, collector);
            match *rule.check {
                Check::RowContent(check) => check(context, &mut reporter),
                Check::RowValues(check) => {
                    reporter.doubt = Some(doubt);
                    check(context, &mut reporter);
                }
                _ => continue,
            }
            // A confirmed row is not sound: the same content elsewhere may not be confirmed.
            sound &= !reporter.spoke;
        }
        if sound {
            self.sound.insert(context.row, context.layout);
        }
    }

    fn check_rows_of(&self, context: &RowsContext<'_>, collector: &mut Collector) {
        let entry = context.function.entry().offset();
        let size = self.whole.header().version.entry_size();
        for rule in &self.selection.rows_of {
            let Check::RowsOf(check) = *rule.check else { continue };
            let subject = entry..entry + size;
            let function = context.function;
            check(context, &mut self.reporter(rule.index, function, None, subject, collector));
        }
    }

    fn check_unreadable(&self, context: &UnreadableRow<'_>, index: u32, collector: &mut Collector) {
        for rule in &self.selection.unreadable_row {
            let Check::UnreadableRow(check) = *rule.check else { continue };
            let function = context.function;
            check(context, &mut self.reporter(rule.index, function, Some(index), 0..0, collector));
        }
    }

    fn row_reporter<'r>(
        &self,
        rule: usize,
        context: &RowContext<'_>,
        collector: &'r mut Collector,
    ) -> Reporter<'r> {
        let row = context.row.offset..context.row.offset + context.row.size();
        self.reporter(rule, context.function, Some(context.index), row, collector)
    }

    fn reporter<'r>(
        &self,
        rule: usize,
        function: &Function<'_>,
        row: Option<u32>,
        subject: Range<u64>,
        collector: &'r mut Collector,
    ) -> Reporter<'r> {
        let id = FunctionId::of(function.entry());
        Reporter {
            collector,
            rule,
            section: self.section,
            function: Some(id),
            row,
            subject,
            doubt: None,
            spoke: false,
        }
    }
}

/// Whether no rule about functions above lint level can find fault with the function: ordinary
/// attributes, and a place in known code behind the function before it.
fn plain_function(context: &FunctionContext<'_>, range: Option<CodeRange>) -> bool {
    let (Ok(function), Ok(start), Some(abi)) = (&context.function, context.start, context.abi())
    else {
        return false;
    };
    let attributes = function.attributes();
    let ordinary_info = match abi {
        Abi::Aarch64Big | Abi::Aarch64Little => FunctionInfo::PAUTH_KEY_B,
        Abi::Amd64 | Abi::S390x => 0,
    };
    let plain_attributes = attributes.info.0 & !ordinary_info <= 2
        && attributes.info2.0 == FunctionInfo2::DEFAULT
        && attributes.rep_size == 0
        && attributes.padding == 0
        && attributes.num_fres > 0
        && context.entry.fre_offset() < context.whole.header().fre_len;
    let size = context.entry.size();
    let plain_place = start.address != 0
        && start.address % u64::from(abi.instruction_alignment()) == 0
        && start.address.checked_add(u64::from(size)).is_some()
        && size > 0
        && match range {
            Some(range) => range.contains(start, u64::from(size)),
            None => !context.code.is_known(),
        };
    let behind_previous = context.previous.is_none_or(|(before, before_size)| {
        before.section == start.section
            && before_size > 0
            && before.address.saturating_add(u64::from(before_size)) <= start.address
    });
    plain_attributes && plain_place && behind_previous
}

/// Whether the function's offset of rows leads into the FRE sub-section, or it has none. Since
/// version 3 its attributes stand there: where they end the sub-section, the first row is missing.
fn rows_start_inside(function: &Function<'_>) -> bool {
    let header = function.section().header();
    let (first, end) = (function.first_row_offset(), header.fre_end());
    let inside = if header.version < Version::V3 { first < end } else { first <= end };
    function.num_rows() == 0 || inside
}

/// Where the rows of a function can start.
struct RowSpace {
    /// Bytes of the function, or of its repeated block.
    length: u32,
    /// The machine's alignment of instructions.
    alignment: u32,
    /// The function's rows are flexible.
    flexible: bool,
}

impl RowSpace {
    fn of(function: &Function<'_>) -> RowSpace {
        let length = match function.repeat_size() {
            Ok(Some(block)) => u32::from(block),
            Ok(None) | Err(_) => function.size(),
        };
        let alignment = function.section().abi().map_or(1, Abi::instruction_alignment);
        RowSpace { length, alignment, flexible: function.is_flexible() }
    }

    /// Whether no rule about a row's place above lint level can find fault with it: on an
    /// instruction boundary, in the function, behind the row before it, the first one at the start.
    #[inline]
    fn is_plain(&self, start: u32, before: Option<u32>) -> bool {
        let ordered = match before {
            Some(before) => before < start,
            None => start == 0,
        };
        ordered && start < self.length && start & (self.alignment - 1) == 0
    }
}
