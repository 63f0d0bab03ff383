//! The evidence of a difference between SFrame and CFI: both tables of rows, and the machine code.

use sframe_oracle::account;
use sframe_oracle::compare::{self as oracle, Reason};
use sframe_record::json::hex;
use sframe_record::{
    Address, Difference, Instruction, KnownFrame, Proof, Ruling, Side, Similar, Text,
};
use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Abi, Section};

use super::directives::directives;
use super::rows::RowReader;
use super::tables::Tables;
use crate::disassembly::disassemble;

/// The number of instructions of the range that are shown.
const MAX_INSTRUCTIONS: usize = 8;
/// The size in bytes of the longest instruction (AMD64).
const LONGEST: u64 = 15;
/// The maximum number of bytes of a function that are decoded to find the start of an instruction.
const MAX_DECODED: u64 = 1 << 16;

/// The number of bytes that are shown of an instruction that is not decoded: all of it on AArch64.
const SHOWN: u64 = 4;

/// What a finding has besides its place and words.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// The tables, if SFrame and CFI differ and they could be read again.
    pub difference: Option<Difference<'static>>,
    /// The known defect that its row is a case of.
    pub known: Option<&'static str>,
}

/// Gathers the evidence of a file's differences.
pub struct Gatherer<'g> {
    elf: &'g Elf<'g>,
    sections: &'g [Section<'g>],
    rows: RowReader,
}

impl<'g> Gatherer<'g> {
    /// Gathers differences of the file, which has `sections`.
    #[must_use]
    pub fn new(elf: &'g Elf<'g>, sections: &'g [Section<'g>]) -> Gatherer<'g> {
        Gatherer { elf, sections, rows: RowReader::default() }
    }

    /// A difference for the record of its file.
    pub fn gathered(&mut self, difference: &account::Difference<'_>) -> Gathered {
        Gathered { difference: self.gather(difference), known: difference.known }
    }

    /// The evidence of a difference; `None` if there are too many rows or they cannot be read again.
    fn gather(&mut self, difference: &account::Difference<'_>) -> Option<Difference<'static>> {
        let (start, end) = (difference.start, difference.end);
        let (rows_start, rows_end) = difference.whole;
        let section = difference.finding.section.and_then(|number| self.sections.get(number));
        let (mut sframe, mut cfi) = (Vec::new(), Vec::new());
        let mut function_start = start;
        if let (Some(section), Some(id)) = (section, difference.finding.function) {
            let function = section.entry(id.index)?.function().ok()?;
            function_start = id.start.unwrap_or(start);
            sframe = self.rows.of_function(&function, start.address)?;
        }
        if let Some(of) = &difference.cfi {
            function_start = of.function.start();
            cfi = self.rows.of_cfi(&of.function)?;
        }
        let in_section = section.and_then(|section| section.abi().ok());
        let abi = in_section.or_else(|| difference.cfi.map(|of| of.function.cfi().abi()))?;
        let sides = (Side::Sframe, Side::Cfi);
        let Tables { lines, cut } =
            Tables::around(abi, (&sframe, &cfi), sides, rows_start, rows_end);
        let similar = difference.similar.map(|similar| Similar {
            functions: similar.functions,
            ranges: similar.ranges,
            bytes: similar.bytes,
        });
        let directives =
            difference.cfi.map(|of| directives(&of.function, abi, rows_start)).unwrap_or_default();
        Some(Difference {
            fields: difference.fields.names().map(Text::from).collect(),
            table: lines,
            cut,
            instructions: code(self.elf, abi, function_start, start.address, end),
            directives,
            ruling: difference.ruling.map(|ruling| describe(ruling, self.elf, abi, function_start)),
            rows_from: (rows_start < start.address).then_some(Address(rows_start)),
            similar,
            repeats: difference.repeats,
        })
    }
}

/// A ruling about a difference in the function that begins at `function`, in words.
fn describe(
    ruling: oracle::Ruling,
    elf: &Elf<'_>,
    abi: Abi,
    function: CodeAddress,
) -> Ruling<'static> {
    let wrong = ruling.wrong;
    match ruling.reason {
        Reason::Unproven(why) => Ruling { wrong, undecided: Some(why), proof: None },
        Reason::Proof { address, change, known } => {
            let instruction = |address| {
                let place = CodeAddress { section: function.section, address };
                instruction_at(elf, abi, function, place)
            };
            let proof = Proof {
                change: change.and_then(instruction),
                instruction: instruction(address).unwrap_or_else(|| Instruction {
                    address: Address(address),
                    bytes: Text::default(),
                    text: Text::default(),
                }),
                known: KnownFrame::new(abi, &known),
                ra_signed: known.ra.is_some() && known.ra_signed,
            };
            Ruling { wrong, undecided: None, proof: Some(proof) }
        }
    }
}

/// The instruction that contains `place`, in the function that begins at `function`.
pub fn instruction_at(
    elf: &Elf<'_>,
    abi: Abi,
    function: CodeAddress,
    place: CodeAddress,
) -> Option<Instruction<'static>> {
    let end = place.address.saturating_add(LONGEST);
    code(elf, abi, function, place.address, end).into_iter().next()
}

/// The instruction at `place`, which a reason names, or its first bytes if it is not decoded: nobody knows how many belong to it.
#[must_use]
pub fn instruction_to_blame(elf: &Elf<'_>, place: CodeAddress) -> Option<Instruction<'static>> {
    let decoded = instruction_at(elf, elf.abi()?, place, place);
    decoded.or_else(|| {
        let bytes = hex(elf.code_bytes(place, SHOWN)?).into();
        Some(Instruction { address: Address(place.address), bytes, text: Text::default() })
    })
}

/// The instructions in `[start, end)` of the function that begins at `function`.
pub fn code(
    elf: &Elf<'_>,
    abi: Abi,
    function: CodeAddress,
    start: u64,
    end: u64,
) -> Vec<Instruction<'static>> {
    // A row starts at the start of an instruction. This is used if the start of the function is too far away.
    let near = start.checked_sub(function.address).is_some_and(|bytes| bytes <= MAX_DECODED);
    let first = if near { function.address } else { start };
    let place = CodeAddress { section: function.section, address: first };
    let Some(bytes) = elf.code_bytes(place, end.saturating_sub(first)) else { return Vec::new() };
    let instructions = disassemble(abi, bytes, first, start, MAX_INSTRUCTIONS);
    instructions.into_iter().map(Instruction::from).collect()
}
