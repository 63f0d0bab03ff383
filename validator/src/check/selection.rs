//! Selects the rules that apply to a section, by the subject of their checks.

use alloc::vec::Vec;

use super::Options;
use crate::page::{Abis, Severity, Versions};
use crate::rules::entry::{
    Check, CheckFunction, CheckPlace, CheckRow, CheckRowsOf, CheckShape, CheckUnreadableRow, Entry,
};
use crate::rules::{self, CONFIRMED_ODDITY};
use crate::section::Section;

/// The check of a rule, and the rule's position in the catalogue.
#[derive(Clone, Copy)]
pub(super) struct Selected<C> {
    pub(super) index: usize,
    pub(super) check: C,
}

/// A check of a row's content.
#[derive(Clone, Copy)]
pub(super) struct CheckContent {
    pub(super) check: CheckRow,
    /// Whether another source of unwind information can confirm what the check finds.
    pub(super) confirmable: bool,
}

/// The checks of functions and rows, in the order of the catalogue.
pub(super) struct Selection {
    pub(super) function: Vec<Selected<CheckShape>>,
    pub(super) any_function: Vec<Selected<CheckFunction>>,
    pub(super) row_place: Vec<Selected<CheckPlace>>,
    pub(super) any_row: Vec<Selected<CheckRow>>,
    pub(super) row_content: Vec<Selected<CheckContent>>,
    pub(super) unreadable_row: Vec<Selected<CheckUnreadableRow>>,
    pub(super) rows_of: Vec<Selected<CheckRowsOf>>,
    /// The position of the rule that replaces a warning about a confirmed row; only if lints are checked.
    pub(super) confirmed: Option<usize>,
    /// Whether every check runs on every function and row.
    pub(super) thorough: bool,
}

impl Selection {
    pub(super) fn of(section: &Section<'_>, options: &Options) -> Selection {
        let mut selection = Selection {
            function: Vec::new(),
            any_function: Vec::new(),
            row_place: Vec::new(),
            any_row: Vec::new(),
            row_content: Vec::new(),
            unreadable_row: Vec::new(),
            rows_of: Vec::new(),
            confirmed: None,
            thorough: options.thorough,
        };
        for (index, Entry { rule, check }) in applicable(Some(section), options) {
            if **rule == CONFIRMED_ODDITY {
                selection.confirmed = Some(index);
            }
            if let Some(check) = check {
                selection.add(index, check);
            }
        }
        selection
    }

    fn add(&mut self, index: usize, check: &Check) {
        match *check {
            Check::Function(check) => self.function.push(Selected { index, check }),
            Check::AnyFunction(check) => self.any_function.push(Selected { index, check }),
            Check::RowPlace(check) => self.row_place.push(Selected { index, check }),
            Check::AnyRow(check) => self.any_row.push(Selected { index, check }),
            Check::RowContent(check) => {
                let check = CheckContent { check, confirmable: false };
                self.row_content.push(Selected { index, check });
            }
            Check::RowValues(check) => {
                let check = CheckContent { check, confirmable: true };
                self.row_content.push(Selected { index, check });
            }
            Check::UnreadableRow(check) => self.unreadable_row.push(Selected { index, check }),
            Check::RowsOf(check) => self.rows_of.push(Selected { index, check }),
            Check::File(_)
            | Check::LinkSet(_)
            | Check::Preamble(_)
            | Check::Layout(_)
            | Check::Section(_)
            | Check::Total(_) => {}
        }
    }

    /// Whether rows that are known to be sound can be skipped. They cannot if a rule must see each row, or all rows of
    /// a function.
    pub(super) fn learns_rows(&self) -> bool {
        !self.thorough && self.any_row.is_empty() && self.rows_of.is_empty()
    }
}

/// The rules that apply to a section, with their positions in the catalogue. If its header cannot be read, these are
/// the rules for every version and ABI.
pub(super) fn applicable(
    section: Option<&Section<'_>>,
    options: &Options,
) -> impl Iterator<Item = (usize, &'static Entry)> {
    let pedantic = options.pedantic;
    let version = section.map(|section| section.header().version);
    let abi = section.and_then(|section| section.abi().ok());
    rules::entries().enumerate().filter(move |(_, Entry { rule, .. })| {
        let wanted = pedantic || rule.severity > Severity::Lint;
        let of_version = version
            .map_or(rule.versions == Versions::ALL, |version| rule.versions.contains(version));
        let of_abi = abi.map_or(rule.abis == Abis::ALL, |abi| rule.abis.contains(abi));
        wanted && of_version && of_abi
    })
}
