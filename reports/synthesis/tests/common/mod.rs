//! Code that the tests share.

#![allow(dead_code, unreachable_pub, reason = "shared by several test programs")]

pub mod assembler;
pub mod random;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{
    Account, Encoding, Place, Release, Synthesis, account_of, forecast, synthesize,
};
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{CodeAddress, Row};
use sframe_validator::{Placement, Section, Version};

/// A function as a section describes it: its size, whether it is a signal frame, the size of its repeated block, and
/// its rows as they are stored.
pub type Described = (u32, bool, bool, Vec<Row>);

/// All functions of a section by their start. Functions without bytes are left out: they may share their start.
pub type Table = BTreeMap<CodeAddress, Described>;

/// A section that a tool wrote, and the one that was predicted.
pub struct Compared {
    pub release: Release,
    pub real: Account,
    pub predicted: Account,
    /// The functions that have other rows than predicted.
    pub different: Vec<CodeAddress>,
    /// The predicted functions that the section does not have, and their bytes in the predicted section.
    pub missing: (Vec<CodeAddress>, u64),
    /// The functions that were not predicted.
    pub further: Vec<CodeAddress>,
}

impl Compared {
    /// Whether sizes, parts and rows are as predicted.
    pub fn is_equal(&self) -> bool {
        self.predicted.parts == self.real.parts && self.has_equal_rows()
    }

    /// Whether every function and row is as predicted.
    pub fn has_equal_rows(&self) -> bool {
        self.different.is_empty() && self.missing.0.is_empty() && self.further.is_empty()
    }
}

/// The bytes of these functions: their index entries, attributes and rows.
pub fn bytes_of(section: &Section<'_>, starts: &[CodeAddress]) -> u64 {
    let starts: BTreeSet<&CodeAddress> = starts.iter().collect();
    let version = section.header().version;
    let functions = section.functions().map(|function| function.expect("readable"));
    let wanted = functions.filter(|function| starts.contains(&function.start().expect("a start")));
    let bytes = wanted.map(|function| {
        let mut rows = function.frame_row_entries().expect("rows");
        let from = rows.offset();
        rows.by_ref().for_each(drop);
        version.entry_size() + version.attribute_size() + rows.offset() - from
    });
    bytes.sum()
}

/// Reads a section's functions.
pub fn table_of(section: &Section<'_>) -> Table {
    let mut table = Table::new();
    for function in section.functions() {
        let function = function.expect("readable");
        let start = function.start().expect("a start");
        let rows = function.rows().expect("rows").map(|row| row.expect("readable")).collect();
        let repeats = function.attributes().info.is_pc_mask();
        if function.size() > 0 {
            table.insert(start, (function.size(), function.is_signal_frame(), repeats, rows));
        }
    }
    table
}

/// Calls `with` with the section that was made.
pub fn with_section<T>(made: &Synthesis, place: Place, with: impl FnOnce(&Section<'_>) -> T) -> T {
    let placement = match place {
        Place::Linked(address) => Placement::at(address),
        Place::Relocatable => Placement::relocated(&made.written.relocations),
    };
    with(&Section::parse(&made.written.bytes, placement).expect("sound"))
}

/// Predicts the section of a file, and compares it with the one that the file has. `None` for a file without a readable
/// section.
pub fn compare(data: &[u8]) -> Option<Compared> {
    let elf = Elf::parse(data).ok()?;
    let cfi = Cfi::load_all(&elf).ok()?;
    let sframe = elf.sframe_contents().next()?;
    let section = Section::parse(sframe.data.as_ref().ok()?, sframe.placement().ok()?).ok()?;
    let release = match section.header().version {
        Version::V1 => Release::V2_40,
        Version::V2 => Release::V2_44,
        Version::V3 => Release::V2_47_50,
    };
    let real = account_of(&section).ok()?;
    let place = Place::of(&elf);
    let made = synthesize(&elf, &cfi, Encoding::Gnu(release), place).expect("a prediction");
    let forecast = forecast(&elf, &cfi, Encoding::Gnu(release)).expect("a forecast");
    if let Some(account) = forecast.section {
        assert_eq!(account, made.account, "the forecast measures what is written");
    }
    // A stripped object's functions have no known starts.
    let is_known = section.functions().flatten().all(|function| function.start().is_ok());
    let theirs = if is_known { table_of(&section) } else { Table::new() };
    let ours = with_section(&made, place, table_of);
    let starts = |wanted: &dyn Fn(&CodeAddress) -> bool, table: &Table| {
        table.keys().filter(|start| wanted(start)).copied().collect::<Vec<_>>()
    };
    let both =
        |start: &CodeAddress| theirs.contains_key(start) && ours.get(start) != theirs.get(start);
    let missing = starts(&|start| !theirs.contains_key(start), &ours);
    let bytes = with_section(&made, place, |section| bytes_of(section, &missing));
    Some(Compared {
        release,
        real,
        predicted: made.account,
        different: starts(&both, &ours),
        missing: (missing, bytes),
        further: starts(&|start| !ours.contains_key(start), &theirs),
    })
}

/// Prints a line of the table of predictions.
pub fn print(path: &Path, compared: &Compared, explained: &str) {
    let Compared { release, real, predicted, .. } = compared;
    let name: Vec<_> = path.components().rev().take(3).map(|part| part.as_os_str()).collect();
    let name: Vec<_> = name.iter().rev().map(|part| part.to_string_lossy()).collect();
    println!(
        "{} | {} | {} | {} | {} | {} | {} | {} | {explained}",
        name.join("/"),
        release.name(),
        predicted.size,
        real.size,
        real.functions,
        predicted.rows,
        real.rows,
        compared.different.len() + compared.missing.0.len() + compared.further.len(),
    );
}
