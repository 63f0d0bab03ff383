//! What a difference between SFrame and CFI looks like: both tables of rows, and the machine code.

use sframe_oracle::account::{Difference, Similar};
use sframe_oracle::compare::Fields;
use sframe_validator::elf::Elf;
use sframe_validator::section::CodeAddress;
use sframe_validator::{Abi, Section};

use super::rows::RowReader;
use super::tables::Tables;
use crate::disassembly::{Instruction, disassemble};

/// How many instructions of the range are shown.
const MAX_INSTRUCTIONS: usize = 8;
/// How far from its start a function's code is decoded to come to an instruction.
const MAX_DECODED: u64 = 1 << 16;

/// The evidence of one difference.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The first PC at which the sides differ.
    pub start: u64,
    /// The first PC behind.
    pub end: u64,
    /// What differs.
    pub fields: Fields,
    /// SFrame's rows first, CFI's second.
    pub tables: Tables,
    /// The instructions of the range, for AMD64 and AArch64; the first ones of a long range.
    pub code: Vec<Instruction>,
    /// Where the same pattern shows as well; `None` where each difference is listed.
    pub similar: Option<Similar>,
    /// The function shows the same pattern before: it is counted there.
    pub repeats: bool,
}

/// Gathers the evidence of a file's differences.
pub struct Gatherer<'g> {
    elf: &'g Elf<'g>,
    sections: &'g [Section<'g>],
    rows: RowReader,
}

impl<'g> Gatherer<'g> {
    /// For the differences of `sections` of the file.
    #[must_use]
    pub const fn new(elf: &'g Elf<'g>, sections: &'g [Section<'g>]) -> Gatherer<'g> {
        Gatherer { elf, sections, rows: RowReader::new() }
    }

    /// The evidence of a difference; `None` where its rows are too many or cannot be read again.
    pub fn gather(&mut self, difference: &Difference<'_>) -> Option<Evidence> {
        let section = self.sections.get(difference.finding.section?)?;
        let index = difference.finding.function?.index;
        let function = section.entry(index)?.function().ok()?;
        let fde = difference.cfi.function;
        let abi = section.abi().ok()?;
        let (start, end) = (difference.start, difference.end);
        let ours = self.rows.of_function(&function, start.address)?;
        let truth = self.rows.of_cfi(&fde)?;
        Some(Evidence {
            start: start.address,
            end,
            fields: difference.fields,
            tables: Tables::around(abi, &ours, &truth, start.address, end),
            code: code(self.elf, abi, fde.start(), start.address, end),
            similar: difference.similar,
            repeats: difference.repeats,
        })
    }
}

/// The instructions in `[start, end)` of the function that begins at `function`.
pub(crate) fn code(
    elf: &Elf<'_>,
    abi: Abi,
    function: CodeAddress,
    start: u64,
    end: u64,
) -> Vec<Instruction> {
    // A row starts where an instruction does: good enough where the function starts too far away.
    let near = start.checked_sub(function.address).is_some_and(|bytes| bytes <= MAX_DECODED);
    let first = if near { function.address } else { start };
    let place = CodeAddress { section: function.section, address: first };
    let Some(bytes) = elf.code_bytes(place, end.saturating_sub(first)) else { return Vec::new() };
    disassemble(abi, bytes, first, start, MAX_INSTRUCTIONS)
}
