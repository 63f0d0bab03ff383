use crate::abi::Abi;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::Function;
use crate::subject::TotalContext;
use crate::subject::extents::CodeExtent;
use crate::subject::facts::{FileFacts, InstructionLength};

pub(super) static RULE: Rule = Rule {
    name: "row-inside-instruction",
    group: Group::Coverage,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::AMD64.or(Abis::S390X),
    about_tools: false,
    page: Page {
        summary: "a row starts where an instruction starts",
        consequence: "The row is found an instruction too late, or the function is not where its \
                      entry says it is.",
        remedy: "Disassemble the function and compare; data among its instructions may be the \
                 reason.",
        source: "DWARF 5, 6.4 (rows are for locations of instructions)",
        example: "an AMD64 function with a row in the middle of a two-byte instruction",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
    let (Some(facts), Some(abi)) = (total.facts, total.whole.abi()) else { return };
    let length = match abi {
        Abi::Amd64 => facts.amd64,
        Abi::S390x => Some(s390x as InstructionLength),
        Abi::Aarch64Big | Abi::Aarch64Little => None,
    };
    let Some(length) = length else { return };
    for extent in &total.extents.code {
        check_function(total, facts, length, extent, report);
    }
}

/// The two leftmost bits of the operation code determine the length (z/Architecture Principles of Operation).
fn s390x(code: &[u8]) -> Option<usize> {
    Some(match code.first()? >> 6 {
        0 => 2,
        1 | 2 => 4,
        _ => 6,
    })
}

/// The first row that starts inside an instruction: its number, and the start of that instruction. Also `None` if the
/// code cannot be decoded, or `budget` bytes of it have been decoded.
fn misplaced_row(
    function: &Function<'_>,
    length: InstructionLength,
    code: &[u8],
    budget: &mut usize,
) -> Option<(u32, usize)> {
    let mut position = 0;
    for (row, number) in function.frame_row_entries().ok()?.zip(0..) {
        let start = usize::try_from(row.ok()?.start).ok()?;
        let mut last = position;
        while position < start {
            let length = length(code.get(position..)?).filter(|length| *length > 0)?;
            *budget = budget.checked_sub(length)?;
            last = position;
            position += length;
        }
        if position > start {
            return Some((number, last));
        }
    }
    None
}

fn check_function(
    total: &TotalContext<'_>,
    facts: &FileFacts<'_>,
    length: InstructionLength,
    extent: &CodeExtent,
    report: &mut Reporter<'_>,
) {
    let entry = total.whole.section.entry(extent.index);
    let Some(Ok(function)) = entry.map(|entry| entry.function()) else { return };
    let Some(code) = facts.elf.code_bytes(extent.start, extent.size.into()) else { return };
    let mut budget = facts.decodable.get();
    let misplaced = misplaced_row(&function, length, code, &mut budget);
    facts.decodable.set(budget);
    let Some((number, instruction)) = misplaced else { return };
    let rows = function.frame_row_entries().ok();
    let row = rows.and_then(|mut rows| rows.nth(usize::try_from(number).ok()?)?.ok());
    if let Some(row) = row {
        report.about(extent.function()).bytes(
            row.offset..row.offset + row.size(),
            format_args!(
                "row {number} starts at {:#x}, inside the instruction at {instruction:#x} of the \
                 function",
                row.start
            ),
        );
    }
}
