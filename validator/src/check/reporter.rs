//! How a rule's check reports: a place, a field, a message. Formatted only when it is kept.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::fmt::Write as _;
use core::ops::Range;

use crate::finding::{Field, Finding, FunctionId};
use crate::rules::{CATALOGUE, Rule};
use crate::section::FieldPlace;

/// Findings as they come in: the first ones of each rule, and a count of all.
#[derive(Debug)]
pub(crate) struct Collector {
    pub(crate) findings: Vec<Finding>,
    /// By the rule's position in the catalogue.
    counts: Vec<u64>,
    kept: Vec<usize>,
    keep: usize,
}

/// Findings of one function's rows, put aside until it is known whether the rows are its own.
#[derive(Debug, Default)]
pub(crate) struct Parked {
    findings: Vec<Finding>,
    counts: Vec<(usize, u64)>,
}

impl Collector {
    pub(crate) fn new(keep: usize) -> Collector {
        let rules = CATALOGUE.len();
        Collector { findings: Vec::new(), counts: vec![0; rules], kept: vec![0; rules], keep }
    }

    /// The broken rules with their counts, in the catalogue's order.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static Rule, u64)> {
        let counted = CATALOGUE.iter().copied().zip(self.counts.iter().copied());
        counted.filter(|(_, count)| *count > 0)
    }

    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Takes what was parked as found.
    pub(crate) fn commit(&mut self, parked: Parked) {
        for (rule, count) in parked.counts {
            if let Some(total) = self.counts.get_mut(rule) {
                *total += count;
            }
        }
        self.findings.extend(parked.findings);
    }

    /// Forgets what was parked: it follows from a defect that is reported.
    pub(crate) fn discard(&mut self, parked: &Parked) {
        for finding in &parked.findings {
            let rule = CATALOGUE.iter().position(|rule| *rule == finding.rule);
            if let Some(kept) = rule.and_then(|rule| self.kept.get_mut(rule)) {
                *kept -= 1;
            }
        }
    }

    fn count_one(&mut self, rule: usize, parked: Option<&mut Parked>) {
        match parked {
            None => {
                if let Some(count) = self.counts.get_mut(rule) {
                    *count += 1;
                }
            }
            Some(parked) => match parked.counts.iter_mut().find(|(known, _)| *known == rule) {
                Some((_, count)) => *count += 1,
                None => parked.counts.push((rule, 1)),
            },
        }
    }

    /// Whether one more finding of the rule is to be kept.
    fn keeps(&mut self, rule: usize) -> bool {
        match self.kept.get_mut(rule) {
            Some(kept) if *kept < self.keep => {
                *kept += 1;
                true
            }
            _ => false,
        }
    }
}

impl Parked {
    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().map(|(_, count)| count).sum()
    }
}

/// Where a rule's findings go, and what they have in common.
pub(crate) struct Reporter<'a> {
    pub(crate) collector: &'a mut Collector,
    pub(crate) parked: Option<&'a mut Parked>,
    /// The rule's position in the catalogue.
    pub(crate) rule: usize,
    pub(crate) section: Option<usize>,
    pub(crate) function: Option<FunctionId>,
    pub(crate) row: Option<u32>,
    /// The bytes of the table entry or row that is looked at; empty: those of the field.
    pub(crate) subject: Range<u64>,
}

impl Reporter<'_> {
    /// A field holds a value that it must not hold.
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

    /// A field of the ELF file holds a value that it must not hold.
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

    /// Something is wrong at a place in the section, in no field of its own.
    pub(crate) fn bytes(&mut self, bytes: Range<u64>, message: fmt::Arguments<'_>) {
        self.report(Some(bytes.start), bytes, None, message);
    }

    /// Something is wrong with the file.
    pub(crate) fn file(&mut self, message: fmt::Arguments<'_>) {
        self.report(None, 0..0, None, message);
    }

    /// Says that what follows is about another function than the one at hand.
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
        self.collector.count_one(self.rule, self.parked.as_deref_mut());
        if !self.collector.keeps(self.rule) {
            return;
        }
        let Some(rule) = CATALOGUE.get(self.rule).copied() else { return };
        let mut text = String::new();
        let _ = text.write_fmt(message);
        let finding = Finding {
            rule,
            section: self.section,
            offset,
            bytes,
            field: field.map(|field| field()),
            function: self.function,
            row: self.row,
            message: text,
        };
        match self.parked.as_deref_mut() {
            Some(parked) => parked.findings.push(finding),
            None => self.collector.findings.push(finding),
        }
    }
}
