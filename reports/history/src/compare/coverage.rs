//! What changed in who describes the functions of a file.

use std::collections::{BTreeMap, HashMap};

use super::kept::{Covered, File, Name};
use super::names;
use super::strings::{Id, Strings};
use crate::changes::{
    CauseChange, CoverageChange, CoverageVerdict, Described, UndescribedFunction,
};
use sframe_record::Status;

/// How many functions of one file are told.
const MAX_FUNCTIONS: usize = 16;

/// What changed; `None` where nothing did, or a scan has not compared the file.
pub(super) fn compare(old: &File, new: &File, strings: &Strings) -> Option<CoverageChange> {
    match (old.status, new.status) {
        (Status::Checked, Status::Checked) => {}
        (Status::Checked, Status::NoSection) => return section(old, new, false),
        (Status::NoSection, Status::Checked) => return section(new, old, true),
        // Of a file without a section, coverage is what there could be.
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

/// A file has a section in one scan alone. Where the other has not looked at what there could be,
/// the functions are taken for the same ones.
fn section(with: &File, without: &File, gained: bool) -> Option<CoverageChange> {
    let with = described(with)?;
    let known = described(without).map(|described| described.undescribed);
    let all = with.functions.saturating_add(with.undescribed);
    let without = Described {
        functions: 0,
        undescribed: known.unwrap_or(all),
        code_bytes: without.code_bytes,
        described_bytes: 0,
    };
    let (verdict, old, new) = match gained {
        true => (CoverageVerdict::Gained, without, with),
        false => (CoverageVerdict::Lost, with, without),
    };
    Some(CoverageChange { verdict, old, new, causes: Vec::new(), functions: Vec::new() })
}

/// How much of a file is described, where that was looked at.
pub(super) fn described(file: &File) -> Option<Described> {
    let coverage = file.coverage.as_deref()?;
    Some(Described {
        functions: coverage.functions.both,
        undescribed: coverage.undescribed(),
        code_bytes: file.code_bytes,
        described_bytes: coverage.described_bytes,
    })
}

/// What became of the coverage; `None` where as many functions are left out as before.
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

/// Functions that only one scan names, and those that have another cause. Where the other scan
/// does not name all, they are told only if their cause has changed in number.
fn functions(old: &Covered, new: &Covered, strings: &Strings) -> Vec<UndescribedFunction> {
    let (mut was, mut is) = (Named::of(old), Named::of(new));
    let (whole_old, whole_new) = (was.whole, is.whole);
    let (lost_old, lost_new) = (by_cause(old), by_cause(new));
    let lost = |all: &HashMap<Id, u64>, cause: &Id| all.get(cause).copied().unwrap_or(0);
    let mut told = Vec::new();
    was.causes.retain(|name, causes| {
        let Some(others) = is.causes.remove(name) else { return true };
        if let ([cause], [other]) = (causes.as_slice(), others.as_slice())
            && cause != other
        {
            told.push(function(*name, Some(*cause), Some(*other), true, strings));
        }
        false
    });
    forget_copies(&mut was, &mut is, strings);
    for (name, causes) in was.causes {
        let Some(cause) = causes.first() else { continue };
        if whole_new || lost(&lost_old, cause) > lost(&lost_new, cause) {
            told.push(function(name, Some(*cause), None, whole_new, strings));
        }
    }
    for (name, causes) in is.causes {
        let Some(cause) = causes.first() else { continue };
        if whole_old || lost(&lost_new, cause) > lost(&lost_old, cause) {
            told.push(function(name, None, Some(*cause), whole_old, strings));
        }
    }
    told.sort_unstable();
    told.truncate(MAX_FUNCTIONS);
    told
}

/// How many functions are left out for each cause.
fn by_cause(covered: &Covered) -> HashMap<Id, u64> {
    let mut functions: HashMap<Id, u64> = HashMap::new();
    for lost in &covered.losses {
        let count = functions.entry(lost.cause).or_default();
        *count = count.saturating_add(lost.functions);
    }
    functions
}

/// The functions that a scan names, with their causes: static ones may share a name.
struct Named {
    causes: HashMap<Name, Vec<Id>>,
    /// These are all that it has.
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

/// Takes copies out that the compiler has only numbered otherwise: both scans have as many.
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

fn function(
    name: Name,
    old: Option<Id>,
    new: Option<Id>,
    known: bool,
    strings: &Strings,
) -> UndescribedFunction {
    let text = |id: Id| strings.text(id).to_owned();
    UndescribedFunction {
        symbol: text(name.text),
        symbol_hex: name.hex.map(text),
        old: old.map(text),
        new: new.map(text),
        known,
    }
}
