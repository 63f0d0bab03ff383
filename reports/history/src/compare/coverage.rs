//! Compares how much of a file's code is described.

use std::collections::{BTreeMap, HashMap};

use super::kept::{Covered, File, Name};
use super::names;
use super::strings::{Id, Strings};
use crate::changes::{
    CauseChange, CoverageChange, CoverageVerdict, Described, UndescribedFunction,
};
use sframe_record::Status;

/// The maximum number of functions listed for a file.
const MAX_FUNCTIONS: usize = 16;

/// The change; `None` if nothing changed, or a scan has not compared the file with CFI.
pub(super) fn compare(old: &File, new: &File, strings: &Strings) -> Option<CoverageChange> {
    match (old.status, new.status) {
        (Status::Checked, Status::Checked) => {}
        (Status::Checked, Status::NoSection) => {
            let (old, new) = with_and_without(old, new)?;
            return Some(section_change(CoverageVerdict::Lost, old, new));
        }
        (Status::NoSection, Status::Checked) => {
            let (new, old) = with_and_without(new, old)?;
            return Some(section_change(CoverageVerdict::Gained, old, new));
        }
        // For a file without a section, coverage states what a section could describe.
        _ => return None,
    }
    let (was, is) = old.coverage.as_deref().zip(new.coverage.as_deref())?;
    let causes = causes(was, is, strings);
    let functions = functions(was, is, strings);
    let (old, new) = (described(old)?, described(new)?);
    let verdict = verdict(&old, &new);
    if verdict.is_none() && causes.is_empty() && functions.is_empty() {
        return None;
    }
    Some(CoverageChange {
        verdict: verdict.unwrap_or(CoverageVerdict::Other),
        old,
        new,
        causes,
        functions,
    })
}

/// How much is described of a file that has a section in one scan and none in the other. If the other scan has no
/// coverage, the same functions are assumed.
fn with_and_without(with: &File, without: &File) -> Option<(Described, Described)> {
    let with = described(with)?;
    let known = described(without).map(|described| described.undescribed);
    let all = with.functions.saturating_add(with.undescribed);
    let without = Described {
        functions: 0,
        undescribed: known.unwrap_or(all),
        code_bytes: without.code_bytes,
        described_bytes: 0,
    };
    Some((with, without))
}

const fn section_change(
    verdict: CoverageVerdict,
    old: Described,
    new: Described,
) -> CoverageChange {
    CoverageChange { verdict, old, new, causes: Vec::new(), functions: Vec::new() }
}

/// How much of a file is described, if that is known.
pub(super) fn described(file: &File) -> Option<Described> {
    let coverage = file.coverage.as_deref()?;
    Some(Described {
        functions: coverage.functions.both,
        undescribed: coverage.undescribed(),
        code_bytes: file.code_bytes,
        described_bytes: coverage.described_bytes,
    })
}

/// The overall change; `None` if the number of undescribed functions is the same.
pub(super) fn verdict(old: &Described, new: &Described) -> Option<CoverageVerdict> {
    use std::cmp::Ordering::{Greater, Less};
    match new.undescribed.cmp(&old.undescribed) {
        Greater if new.functions < old.functions => Some(CoverageVerdict::Lost),
        Greater => Some(CoverageVerdict::MoreUndescribed),
        Less if new.functions > old.functions => Some(CoverageVerdict::Gained),
        Less => Some(CoverageVerdict::FewerUndescribed),
        std::cmp::Ordering::Equal => None,
    }
}

fn causes(old: &Covered, new: &Covered, strings: &Strings) -> Vec<CauseChange> {
    let mut functions: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (side, covered) in [old, new].into_iter().enumerate() {
        for lost in &covered.losses {
            let counts = functions.entry(strings.text(lost.cause)).or_default();
            if let Some(count) = counts.get_mut(side) {
                *count = count.saturating_add(lost.functions);
            }
        }
    }
    let changed = functions.into_iter().filter(|(_, [old, new])| old != new);
    changed.map(|(cause, [old, new])| CauseChange { cause: cause.to_owned(), old, new }).collect()
}

/// Functions that only one scan lists, and those with different causes. If the other scan does not list all its
/// functions, they are included only if the number for their cause changed.
fn functions(old: &Covered, new: &Covered, strings: &Strings) -> Vec<UndescribedFunction> {
    let (mut was, mut is) = (Named::of(old), Named::of(new));
    let (whole_old, whole_new) = (was.whole, is.whole);
    let (lost_old, lost_new) = (by_cause(old), by_cause(new));
    let lost = |all: &HashMap<Id, u64>, cause: &Id| all.get(cause).copied().unwrap_or(0);
    let mut found = Vec::new();
    was.causes.retain(|name, causes| {
        let Some(others) = is.causes.remove(name) else { return true };
        if let ([cause], [other]) = (causes.as_slice(), others.as_slice())
            && cause != other
        {
            found.push(function(*name, Some(*cause), Some(*other), strings));
        }
        false
    });
    forget_copies(&mut was, &mut is, strings);
    for (name, causes) in was.causes {
        let Some(cause) = causes.first() else { continue };
        if whole_new || lost(&lost_old, cause) > lost(&lost_new, cause) {
            let function = function(name, Some(*cause), None, strings);
            found.push(UndescribedFunction { known: whole_new, ..function });
        }
    }
    for (name, causes) in is.causes {
        let Some(cause) = causes.first() else { continue };
        if whole_old || lost(&lost_new, cause) > lost(&lost_old, cause) {
            let function = function(name, None, Some(*cause), strings);
            found.push(UndescribedFunction { known: whole_old, ..function });
        }
    }
    found.sort_unstable();
    found.truncate(MAX_FUNCTIONS);
    found
}

/// The number of undescribed functions for each cause.
fn by_cause(covered: &Covered) -> HashMap<Id, u64> {
    let mut functions: HashMap<Id, u64> = HashMap::new();
    for lost in &covered.losses {
        let count = functions.entry(lost.cause).or_default();
        *count = count.saturating_add(lost.functions);
    }
    functions
}

/// The functions that a scan lists, with their causes. Static functions may share a name.
struct Named {
    causes: HashMap<Name, Vec<Id>>,
    /// Whether the list is complete.
    whole: bool,
}

impl Named {
    fn of(covered: &Covered) -> Named {
        let mut causes: HashMap<Name, Vec<Id>> = HashMap::new();
        let mut whole = true;
        for lost in &covered.losses {
            whole &= lost.functions == lost.examples.len() as u64;
            for name in &lost.examples {
                causes.entry(*name).or_default().push(lost.cause);
            }
        }
        Named { causes, whole }
    }
}

/// Removes copies that the compiler has merely renumbered: both scans have the same number of them.
fn forget_copies(old: &mut Named, new: &mut Named, strings: &Strings) {
    let key = |name: &Name, causes: &[Id]| {
        (names::symbol(strings.text(name.text)), causes.first().copied())
    };
    let mut copies: HashMap<_, [u64; 2]> = HashMap::new();
    for (name, causes) in &old.causes {
        copies.entry(key(name, causes)).or_default()[0] += 1;
    }
    for (name, causes) in &new.causes {
        copies.entry(key(name, causes)).or_default()[1] += 1;
    }
    for named in [old, new] {
        named.causes.retain(|name, causes| {
            copies.get(&key(name, causes)).is_some_and(|[old, new]| old != new)
        });
    }
}

/// A function whose cause in each scan is known.
fn function(
    name: Name,
    old: Option<Id>,
    new: Option<Id>,
    strings: &Strings,
) -> UndescribedFunction {
    let text = |id: Id| strings.text(id).to_owned();
    UndescribedFunction {
        symbol: text(name.text),
        symbol_hex: name.hex.map(text),
        old: old.map(text),
        new: new.map(text),
        known: true,
    }
}
