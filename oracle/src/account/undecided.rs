//! Collects the reasons why code could not be compared, each once.

use std::collections::BTreeMap;

use sframe_validator::finding::{Undecided, UndecidedCause};
use sframe_validator::unwind::CodeAddress;

use crate::cfi::{Cfi, CfiError};
use crate::compare::{Fields, Range, Verdict};
use crate::witness::Statement;

/// The reason why a range, or a field of it, is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// SFrame functions whose start address cannot be read may describe it.
    Unplaced,
    /// The rows of the SFrame section with this number cannot be read.
    Sframe(u32),
    /// The function's CFI cannot be read.
    Cfi,
    /// CFI has an expression that may or may not be equivalent to SFrame's rules.
    Expression,
    /// These fields have such an expression, and others differ.
    Part(Fields),
}

/// The functions and bytes that share a reason.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    functions: u64,
    bytes: u64,
    /// The start of the function counted last: ranges arrive in order.
    last: Option<CodeAddress>,
}

/// Collects reasons.
#[derive(Clone, Debug, Default)]
pub(super) struct Reasons {
    ranges: BTreeMap<Reason, Extent>,
    /// Limits of reading CFI, by name: the section, the first place, and their number.
    limits: BTreeMap<&'static str, (&'static str, CfiError, u64)>,
    /// The code of the file's machine is not examined.
    is_other_machine: bool,
}

impl Reasons {
    /// Adds a range that is undecided, or has undecided fields.
    pub(super) fn range(&mut self, range: &Range<'_>) {
        let reason = match (range.sframe, range.cfi) {
            _ if range.verdict != Verdict::Undecided => Reason::Part(range.undecided),
            (Some(Statement { function, frame: None }), _) => Reason::Sframe(function.section),
            (_, Some(Statement { frame: Some(_), .. })) => Reason::Expression,
            (None, Some(_)) => Reason::Unplaced,
            _ => Reason::Cfi,
        };
        let function = match (range.cfi, range.sframe) {
            (Some(cfi), _) => Some(cfi.function.start()),
            (None, sframe) => sframe.map(|sframe| sframe.function.start),
        };
        let extent = self.ranges.entry(reason).or_default();
        extent.functions += u64::from(extent.last != function);
        extent.last = function;
        extent.bytes = extent.bytes.saturating_add(range.end - range.start);
    }

    /// Adds `number` occurrences of a limit of reading CFI.
    pub(super) fn limit(&mut self, cfi: &Cfi<'_>, error: CfiError, number: u64) {
        let entry = self.limits.entry(error.kind.name()).or_insert((cfi.name(), error, 0));
        entry.2 = entry.2.saturating_add(number);
    }

    /// Notes that the code of the file's machine is not examined.
    pub(super) const fn machine(&mut self) {
        self.is_other_machine = true;
    }

    /// The reasons to report. SFrame was compared with a table that people call `noun`.
    pub(super) fn finish(self, unplaced: u64, noun: &str) -> Vec<Undecided> {
        let mut found = Vec::new();
        for (name, error, count) in self.limits.values() {
            let mut reason = format!("{name}+{:#x}: {}", error.offset, error.kind);
            if *count > 1 {
                reason.push_str(&format!(", and {} more of this kind", count - 1));
            }
            found.push(Undecided { section: None, cause: UndecidedCause::CfiLimit, reason });
        }
        if self.is_other_machine {
            let reason = "not compared with machine code, which is examined on AMD64 and AArch64";
            let cause = UndecidedCause::Machine;
            found.push(Undecided { section: None, cause, reason: reason.to_owned() });
        }
        if unplaced > 0 {
            let s = plural(unplaced);
            let mut reason = format!(
                "not compared with {noun}: the start of {unplaced} function{s} is not known"
            );
            if let Some(Extent { functions, bytes, .. }) = self.ranges.get(&Reason::Unplaced) {
                let (s, b) = (plural(*functions), plural(*bytes));
                reason.push_str(&format!(
                    ", which may describe {functions} function{s} of {noun}, {bytes} byte{b}"
                ));
            }
            found.push(Undecided { section: None, cause: UndecidedCause::FunctionStarts, reason });
        }
        for (reason, extent) in self.ranges {
            let expression = || format!("{noun} has an expression without a simpler meaning");
            let section = match reason {
                Reason::Sframe(section) => usize::try_from(section).ok(),
                _ => None,
            };
            let (cause, why) = match reason {
                Reason::Unplaced => continue,
                Reason::Sframe(_) => {
                    (UndecidedCause::Rows, "not compared: rows cannot be read".to_owned())
                }
                Reason::Cfi => {
                    (UndecidedCause::Cfi, format!("not compared: {noun} cannot be read"))
                }
                Reason::Expression => {
                    (UndecidedCause::CfiExpression, format!("not compared: {}", expression()))
                }
                Reason::Part(fields) => (
                    UndecidedCause::CfiExpression,
                    format!("compared without {fields}: {} for it", expression()),
                ),
            };
            let Extent { functions, bytes, .. } = extent;
            let (s, b) = (plural(functions), plural(bytes));
            let reason = format!("{why} in {functions} function{s}, {bytes} byte{b}");
            found.push(Undecided { section, cause, reason });
        }
        found
    }
}

const fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}
