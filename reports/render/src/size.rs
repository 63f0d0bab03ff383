//! Where the bytes of existing sections go, and what could be saved.

mod error;
mod files;
pub mod json;
mod text;

use serde::Serialize;
use sframe_input::SectionSource;
use sframe_record::Parts;
use sframe_synthesis::{Account, Waste, WhatIf, diagnose, what_if};
use sframe_validator::elf::Elf;
use sframe_validator::section::Header;

use error::Unmeasurable;

pub use files::{FoundBy, NotMeasured, Options, Visit, measure};
use sframe_scan::describe::forecast::parts;
pub use text::write as write_text;

/// The sizes of one section, or the sums of several.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sizes {
    /// The file and section; empty for sums.
    pub name: String,
    /// The number of sections.
    pub sections: u64,
    /// The size in bytes.
    pub bytes: u64,
    /// These bytes by what they hold.
    pub parts: Parts,
    /// The number of functions.
    pub functions: u64,
    /// The number of rows.
    pub rows: u64,
    /// What could be saved without loss, in the order in which it is removed.
    pub savings: Vec<Saving>,
    /// The size of the smallest section that says the same.
    pub smallest: u64,
    /// Bytes of attributes and rows that repeat those of another function. The specification does not say whether
    /// functions can share them.
    pub repeated: u64,
    /// What changes of the format would save.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub what_if: Vec<Estimate>,
}

/// Bytes that could be saved without loss.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Saving {
    /// What they are.
    pub waste: Waste,
    /// In words.
    pub what: String,
    /// The bytes.
    pub bytes: u64,
    /// The number of functions, rows or sections that have them.
    pub count: u64,
}

/// What a change of the format would save.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The change.
    pub change: &'static str,
    /// The bytes of the part that would change.
    pub before: u64,
    /// The bytes that it would have.
    pub after: u64,
}

/// The sizes of a section of the file with this name.
fn of_section(
    name: &str,
    source: &SectionSource<'_>,
    elf: Option<&Elf<'_>>,
    options: &Options,
) -> Result<Sizes, Unmeasurable> {
    if source.data.is_empty() {
        return Err(Unmeasurable::Empty);
    }
    let section = &source.section?;
    let header = section.header();
    let end = header.fre_end();
    let follows = |end: &u64| {
        let rest = usize::try_from(*end).ok().and_then(|end| source.data.get(end..));
        rest.is_some_and(|rest| Header::parse(rest, Some(section.endian())).is_ok())
    };
    if let Some(end) = [end, end.next_multiple_of(8)].iter().find(|end| follows(end)) {
        return Err(Unmeasurable::Appended(*end));
    }
    let diagnosis = diagnose(section, elf)?;
    let estimates = options.what_if.then(|| what_if(section)).transpose()?;
    let Account { size, functions, rows, shareable, .. } = diagnosis.account;
    let savings = diagnosis.savings.iter();
    Ok(Sizes {
        name: format!("{name}: {}", source.name),
        sections: 1,
        bytes: size,
        parts: parts(&diagnosis.account),
        functions,
        rows,
        savings: savings.map(|of| saving(of.waste, of.bytes, of.count)).collect(),
        smallest: diagnosis.smallest.size,
        repeated: shareable,
        what_if: estimates.map(|of| list(&of)).unwrap_or_default(),
    })
}

fn saving(waste: Waste, bytes: u64, count: u64) -> Saving {
    Saving { waste, what: waste.to_string(), bytes, count }
}

fn list(of: &WhatIf) -> Vec<Estimate> {
    let changes = [
        ("functions share equal attributes and rows", of.shared_blocks),
        ("starts of functions are distances (ULEB128)", of.delta_function_starts),
        ("sizes of functions are ULEB128", of.varint_sizes),
        ("starts of rows are distances (ULEB128)", of.delta_row_starts),
        ("info bytes are indices into a table", of.info_dictionary),
        ("rows are indices into a table of frames", of.frame_dictionary),
        ("attributes are indices into a table", of.attribute_dictionary),
    ];
    let changes = changes.into_iter().filter(|(_, change)| change.before > 0);
    let estimate = |(change, of): (_, sframe_synthesis::Change)| Estimate {
        change,
        before: of.before,
        after: of.after,
    };
    changes.map(estimate).collect()
}

impl Sizes {
    /// Adds the sizes of a section.
    pub fn add(&mut self, other: &Sizes) {
        for (sum, number) in [
            (&mut self.sections, other.sections),
            (&mut self.bytes, other.bytes),
            (&mut self.functions, other.functions),
            (&mut self.rows, other.rows),
            (&mut self.smallest, other.smallest),
            (&mut self.repeated, other.repeated),
        ] {
            *sum = sum.saturating_add(number);
        }
        self.parts.add(&other.parts);
        for saving in &other.savings {
            match self.savings.iter_mut().find(|known| known.waste == saving.waste) {
                Some(known) => {
                    known.bytes = known.bytes.saturating_add(saving.bytes);
                    known.count = known.count.saturating_add(saving.count);
                }
                None => self.savings.push(saving.clone()),
            }
        }
        for estimate in &other.what_if {
            match self.what_if.iter_mut().find(|known| known.change == estimate.change) {
                Some(known) => {
                    known.before = known.before.saturating_add(estimate.before);
                    known.after = known.after.saturating_add(estimate.after);
                }
                None => self.what_if.push(estimate.clone()),
            }
        }
    }
}
