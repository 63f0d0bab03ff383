//! Collects the results of the sweep.

use sframe_validator::elf::Elf;
use sframe_validator::finding::{CodeSpan, Finding};
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Section, Version};

use super::differences::Differences;
use super::group::Judge;
use super::message;
use super::place::function_of;
use super::tally::Tally;
use super::undecided::Reasons;
use super::without_entry::Search;
use super::{Account, Difference, EXAMPLES, Limit, Loss, Options, defects, two_sections};
use crate::cfi::{Cfi, CfiError, Evaluation, Fde, RowContext};
use crate::code::Program;
use crate::compare::{
    Event, Fields, FunctionCounts, Proofs, Range, Refutation, Tables, Totals, Verdict, Wanted,
    WrongRules, prove,
};
use crate::coverage::{Cause, Examined, Labels, Stubs, examine_rows, of_source};
use crate::rules::code::REGISTER_CONTRADICTS_CODE;
use crate::rules::comparison::{SFRAME_WITHOUT_CFI, UNEXPLAINED_LOSS};
use crate::witness::{CodeRange, SframeFunction, Statement, hidden};

/// A limit, and the last function that had it.
#[derive(Clone, Copy, Debug)]
struct Limited<'c> {
    limit: Limit,
    last: Option<Fde<'c>>,
}

/// A CFI section, and its functions that were visited last.
#[derive(Debug)]
struct Source<'c, 'x> {
    cfi: &'c Cfi<'c>,
    evaluation: Evaluation<'c, 'x>,
    /// The function that was examined last, and why it is lost.
    lost: Option<(Fde<'c>, Cause)>,
    /// The function whose error was reported last.
    reported: Option<Fde<'c>>,
}

/// The source that contains a function.
#[inline]
fn source_of<'s, 'c, 'x>(
    sources: &'s mut [Source<'c, 'x>],
    function: &Fde<'c>,
) -> Option<&'s mut Source<'c, 'x>> {
    sources.iter_mut().find(|source| core::ptr::eq(source.cfi, function.cfi()))
}

/// The account while results are collected.
pub(super) struct Ledger<'s, 'c, 'x> {
    sections: &'s [Section<'s>],
    version: Version,
    stubs: Stubs,
    labels: Labels,
    /// Functions may have moved since the section was made.
    is_rewritten: bool,
    /// Where functions start that no search of the SFrame table finds.
    hidden: Vec<CodeAddress>,
    sources: Vec<Source<'c, 'x>>,
    tally: Tally,
    losses: Vec<Loss>,
    limits: Vec<Limited<'c>>,
    differences: Differences<'c>,
    judge: Judge<'s, 'c>,
    proofs: Option<Proofs>,
    findings: Vec<Finding>,
    undecided: Reasons,
    /// The functions without any entry, if they are looked for.
    without_entry: Option<Search<'s>>,
    /// What people call the table that SFrame is compared with.
    noun: &'static str,
    /// The last SFrame function without CFI.
    stray: Option<SframeFunction>,
}

impl<'s, 'c, 'x> Ledger<'s, 'c, 'x> {
    pub(super) fn new(
        judge: Judge<'s, 'c>,
        Tables { elf, sections, cfi }: Tables<'s, 'c>,
        contexts: &'x mut [RowContext],
        options: &Options,
    ) -> Ledger<'s, 'c, 'x> {
        let mut tally = Tally::new(options);
        let mut undecided = Reasons::default();
        let mut findings = Vec::new();
        defects::of_entries(cfi, &mut tally, &mut undecided, &mut findings);
        if !cfi.is_empty() {
            defects::of_places(elf, cfi, &mut tally, &mut findings);
            defects::of_search_table(elf, cfi, &mut tally, &mut findings);
            two_sections::compare(elf, cfi, &mut tally, &mut findings);
        }
        let source = |(cfi, context)| {
            let evaluation = Evaluation::new(context);
            Source { cfi, evaluation, lost: None, reported: None }
        };
        let loss = |cause| Loss { cause, functions: 0, bytes: 0, examples: Vec::new() };
        Ledger {
            sections,
            version: sections.first().map_or(Version::V3, |section| section.header().version),
            stubs: Stubs::of(elf),
            // Without SFrame, nothing was refused.
            labels: if sections.is_empty() { Labels::default() } else { Labels::of(elf, cfi) },
            is_rewritten: !sections.is_empty() && elf.is_rewritten(),
            hidden: hidden(sections),
            sources: cfi.iter().zip(contexts).map(source).collect(),
            tally,
            losses: Cause::ALL.map(loss).into(),
            limits: Vec::new(),
            differences: Differences::default(),
            judge,
            proofs: None,
            findings,
            undecided,
            without_entry: Search::of(elf, options.functions_without_entry),
            noun: cfi.first().map_or("CFI", Cfi::noun),
            stray: None,
        }
    }

    /// What the comparison is to report.
    pub(super) fn wanted(&self) -> Wanted {
        // If there are sections, the loss may be a finding.
        let sizes_without_sframe = self.sections.is_empty();
        Wanted { neither: self.without_entry.is_some(), equal: false, sizes_without_sframe }
    }

    /// Adds what the comparison reports.
    pub(super) fn add(&mut self, event: Event<'c>) {
        match event {
            Event::Range(range) => self.range(&range),
            Event::WithoutSframe(function, bytes) => {
                self.count_bytes(&function, bytes);
            }
            Event::Error(function, error) => self.error(&function, error),
        }
    }

    fn range(&mut self, range: &Range<'c>) {
        match range.verdict {
            Verdict::Different(fields) => {
                self.differences.range(range, fields, &mut self.judge, &mut self.tally);
                if !range.undecided.is_empty() {
                    self.undecided.range(range);
                }
            }
            Verdict::Limited(fields) => self.limited(range, fields),
            Verdict::OnlyCfi => self.lost(range),
            Verdict::OnlySframe => self.stray(range),
            Verdict::Undecided => self.undecided.range(range),
            Verdict::Neither => {
                if let Some(search) = &mut self.without_entry {
                    search.range(range);
                }
            }
            Verdict::Equal => {}
        }
    }

    fn error(&mut self, function: &Fde<'c>, error: CfiError) {
        let Some(source) = source_of(&mut self.sources, function) else { return };
        if source.reported.replace(*function) == Some(*function) {
            return;
        }
        let (tally, undecided) = (&mut self.tally, &mut self.undecided);
        defects::of_function(function, error, tally, undecided, &mut self.findings);
    }

    /// Adds code that only CFI describes.
    fn lost(&mut self, range: &Range<'c>) {
        let Some(Statement { function, .. }) = range.cfi else { return };
        let (cause, first) = self.count_bytes(&function, range.end - range.start);
        if first && cause == Cause::Unexplained {
            self.unexplained(range);
        }
    }

    /// Adds lost bytes of a function. Returns the cause, and whether these are the function's first lost bytes.
    fn count_bytes(&mut self, function: &Fde<'c>, bytes: u64) -> (Cause, bool) {
        let last = source_of(&mut self.sources, function).and_then(|source| source.lost);
        let known = last.filter(|(last, _)| last == function).map(|(_, cause)| cause);
        let cause = known.unwrap_or_else(|| self.first_lost(function));
        if let Some(loss) = self.losses.get_mut(cause as usize) {
            loss.bytes = loss.bytes.saturating_add(bytes);
        }
        (cause, known.is_none())
    }

    /// Determines and counts the cause of a function's loss.
    fn first_lost(&mut self, function: &Fde<'c>) -> Cause {
        let (version, stubs, labels) = (self.version, &self.stubs, &self.labels);
        let has_sframe = !self.sections.is_empty();
        let is_hidden = self.hidden.binary_search(&function.start()).is_ok();
        let examined = source_of(&mut self.sources, function).and_then(|source| {
            let rows = source.evaluation.start(function)?;
            let Examined { cause, error } = examine_rows(stubs, function, version, rows);
            let in_source = || has_sframe.then(|| of_source(function, labels)).flatten();
            let moved = self.is_rewritten.then_some(Cause::Rewritten);
            let cause = match is_hidden {
                true => Cause::Hidden,
                false => cause.or_else(in_source).or(moved).unwrap_or(Cause::Unexplained),
            };
            source.lost = Some((*function, cause));
            Some((cause, error))
        });
        let (cause, error) = examined.unwrap_or((Cause::Unreadable, None));
        if let Some(error) = error {
            self.error(function, error);
        }
        self.count_lost(function, cause);
        cause
    }

    fn count_lost(&mut self, function: &Fde<'_>, cause: Cause) {
        let Some(loss) = self.losses.get_mut(cause as usize) else { return };
        loss.functions += 1;
        if loss.examples.len() < EXAMPLES {
            let (start, size) = (function.start(), function.size());
            loss.examples.push(CodeRange { start, end: start.address.saturating_add(size) });
        }
    }

    fn unexplained(&mut self, range: &Range<'_>) {
        self.tally.count(&UNEXPLAINED_LOSS, 1);
        if !self.tally.keep(&UNEXPLAINED_LOSS) {
            return;
        }
        let sframe = match range.sframe {
            Some(_) => "SFrame has an entry without rows",
            None => "SFrame does not",
        };
        let noun = self.noun;
        let message = format!("{noun} describes this code, {sframe}, and {noun} does not show why");
        let finding = self.finding(&UNEXPLAINED_LOSS, range, message);
        self.findings.push(finding);
    }

    /// Adds code that only SFrame describes.
    fn stray(&mut self, range: &Range<'_>) {
        let Some(Statement { function, .. }) = range.sframe else { return };
        let has_cfi = self.sources.iter().any(|source| !source.cfi.is_empty());
        if !has_cfi || self.stray.replace(function) == Some(function) {
            return;
        }
        self.tally.count(&SFRAME_WITHOUT_CFI, 1);
        if self.tally.keep(&SFRAME_WITHOUT_CFI) {
            let message = format!("SFrame describes this code, {} does not", self.noun);
            let finding = self.finding(&SFRAME_WITHOUT_CFI, range, message);
            self.findings.push(finding);
        }
    }

    /// A finding about the SFrame function of a range, if there is one.
    fn finding(
        &self,
        rule: &'static sframe_validator::rules::Rule,
        range: &Range<'_>,
        message: String,
    ) -> Finding {
        let mut finding = defects::about_file(rule, message);
        let start = CodeAddress { section: range.section, address: range.start };
        finding.code = Some(CodeSpan { start, end: range.end });
        if let Some(Statement { function, .. }) = range.sframe
            && let Ok(number) = usize::try_from(function.section)
            && let Some(section) = self.sections.get(number)
            && let Some((function, entry)) = function_of(section, function.index)
        {
            finding.section = Some(number);
            finding.offset = Some(entry.start);
            finding.bytes = entry;
            finding.function = Some(function);
        }
        finding
    }

    /// Adds code about which the version cannot express everything.
    fn limited(&mut self, range: &Range<'c>, fields: Fields) {
        let Some(Statement { function, .. }) = range.cfi else { return };
        for field in fields.members() {
            let known = self.limits.iter().position(|known| known.limit.field == field);
            let number = known.unwrap_or(self.limits.len());
            if known.is_none() {
                let limit = Limit { field, functions: 0, bytes: 0 };
                self.limits.push(Limited { limit, last: None });
            }
            let Some(Limited { limit, last }) = self.limits.get_mut(number) else { continue };
            limit.functions += u64::from(*last != Some(function));
            limit.bytes = limit.bytes.saturating_add(range.end - range.start);
            *last = Some(function);
        }
    }

    /// Holds the rows against the code of the file.
    pub(super) fn prove(&mut self, code: &Program<'_>, elf: &Elf<'_>, cfi: &'c [Cfi<'c>]) {
        let (differences, judge, tally) = (&mut self.differences, &mut self.judge, &mut self.tally);
        let findings = &mut self.findings;
        let add = |found: Refutation<'_, 'c>| match found {
            Refutation::Rows(found) => differences.contradiction(found, judge, tally),
            Refutation::Rules(found) => {
                tally.count(REGISTER_CONTRADICTS_CODE, 1);
                if tally.keep(REGISTER_CONTRADICTS_CODE) {
                    findings.push(of_rules(found));
                }
            }
        };
        self.proofs = Some(prove(code, elf, self.sections, cfi, add));
    }

    /// Notes that the code of the file's machine is not examined.
    pub(super) fn cannot_prove(&mut self) {
        self.undecided.machine();
    }

    /// Counts functions without bytes, which the sweep does not visit.
    fn empty(&mut self, counts: &mut FunctionCounts) {
        let empty = |source: &Source<'c, '_>| -> Vec<_> {
            source.cfi.functions().filter(|function| function.size() == 0).collect()
        };
        let mut functions: Vec<_> = self.sources.iter().flat_map(empty).collect();
        if functions.is_empty() {
            return;
        }
        functions.sort_by_key(Fde::start);
        functions.dedup_by_key(|function| function.start());
        let entries = self.sections.iter().flat_map(Section::entries);
        let mut in_sframe: Vec<_> =
            entries.filter(|e| e.size() == 0).filter_map(|e| e.start().ok()).collect();
        in_sframe.sort_unstable();
        for function in functions {
            if in_sframe.binary_search(&function.start()).is_ok() {
                counts.both += 1;
            } else {
                counts.only_cfi += 1;
                self.count_lost(&function, Cause::ZeroSize);
            }
        }
    }

    /// The account without differences, which go to `found`.
    pub(super) fn finish(
        mut self,
        totals: Totals,
        found: &mut dyn FnMut(Difference<'c>),
    ) -> Account<'c> {
        let Totals { bytes: mut sums, mut functions } = totals;
        let alike = self.differences.alike;
        sums.different = sums.different.saturating_sub(alike);
        sums.equal = sums.equal.saturating_add(alike);
        self.empty(&mut functions);
        self.limits.sort_by_key(|limited| limited.limit.field);
        self.differences.finish(self.sections, found);
        Account {
            sums,
            functions,
            losses: self.losses.into_iter().filter(|loss| loss.functions > 0).collect(),
            without_entry: self.without_entry.map(Search::finish),
            limits: self.limits.into_iter().map(|limited| limited.limit).collect(),
            differences: Vec::new(),
            proofs: self.proofs,
            findings: self.findings,
            counts: self.tally.counts(),
            known: self.tally.known(),
            undecided: self.undecided.finish(functions.unplaced, self.noun),
        }
    }
}

/// The finding about the wrong rules of a function.
fn of_rules(found: &WrongRules<'_>) -> Finding {
    let WrongRules { function, start, rules, .. } = found;
    let end = rules.first().map_or(start.address, |rule| rule.end);
    Finding {
        code: Some(CodeSpan { start: *start, end }),
        ..defects::about_file(REGISTER_CONTRADICTS_CODE, message::wrong_rules(function, rules))
    }
}
