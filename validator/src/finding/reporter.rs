//! How a rule's check reports a place, a field and a message. Messages are formatted only if the finding is kept.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::fmt::Write as _;
use core::ops::Range;

use super::{Field, Finding, FunctionId, Keep};
use crate::page::{Rule, Severity};
use crate::section::FieldPlace;

/// Counts findings, and passes on those that are kept.
pub(crate) struct Collector<'f> {
    found: &'f mut dyn FnMut(Finding),
    catalogue: &'static [&'static Rule],
    /// Counts by the rule's position in the catalogue.
    counts: Vec<u64>,
    total: u64,
    errors: u64,
    keep: Keep,
}

impl<'f> Collector<'f> {
    /// Passes to `found` as many findings of each rule of `catalogue` as `keep` allows.
    pub(crate) fn new(
        catalogue: &'static [&'static Rule],
        keep: Keep,
        found: &'f mut dyn FnMut(Finding),
    ) -> Collector<'f> {
        let counts = vec![0; catalogue.len()];
        Collector { found, catalogue, counts, total: 0, errors: 0, keep }
    }

    /// The broken rules with their counts, in the catalogue's order.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static Rule, u64)> {
        let counted = self.catalogue.iter().copied().zip(self.counts.iter().copied());
        counted.filter(|(_, count)| *count > 0)
    }

    /// The number of findings.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The number of error-level findings.
    pub(crate) fn errors(&self) -> u64 {
        self.errors
    }
}

/// The part of [`Collector`] that a [`Reporter`] uses. It is a trait so that rules need not name the collector's
/// lifetime.
pub(crate) trait Collect {
    /// The rule at a position in the catalogue.
    fn rule(&self, position: usize) -> Option<&'static Rule>;

    /// Counts a finding of the rule at a position, and returns whether to keep it.
    fn count(&mut self, position: usize) -> bool;

    /// Accepts a finding that is kept.
    fn take(&mut self, finding: Finding);
}

impl Collect for Collector<'_> {
    fn rule(&self, position: usize) -> Option<&'static Rule> {
        self.catalogue.get(position).copied()
    }

    fn count(&mut self, position: usize) -> bool {
        let (rule, count) = (self.rule(position), self.counts.get_mut(position));
        let Some((rule, count)) = rule.zip(count) else { return false };
        let kept = self.keep.has_room(*count);
        *count += 1;
        self.total += 1;
        self.errors += u64::from(rule.severity == Severity::Error);
        kept
    }

    fn take(&mut self, finding: Finding) {
        (self.found)(finding);
    }
}

/// Where a rule's findings go, and the properties that they share.
pub(crate) struct Reporter<'a> {
    pub(crate) collector: &'a mut dyn Collect,
    /// The rule's position in the catalogue.
    pub(crate) rule: usize,
    pub(crate) section: Option<usize>,
    pub(crate) function: Option<FunctionId>,
    pub(crate) row: Option<u32>,
    /// The bytes of the table entry or row being checked; if empty, a finding has the bytes of its field.
    pub(crate) subject: Range<u64>,
    /// If the rule judges a row by its values: the source that can confirm them.
    pub(crate) doubt: Option<Doubt<'a>>,
    /// Whether something was found, confirmed or not.
    pub(crate) reported: bool,
}

/// A warning about values that another source of unwind information may confirm.
#[derive(Clone, Copy)]
pub(crate) struct Doubt<'a> {
    /// Whether another source has the same values.
    pub(crate) is_confirmed: &'a dyn Fn() -> bool,
    /// The position in the catalogue of the rule that a confirmed finding is reported for; `None` if confirmed findings
    /// are dropped.
    pub(crate) instead: Option<usize>,
}

impl Reporter<'_> {
    /// Reports the following findings for the rule at a position in the catalogue.
    pub(crate) fn for_rule(&mut self, position: usize) -> &mut Self {
        self.rule = position;
        self
    }

    /// Reports a field with an invalid value.
    pub(crate) fn field(
        &mut self,
        place: FieldPlace,
        value: impl fmt::Display,
        allowed: impl fmt::Display,
        message: fmt::Arguments<'_>,
    ) {
        let bytes = if self.subject.is_empty() {
            place.offset..place.offset + place.size
        } else {
            self.subject.clone()
        };
        let field =
            || Field { name: place.name, value: value.to_string(), allowed: allowed.to_string() };
        self.report(Some(place.offset), bytes, Some(&field), message);
    }

    /// Reports a field of the ELF file with an invalid value.
    pub(crate) fn elf_field(
        &mut self,
        name: &'static str,
        value: impl fmt::Display,
        allowed: impl fmt::Display,
        message: fmt::Arguments<'_>,
    ) {
        let field = || Field { name, value: value.to_string(), allowed: allowed.to_string() };
        self.report(None, 0..0, Some(&field), message);
    }

    /// Reports a defect at a place in the section that is not a single field.
    pub(crate) fn bytes(&mut self, bytes: Range<u64>, message: fmt::Arguments<'_>) {
        self.report(Some(bytes.start), bytes, None, message);
    }

    /// Reports a defect of the file.
    pub(crate) fn file(&mut self, message: fmt::Arguments<'_>) {
        self.report(None, 0..0, None, message);
    }

    /// Attributes the following findings to another function.
    pub(crate) fn about(&mut self, function: FunctionId) -> &mut Self {
        self.function = Some(function);
        self
    }

    fn report(
        &mut self,
        offset: Option<u64>,
        bytes: Range<u64>,
        field: Option<&dyn Fn() -> Field>,
        message: fmt::Arguments<'_>,
    ) {
        self.reported = true;
        let confirmed = self.doubt.filter(|doubt| (doubt.is_confirmed)());
        let position = match confirmed {
            Some(doubt) => doubt.instead,
            None => Some(self.rule),
        };
        let rule = position.and_then(|position| self.collector.rule(position));
        let Some((position, rule)) = position.zip(rule) else { return };
        if !self.collector.count(position) {
            return;
        }
        let mut text = String::new();
        let _ = text.write_fmt(message);
        if let Some(broken) = confirmed.and_then(|_| self.collector.rule(self.rule)) {
            let _ = write!(text, " ({}), and other unwind information confirms it", broken.name);
        }
        text.shrink_to_fit();
        let finding = Finding {
            rule,
            section: self.section,
            offset,
            bytes,
            field: field.map(|field| field()),
            function: self.function,
            row: self.row,
            code: None,
            message: text,
        };
        self.collector.take(finding);
    }
}
