//! The walk over the function table and the rows: applies the rules about functions and rows.
//!
//! Nearly every function and row of a real section is sound, so the walk first asks one cheap
//! question that no sound one fails ([`plain_function`], [`RowWalk::plain_place`]) and runs the
//! rules one by one only where the answer is no. What a row says depends on few bytes that recur:
//! those known to be sound are remembered ([`SoundRows`]). With lints every rule runs everywhere.

use alloc::vec::Vec;
use core::ops::Range;

use super::Selection;
use super::code::{CodeMap, CodeRange};
use super::extents::{Block, CodeExtent, Extents, Totals};
use super::reporter::{Collector, Parked, Reporter};
use crate::abi::Abi;
use crate::finding::FunctionId;
use crate::rules::context::{
    Check, FunctionContext, RowContext, RowsContext, SectionContext, UnreadableRow,
};
use crate::section::{FrameRowEntry, Function, FunctionInfo, FunctionInfo2, RowLayout};

/// What a walk leaves behind for the rules about everything taken together.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) extents: Extents,
    pub(crate) totals: Totals,
    /// Findings about a function's rows, with the function's place in the table.
    pub(crate) parked: Vec<(u32, Parked)>,
}

/// Walks the section, reports what is wrong with functions, and parks what is wrong with rows.
pub(crate) fn walk(
    whole: &SectionContext<'_>,
    code: &CodeMap,
    selection: &Selection,
    collector: &mut Collector,
    section: Option<usize>,
) -> Walked {
    let mut walked = Walked::default();
    walked.totals.complete = whole.section.entry_count() == whole.header().num_fdes;
    let mut rows = RowWalk {
        selection,
        section,
        budget: whole.section.data().len() as u64,
        sound: SoundRows::new(),
    };
    let mut previous = None;
    let mut range: Option<CodeRange> = None;
    for entry in whole.section.entries() {
        walked.totals.functions += 1;
        let function = entry.function();
        let start = entry.start();
        if let Ok(start) = start {
            range =
                range.filter(|range| range.contains(start, 1)).or(code.containing(start).copied());
        }
        let context = FunctionContext { whole, entry, function, start, previous, code };
        if !selection.quick || !plain_function(&context, range) {
            check_function(&context, selection, collector, section);
        }
        if let Ok(start) = start {
            previous = Some((start, entry.size()));
            walked.extents.code.push(CodeExtent {
                start,
                size: entry.size(),
                index: entry.index(),
            });
        }
        let Ok(function) = function else {
            walked.totals.complete = false;
            continue;
        };
        let mut parked = Parked::default();
        rows.walk(&function, collector, &mut parked, &mut walked);
        if !parked.is_empty() {
            walked.parked.push((entry.index(), parked));
        }
    }
    walked.extents.sort();
    walked
}

/// What a function's findings have in common.
fn identify(function: &FunctionContext<'_>) -> FunctionId {
    FunctionId {
        index: function.entry.index(),
        start: function.start.ok(),
        size: function.entry.size(),
    }
}

fn check_function(
    context: &FunctionContext<'_>,
    selection: &Selection,
    collector: &mut Collector,
    section: Option<usize>,
) {
    let entry = context.entry.offset();
    let size = context.whole.header().version.entry_size();
    for rule in &selection.function {
        let Check::Function(check) = rule.rule.check else { continue };
        let mut reporter = Reporter {
            collector,
            parked: None,
            rule: rule.index,
            section,
            function: Some(identify(context)),
            row: None,
            subject: entry..entry + size,
        };
        check(context, &mut reporter);
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

struct RowWalk<'a> {
    selection: &'a Selection,
    section: Option<usize>,
    /// Bytes of rows that may still be read: rows do not overlap in a sound section, so a walk
    /// that reads more than the section holds has seen an overlap, and stops.
    budget: u64,
    sound: SoundRows,
}

impl RowWalk<'_> {
    fn walk(
        &mut self,
        function: &Function<'_>,
        collector: &mut Collector,
        parked: &mut Parked,
        walked: &mut Walked,
    ) {
        let (Ok(mut entries), layout) = (function.frame_row_entries(), RowLayout::of(function))
        else {
            walked.totals.complete = false;
            return;
        };
        let base = function.section().header().fre_start();
        let length = row_space(function);
        let alignment = function.section().abi().map_or(1, Abi::instruction_alignment);
        let mut previous: Option<FrameRowEntry<'_>> = None;
        let mut index = 0;
        let mut together = RowsContext::new(function);
        for entry in entries.by_ref() {
            let row = match entry {
                Ok(row) => row,
                Err(error) => {
                    walked.totals.complete = false;
                    let unreadable = UnreadableRow { function, error };
                    self.check_unreadable(&unreadable, index, collector, parked);
                    break;
                }
            };
            match self.budget.checked_sub(row.size()) {
                Some(rest) => self.budget = rest,
                None => {
                    walked.totals.complete = false;
                    break;
                }
            }
            if let Ok(layout) = &layout {
                let plain =
                    self.selection.quick && plain_place(&row, previous.as_ref(), length, alignment);
                if !(plain && self.sound.contains(&row, layout)) {
                    let context = RowContext {
                        function,
                        row: &row,
                        index,
                        previous: previous.as_ref(),
                        layout,
                        frame: layout.interpret(&row),
                    };
                    if !self.selection.rows_of.is_empty() {
                        together.add(&context);
                    }
                    self.check_row(&context, plain, collector, parked);
                }
            }
            previous = Some(row);
            index += 1;
        }
        if together.count == function.num_rows() {
            self.check_rows_of(&together, collector, parked);
        }
        walked.totals.rows += u64::from(index);
        let first = function.entry().fre_offset();
        let end = entries.offset().saturating_sub(base);
        let end = u32::try_from(end).unwrap_or(u32::MAX).max(first);
        walked.extents.blocks.push(Block { start: first, end, index: function.index() });
    }

    fn check_row(
        &mut self,
        context: &RowContext<'_>,
        plain_place: bool,
        collector: &mut Collector,
        parked: &mut Parked,
    ) {
        if !plain_place {
            for rule in &self.selection.row_place {
                let Check::RowPlace(check) = rule.rule.check else { continue };
                check(context, &mut self.reporter(rule.index, context, collector, parked));
            }
        }
        if !self.selection.thorough && self.sound.contains(context.row, context.layout) {
            return;
        }
        let before = parked.total();
        for rule in &self.selection.row_content {
            let Check::RowContent(check) = rule.rule.check else { continue };
            check(context, &mut self.reporter(rule.index, context, collector, parked));
        }
        if parked.total() == before {
            self.sound.insert(context.row, context.layout);
        }
    }

    fn reporter<'r>(
        &self,
        rule: usize,
        context: &RowContext<'_>,
        collector: &'r mut Collector,
        parked: &'r mut Parked,
    ) -> Reporter<'r> {
        let row = context.row.offset..context.row.offset + context.row.size();
        self.reporter_at(rule, context.function, context.index, row, collector, parked)
    }

    fn reporter_at<'r>(
        &self,
        rule: usize,
        function: &Function<'_>,
        row: u32,
        subject: Range<u64>,
        collector: &'r mut Collector,
        parked: &'r mut Parked,
    ) -> Reporter<'r> {
        let function = FunctionId {
            index: function.index(),
            start: function.start().ok(),
            size: function.size(),
        };
        Reporter {
            collector,
            parked: Some(parked),
            rule,
            section: self.section,
            function: Some(function),
            row: Some(row),
            subject,
        }
    }

    fn check_rows_of(
        &self,
        context: &RowsContext<'_>,
        collector: &mut Collector,
        parked: &mut Parked,
    ) {
        let entry = context.function.entry().offset();
        let size = context.function.section().header().version.entry_size();
        for rule in &self.selection.rows_of {
            let Check::RowsOf(check) = rule.rule.check else { continue };
            let mut reporter = self.reporter_at(
                rule.index,
                context.function,
                0,
                entry..entry + size,
                collector,
                parked,
            );
            reporter.row = None;
            check(context, &mut reporter);
        }
    }

    fn check_unreadable(
        &self,
        context: &UnreadableRow<'_>,
        index: u32,
        collector: &mut Collector,
        parked: &mut Parked,
    ) {
        for rule in &self.selection.unreadable_row {
            let Check::UnreadableRow(check) = rule.rule.check else { continue };
            let mut reporter =
                self.reporter_at(rule.index, context.function, index, 0..0, collector, parked);
            check(context, &mut reporter);
        }
    }
}

/// Bytes that a function's rows can start in: of the function, or of its repeated block.
fn row_space(function: &Function<'_>) -> u32 {
    match function.repeat_size() {
        Ok(Some(block)) => u32::from(block),
        Ok(None) | Err(_) => function.size(),
    }
}

/// Whether no rule about a row's place above lint level can find fault with it: on an instruction
/// boundary, in the function, behind the row before it, the first one at the start.
#[inline]
fn plain_place(
    row: &FrameRowEntry<'_>,
    previous: Option<&FrameRowEntry<'_>>,
    length: u32,
    alignment: u32,
) -> bool {
    let ordered = match previous {
        Some(previous) => previous.start < row.start,
        None => row.start == 0,
    };
    ordered && row.start < length && row.start & (alignment - 1) == 0
}

/// Rows whose content broke no rule, by info byte and data words. Forgets: a row may have to be
/// looked at again, never is one passed over that was not found sound.
struct SoundRows {
    known: Vec<(u64, u16)>,
}

impl SoundRows {
    /// A power of two; real sections have a few hundred different rows.
    const SLOTS: usize = 512;
    /// No row has this key: its low byte is an info byte, bit 8 says flexible.
    const NONE: (u64, u16) = (0, u16::MAX);

    fn new() -> SoundRows {
        SoundRows { known: alloc::vec![SoundRows::NONE; SoundRows::SLOTS] }
    }

    /// What rows of equal content have in common; `None` for rows too long to remember.
    #[inline]
    fn key(row: &FrameRowEntry<'_>, layout: &RowLayout) -> Option<(u64, u16)> {
        let bytes = row.words.bytes();
        if bytes.len() > 8 {
            return None;
        }
        let words = bytes.iter().fold(0, |words, &byte| words << 8 | u64::from(byte));
        // The info byte says how many bytes there are.
        let kind = u16::from(row.info.0) | u16::from(layout.flexible) << 8;
        Some((words, kind))
    }

    #[inline]
    fn slot(key: (u64, u16)) -> usize {
        let mixed = (key.0 ^ u64::from(key.1) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        usize::try_from(mixed >> 55).unwrap_or(0)
    }

    #[inline]
    fn contains(&self, row: &FrameRowEntry<'_>, layout: &RowLayout) -> bool {
        SoundRows::key(row, layout)
            .is_some_and(|key| self.known.get(SoundRows::slot(key)) == Some(&key))
    }

    fn insert(&mut self, row: &FrameRowEntry<'_>, layout: &RowLayout) {
        let Some(key) = SoundRows::key(row, layout) else { return };
        if let Some(slot) = self.known.get_mut(SoundRows::slot(key)) {
            *slot = key;
        }
    }
}
