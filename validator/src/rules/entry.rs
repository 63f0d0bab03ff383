//! An entry of the catalogue: a rule and its check.

use crate::finding::HeaderSummary;
use crate::finding::reporter::Reporter;
use crate::page::Rule;
use crate::subject::row_place::RowPlace;
use crate::subject::shape::FunctionShape;
use crate::subject::{
    FileContext, FunctionContext, PreambleContext, RowContext, RowsContext, SectionContext,
    TotalContext, UnreadableRow,
};

/// A rule of the catalogue.
pub(crate) struct Entry {
    pub(crate) rule: &'static Rule,
    /// `None` if the driver derives the rule's findings from those of other rules.
    pub(crate) check: Option<Check>,
}

impl Entry {
    /// A rule with a check of its own.
    pub(super) const fn new(rule: &'static Rule, check: Check) -> Entry {
        Entry { rule, check: Some(check) }
    }

    /// A rule without a check, to whose page the driver's findings refer.
    pub(super) const fn page(rule: &'static Rule) -> Entry {
        Entry { rule, check: None }
    }
}

/// Whether a function of a section breaks a rule.
type BreaksFunction = fn(&FunctionShape, &SectionContext<'_>) -> bool;

/// Reports a function that breaks a rule.
type ReportFunction = fn(&FunctionContext<'_>, &mut Reporter<'_>);

/// The check of a rule, by its subject.
pub(crate) enum Check {
    /// The ELF file around one section.
    File(fn(&FileContext<'_>, &mut Reporter<'_>)),
    /// The headers of sections that are to be linked into one, with the names of the inputs.
    LinkSet(fn(&[(&str, HeaderSummary)], &mut Reporter<'_>)),
    /// The section's first bytes, before it is known whether they are a header.
    Preamble(fn(&PreambleContext<'_>, &mut Reporter<'_>)),
    /// The header fields that determine where and how functions and rows are stored. After a finding, functions and
    /// rows are not checked.
    Layout(fn(&SectionContext<'_>, &mut Reporter<'_>)),
    /// The rest of the header, and how the parts fill the section.
    Section(fn(&SectionContext<'_>, &mut Reporter<'_>)),
    /// The place and size of an entry in the function table. The first function decides whether the rule is broken, and
    /// the second reports it. Functions with the same shape are checked only once.
    Function(BreaksFunction, ReportFunction),
    /// Like `Function`, for the attributes of a function. Since version 3, they are stored with its rows.
    Attributes(BreaksFunction, ReportFunction),
    /// Like `Attributes`, for rules that depend on more than the function's shape. Every function is checked.
    AnyFunction(ReportFunction),
    /// The place of a row in its function. The first function decides whether the rule is broken, and the second
    /// reports it. Rows at equal places are checked only once.
    RowPlace(fn(RowPlace) -> bool, fn(&RowContext<'_>, &mut Reporter<'_>)),
    /// A row and the preceding one. Every row is checked.
    AnyRow(fn(&RowContext<'_>, &mut Reporter<'_>)),
    /// The content of a row. The check must depend only on the info byte and the data words: rows with equal content
    /// are checked only once.
    RowContent(fn(&RowContext<'_>, &mut Reporter<'_>)),
    /// Like `RowContent`, for warnings about the values, however they are encoded. If another source of unwind
    /// information has the same values, they are not a defect.
    RowValues(fn(&RowContext<'_>, &mut Reporter<'_>)),
    /// A row that could not be read.
    UnreadableRow(fn(&UnreadableRow<'_>, &mut Reporter<'_>)),
    /// The rows of one function taken together, if all of them have a meaning.
    RowsOf(fn(&RowsContext<'_>, &mut Reporter<'_>)),
    /// The section as a whole, after the last function.
    Total(fn(&TotalContext<'_>, &mut Reporter<'_>)),
}
