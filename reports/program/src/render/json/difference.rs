//! Differences between SFrame and CFI as JSON.

use super::super::schema::{Difference, Instruction, Similar, TableLine};
use super::hex;
use crate::disassembly;
use crate::report::{Evidence, Line, Side};

/// The evidence of a finding.
pub(super) fn of(evidence: &Evidence) -> Difference {
    let lines = evidence.tables.lines.iter();
    Difference {
        fields: evidence.fields.names().collect(),
        table: lines.map(|line| table_line(line, ["sframe", "cfi"])).collect(),
        instructions: evidence.code.iter().map(instruction).collect(),
        similar: evidence.similar.map(|similar| Similar {
            functions: similar.functions,
            ranges: similar.ranges,
            bytes: similar.bytes,
        }),
        repeats: evidence.repeats,
    }
}

/// A line of two tables, by the names of the sides.
pub(crate) fn table_line(line: &Line, [first, second]: [&'static str; 2]) -> TableLine {
    let cells = &line.cells;
    TableLine {
        side: match line.side {
            Side::Both => "both",
            Side::First => first,
            Side::Second => second,
        },
        start: format!("{:#x}", cells.start),
        cfa: cells.cfa.clone(),
        ra: cells.ra.clone(),
        fp: cells.fp.clone(),
        ra_signed: cells.ra_signed,
    }
}

fn instruction(instruction: &disassembly::Instruction) -> Instruction {
    Instruction {
        address: format!("{:#x}", instruction.address),
        bytes: hex(&instruction.bytes),
        text: instruction.text.clone(),
    }
}
