//! Runs the vectors on the reader of `sframe-validator`, and exits with 1 at the first answer that is wrong.
//!
//! In addition to the vectors, it compares what they do not ask for: plain rows, and the ranges of rows.

mod address {
    pub use sframe_conformance::Address;
}
mod frame {
    pub use sframe_conformance::{Base, Frame, Recovery, Rule};
}
mod reader {
    pub use sframe_conformance::{
        Answer, End, Found, Function, Header, Key, Opened, Reader, Row, Start, Walked, WalkedFrame,
    };
}
mod section {
    pub use sframe_conformance::Section;

    pub fn bytes(hex: &str) -> Option<Vec<u8>> {
        let (machine, byte_order) = (String::new(), String::new());
        let address = sframe_conformance::Address(0);
        Section { machine, byte_order, address, hex: hex.to_owned() }.bytes()
    }
}
mod validator;

use std::process::exit;

use sframe_conformance::{Kind, Vector, Verdict, run_one, vectors};
use sframe_validator::Placement;
use sframe_validator::section::{Function, Section};

fn main() {
    for vector in vectors() {
        let outcome = run_one(&mut validator::Validator::default(), &vector);
        let wrong = outcome.wrong.first().cloned().or_else(|| more(&vector));
        if outcome.verdict != Verdict::Pass || wrong.is_some() {
            println!("{}: {}", vector.name, wrong.unwrap_or_default());
            exit(1);
        }
    }
}

/// The first wrong answer to a question that is not in the vectors.
fn more(vector: &Vector) -> Option<String> {
    if vector.kind != Kind::Sound {
        return None;
    }
    let bytes = vector.section.bytes()?;
    let section = Section::parse(&bytes, Placement::at(vector.section.address.0)).ok()?;
    for (index, function) in section.functions().enumerate() {
        let Ok(function) = function else { return Some(format!("function {index} is unreadable")) };
        if !is_tiled(vector, index, &function) {
            return Some(format!("ranges of the rows of function {index}"));
        }
        if !are_plain(vector, index, &function) {
            return Some(format!("plain rows of function {index}"));
        }
    }
    for lookup in &vector.expect.lookups {
        if !is_range(vector, &section, lookup.pc.0) {
            return Some(format!("range of the row at {}", lookup.pc));
        }
    }
    None
}

/// Plain rows are the first ones of those that the vector expects. All but the last 13 bytes of rows can be read so.
fn are_plain(vector: &Vector, index: usize, function: &Function<'_>) -> bool {
    let budget = function.section().row_budget();
    let Some(mut rows) = function.plain_rows(&budget) else { return true };
    let expected = vector.expect.functions.as_ref().and_then(|all| all[index].rows.as_ref());
    for row in expected.into_iter().flatten() {
        // It may give up at any row, but must not report that all have been read.
        let Some(found) = rows.next_row() else { return !rows.are_over() };
        let Some(frame) = rows.frame(&found) else { return true };
        if found.start() != row.start || !row.frame.agrees(&validator::frame(&frame)) {
            return false;
        }
    }
    rows.are_over()
}

/// The range of a row ends at the next row's start, and that of the last one at the end of the function or block.
fn is_tiled(vector: &Vector, index: usize, function: &Function<'_>) -> bool {
    let Some(expected) = vector.expect.functions.as_ref().map(|all| &all[index]) else { return true };
    let (Some(start), Some(size), Some(rows)) = (expected.start, expected.size, &expected.rows) else { return true };
    let space = match expected.repeat {
        Some(1..) => size.min(expected.repeat.unwrap_or(0)),
        _ => size,
    };
    let ends = rows.iter().skip(1).map(|row| row.start).chain([space]);
    let ranges = rows.iter().zip(ends);
    let Ok(found) = function.rows() else { return true };
    found.zip(ranges).all(|(found, (row, end))| {
        let range = (start.0.saturating_add(row.start.into()), start.0.saturating_add(end.into()));
        found.is_ok_and(|found| row.start >= space || (found.start, found.end) == range)
    })
}

/// The row of a PC starts and ends at PCs that the vector asks for, because these are the boundaries; and all PCs in its
/// range have the same answer.
fn is_range(vector: &Vector, section: &Section<'_>, pc: u64) -> bool {
    let Ok(Some((function, row))) = section.find(pc) else { return true };
    if function.repeat_size() != Ok(None) {
        return row.start <= pc && pc < row.end;
    }
    let lookups = &vector.expect.lookups;
    let is_boundary = |place: u64| lookups.iter().any(|lookup| lookup.pc.0 == place);
    let of = |place: u64| lookups.iter().find(|lookup| lookup.pc.0 == place).map(|found| &found.frame);
    let inside = lookups.iter().filter(|lookup| row.start <= lookup.pc.0 && lookup.pc.0 < row.end);
    row.start <= pc
        && pc < row.end
        && is_boundary(row.start)
        && is_boundary(row.end)
        && inside.into_iter().all(|lookup| Some(&lookup.frame) == of(pc))
}
