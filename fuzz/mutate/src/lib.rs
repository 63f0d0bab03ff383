//! Mutations of sections: defects, each of which violates one invariant and declares which rules should report it, and
//! variations, which change how a section is stored, but not its content.
//!
//! Both work on a [`StoredSection`], at a place that a seed selects. A mutation that is impossible in a section does
//! nothing, and returns this.
//!
//! This crate may panic: only tests and fuzzers use it.

#![forbid(unsafe_code)]

mod functions;
mod header;
mod in_place;
mod layout;
mod rows;
mod seeded;
mod variations;
mod words;

pub use in_place::in_place;
pub use seeded::Seeded;

use sframe_validator::section::FdeType;
use sframe_validator::write::{StoredFunction, StoredRow, StoredSection};

/// Applies a mutation to a section; `None` if it is impossible there.
type Apply = fn(&mut StoredSection, &mut Seeded) -> Option<()>;

/// A mutation that makes a valid section malformed or unusual.
#[derive(Debug)]
pub struct Defect {
    /// The name of the defect.
    pub name: &'static str,
    /// The names of rules, at least one of which must report the defect. Often the place determines which.
    pub noticed_by: &'static [&'static str],
    apply: Apply,
}

/// A mutation that changes no row.
#[derive(Debug)]
pub struct Variation {
    /// The name of the variation.
    pub name: &'static str,
    apply: Apply,
}

impl Defect {
    /// Makes the defect, and returns whether this was possible. If not, nothing changes.
    pub fn apply(&self, parts: &mut StoredSection, random: &mut Seeded) -> bool {
        attempt(self.apply, parts, random)
    }
}

impl Variation {
    /// Stores the section in another way, and returns whether this was possible.
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

/// All defects.
pub fn defects() -> impl Iterator<Item = &'static Defect> + Clone {
    [header::DEFECTS, layout::DEFECTS, functions::DEFECTS, rows::DEFECTS, words::DEFECTS]
        .into_iter()
        .flatten()
}

/// All variations.
pub fn variations() -> impl Iterator<Item = &'static Variation> + Clone {
    variations::VARIATIONS.iter()
}

/// A function for which `wanted` holds.
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

/// A row of any function for which `wanted` holds, and how its words are read.
fn any_row<'p>(
    parts: &'p mut StoredSection,
    random: &mut Seeded,
    wanted: impl Fn(&StoredFunction, &StoredRow) -> bool,
) -> Option<(&'p mut StoredRow, FdeType)> {
    let function = any_function(parts, random, |f| f.rows.iter().any(|row| wanted(f, row)))?;
    let fde_type = function.fde_type();
    let places: Vec<usize> =
        (0..function.rows.len()).filter(|place| wanted(function, &function.rows[*place])).collect();
    let place = places.get(random.below(places.len().max(1)))?;
    Some((function.rows.get_mut(*place)?, fde_type))
}

/// `Some` if a condition holds.
#[must_use]
pub fn when(condition: bool) -> Option<()> {
    condition.then_some(())
}
