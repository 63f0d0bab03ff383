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
    /// `None` where the driver decides from the findings of other rules.
    pub(crate) check: Option<Check>,
}

impl Entry {
    /// A rule with a check of its own.
    pub(super) const fn new(rule: &'static Rule, check: Check) -> Entry {
        Entry { rule, check: Some(check) }
    }

    /// A page that the driver's findings point to.
    pub(super) const fn page(rule: &'static Rule) -> Entry {
        Entry { rule, check: None }
    }
}

/// Whether a function of a section breaks a rule.
type BreaksFunction = fn(&FunctionShape, &SectionContext<'_>) -> bool;

/// Reports a function that breaks a rule.
type ReportFunction = fn(&FunctionContext<'_>, &mut Reporter<'_>);

/// The check of a rule, by what it looks at.
pub(crate) enum Check {
    /// The ELF file around one section.
    File(fn(&FileContext<'_>, &mut Reporter<'_>)),
    /// The headers of sections that are to be linked into one, with the inputs' names.
    LinkSet(fn(&[(&str, HeaderSummary)], &mut Reporter<'_>)),
    /// The section's first bytes, before they are known to be a header.
    Preamble(fn(&PreambleContext<'_>, &mut Reporter<'_>)),
    /// The header fields that decide where and how functions and rows are stored. After a finding,
    /// functions and rows are not checked.
    Layout(fn(&SectionContext<'_>, &mut Reporter<'_>)),
    /// The rest of the header, and how the parts fill the section.
    Section(fn(&SectionContext<'_>, &mut Reporter<'_>)),
    /// One entry of the function table: its place and size. The first function says whether the
    /// rule is broken, the second reports it; functions of equal shape are checked once.
    Function(BreaksFunction, ReportFunction),
    /// As `Function`, for the attributes of one function. Since version 3 they are stored with its
    /// rows.
    Attributes(BreaksFunction, ReportFunction),
    /// As `Attributes`, for rules that depend on more than the function's shape. Each function is
    /// checked.
    AnyFunction(ReportFunction),
    /// The place of one row in its function. The first function says whether the rule is broken,
    /// the second reports it; rows at equal places are checked once.
    RowPlace(fn(RowPlace) -> bool, fn(&RowContext<'_>, &mut Reporter<'_>)),
    /// One row and the one before it. Each row is checked.
    AnyRow(fn(&RowContext<'_>, &mut Reporter<'_>)),
    /// The content of one row. The check may depend on the info byte and the data words alone:
    /// rows of equal content are checked once.
    RowContent(fn(&RowContext<'_>, &mut Reporter<'_>)),
    /// As `RowContent`, for warnings about the values, however they are encoded. Where another
    /// source of unwind information has the same values, this is no defect.
    RowValues(fn(&RowContext<'_>, &mut Reporter<'_>)),
    /// A row that could not be read.
    UnreadableRow(fn(&UnreadableRow<'_>, &mut Reporter<'_>)),
    /// The rows of one function taken together, where all of them have a meaning.
    RowsOf(fn(&RowsContext<'_>, &mut Reporter<'_>)),
    /// Everything taken together, after the last function.
    Total(fn(&TotalContext<'_>, &mut Reporter<'_>)),
}
