//! The evidence of a difference between SFrame and CFI: both tables of rows, and the machine code.

use sframe_oracle::account;
use sframe_oracle::compare::{self as oracle, Reason};
use sframe_record::{
    Address, Difference, Instruction, KnownFrame, Proof, Ruling, Side, Similar, Text, Why,
};
use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Abi, Section};

use super::directives::directives;
use super::instructions::{code, instruction_at};
use super::rows::RowReader;
use super::tables::Tables;
use super::ways::Ways;

/// What a finding has besides its place and words.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// The tables, if SFrame and CFI differ and they could be read again.
    pub difference: Option<Difference<'static>>,
    /// The known defect that its row is a case of.
    pub known: Option<&'static str>,
    /// The proof, if it is wanted and the code decides.
    pub why: Option<Why<'static>>,
}

/// Gathers the evidence of a file's differences.
pub struct Gatherer<'g, 'n> {
    elf: &'g Elf<'g>,
    sections: &'g [Section<'g>],
    rows: RowReader,
    proofs: Option<Ways<'g, 'n>>,
}

impl<'g, 'n> Gatherer<'g, 'n> {
    /// Gathers differences of the file, which has `sections`.
    #[must_use]
    pub fn new(elf: &'g Elf<'g>, sections: &'g [Section<'g>]) -> Gatherer<'g, 'n> {
        Gatherer { elf, sections, rows: RowReader::default(), proofs: None }
    }

    /// Gathers proofs as well.
    #[must_use]
    pub fn with_proofs(self, proofs: Option<Ways<'g, 'n>>) -> Gatherer<'g, 'n> {
        Gatherer { proofs, ..self }
    }

    /// A difference for the record of its file.
    pub fn gathered(&mut self, difference: &account::Difference<'_>) -> Gathered {
        let why = match (&mut self.proofs, difference.ruling) {
            (Some(proofs), Some(ruling)) => proofs.of_ruling(difference.start, ruling),
            _ => None,
        };
        Gathered { difference: self.gather(difference), known: difference.known, why }
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
