//! Mutations of sections: defects, each of which breaks one invariant and says who should notice,
//! and variations, which change how a section is stored and nothing that it says.
//!
//! Both work on [`StoredSection`], at a place that a seed chooses. A mutation that the section has no place
//! for does nothing, and says so.

mod functions;
mod header;
mod in_place;
mod layout;
mod rows;
mod variations;
mod words;

pub use in_place::in_place;

use crate::seeded::Seeded;
use sframe_validator::write::{StoredFunction, StoredRow, StoredSection};

/// What a mutation does to a section; `None` where it has no place for it.
type Apply = fn(&mut StoredSection, &mut Seeded) -> Option<()>;

/// A mutation that makes a sound section malformed, or one to be warned of.
#[derive(Debug)]
pub struct Defect {
    /// What is broken.
    pub name: &'static str,
    /// The rules of which one has to speak up, by name. Often it depends on the place which.
    pub noticed_by: &'static [&'static str],
    apply: Apply,
}

/// A mutation that changes no row.
#[derive(Debug)]
pub struct Variation {
    /// What is done.
    pub name: &'static str,
    apply: Apply,
}

impl Defect {
    /// Breaks the invariant; whether the section has a place for it. Nothing is changed otherwise.
    pub fn apply(&self, parts: &mut StoredSection, random: &mut Seeded) -> bool {
        attempt(self.apply, parts, random)
    }
}

impl Variation {
    /// Stores the section in another way; whether there is a place for it.
    pub fn apply(&self, parts: &mut StoredSection, random: &mut Seeded) -> bool {
        attempt(self.apply, parts, random)
    }
}

fn attempt(apply: Apply, parts: &mut StoredSection, random: &mut Seeded) -> bool {
    let before = parts.clone();
    let done = apply(parts, random).is_some();
    if !done {
        *parts = before;
    }
    done
}

/// Every defect.
pub fn defects() -> impl Iterator<Item = &'static Defect> + Clone {
    [header::DEFECTS, layout::DEFECTS, functions::DEFECTS, rows::DEFECTS, words::DEFECTS]
        .into_iter()
        .flatten()
}

/// Every variation.
pub fn variations() -> impl Iterator<Item = &'static Variation> + Clone {
    variations::VARIATIONS.iter()
}

/// One of the functions that `wanted` holds for.
fn any_function<'p>(
    parts: &'p mut StoredSection,
    random: &mut Seeded,
    wanted: impl Fn(&StoredFunction) -> bool,
) -> Option<&'p mut StoredFunction> {
    let places: Vec<usize> =
        (0..parts.functions.len()).filter(|place| wanted(&parts.functions[*place])).collect();
    let place = places.get(random.below(places.len().max(1)))?;
    parts.functions.get_mut(*place)
}

/// One of the rows that `wanted` holds for, of any function, and whether it is flexible.
fn any_row<'p>(
    parts: &'p mut StoredSection,
    random: &mut Seeded,
    wanted: impl Fn(&StoredFunction, &StoredRow) -> bool,
) -> Option<(&'p mut StoredRow, bool)> {
    let function = any_function(parts, random, |f| f.rows.iter().any(|row| wanted(f, row)))?;
    let flexible = function.is_flexible();
    let places: Vec<usize> =
        (0..function.rows.len()).filter(|place| wanted(function, &function.rows[*place])).collect();
    let place = places.get(random.below(places.len().max(1)))?;
    Some((function.rows.get_mut(*place)?, flexible))
}

/// `Some` where a condition holds.
pub(crate) fn when(condition: bool) -> Option<()> {
    condition.then_some(())
}
