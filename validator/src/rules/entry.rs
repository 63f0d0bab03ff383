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

/// A check of a function whose shape decides whether the rule is broken.
pub(crate) type CheckShape = fn(&FunctionShape, &FunctionContext<'_>, &mut Reporter<'_>);

/// A check of a function.
pub(crate) type CheckFunction = fn(&FunctionContext<'_>, &mut Reporter<'_>);

/// A check of a row whose place decides whether the rule is broken.
pub(crate) type CheckPlace = fn(RowPlace, &RowContext<'_>, &mut Reporter<'_>);

/// A check of a row.
pub(crate) type CheckRow = fn(&RowContext<'_>, &mut Reporter<'_>);

/// A check of a row that could not be read.
pub(crate) type CheckUnreadableRow = fn(&UnreadableRow<'_>, &mut Reporter<'_>);

/// A check of the rows of one function.
pub(crate) type CheckRowsOf = fn(&RowsContext<'_>, &mut Reporter<'_>);

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
    /// A function, by its shape. Whether the rule is broken must depend only on the shape and the section; the function
    /// gives the values to report. Functions with the same shape are checked only once.
    Function(CheckShape),
    /// A function, for rules that depend on more than its shape. Every function is checked.
    AnyFunction(CheckFunction),
    /// A row, by its place in its function. Whether the rule is broken must depend only on the place; the row gives the
    /// values to report. Rows at equal places are checked only once.
    RowPlace(CheckPlace),
    /// A row and the preceding one. Every row is checked.
    AnyRow(CheckRow),
    /// The content of a row. The check must depend only on the info byte and the data words: rows with equal content
    /// are checked only once.
    RowContent(CheckRow),
    /// Like `RowContent`, for warnings about the values, however they are encoded. If another source of unwind
    /// information has the same values, they are not a defect.
    RowValues(CheckRow),
    /// A row that could not be read.
    UnreadableRow(CheckUnreadableRow),
    /// The rows of one function taken together, if all of them have a meaning.
    RowsOf(CheckRowsOf),
    /// The section as a whole, after the last function.
    Total(fn(&TotalContext<'_>, &mut Reporter<'_>)),
}
