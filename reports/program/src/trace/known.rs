//! Names the known defects that wrong rows are cases of.

use sframe_process::trace::WrongRow;
use sframe_record::{
    Address, Code, Difference, Finding, Header, Record, Section, Severity, Side, Status, Text,
};
use sframe_validator::elf::Elf;
use sframe_validator::finding::HeaderSummary;
use sframe_validator::unwind::{CodeAddress, Frame, Row};
use sframe_validator::{Abi, Section as SframeSection};

use crate::disassembly::disassemble;
use crate::record::{Names, Tables, elf_type};

/// The number of instructions that the signs of a defect are looked for in: a stub can begin with `endbr64`.
const INSTRUCTIONS: usize = 2;

/// The known defect that a wrong row is a case of.
///
/// The registry of known defects recognises findings of the check, which compares SFrame with CFI. So the row becomes such
/// a finding, with the truth in the place of CFI. A defect that is recognised by call frame instructions is not found:
/// there are none.
#[must_use]
pub fn defect(row: &WrongRow<'_>) -> Option<&'static str> {
    let elf = Elf::parse(row.file).ok()?;
    let record = record(&elf)?;
    let mut finding = finding(&elf, row);
    sframe_defects::recognise_one(&record, &mut finding)?;
    sframe_defects::find(finding.known.as_deref()?).map(|defect| defect.id)
}

/// The record of a file with one SFrame section, whose header can be read.
fn record(elf: &Elf<'_>) -> Option<Record<'static>> {
    let mut contents = elf.sframe_contents();
    let (Some(found), None) = (contents.next(), contents.next()) else { return None };
    let placement = found.placement().ok()?;
    let section = SframeSection::parse(found.data.ok()?, placement).ok()?;
    let header = section.header();
    let summary = HeaderSummary {
        version: header.version,
        flags: header.flags,
        abi: section.abi().ok(),
        endian: section.endian(),
        fixed_offsets: (header.cfa_fixed_fp_offset, header.cfa_fixed_ra_offset),
    };
    let section = Section {
        index: Some(found.header.index),
        name: ".sframe".into(),
        address: Address(found.header.address),
        file_offset: found.header.offset,
        size: found.header.size,
        header: Some(Header::of(&summary)),
        functions: 0,
        rows: 0,
        covered_bytes: 0,
    };
    let sections = vec![section];
    Some(Record { elf_type: Some(elf_type(elf)), sections, ..Record::new(Status::Checked) })
}

/// The finding about a row, as the check would report it if the truth were the row of CFI.
fn finding(elf: &Elf<'_>, row: &WrongRow<'_>) -> Finding<'static> {
    let WrongRow { address, code, stated, truth, .. } = *row;
    let instructions = disassemble(Abi::Amd64, code, address, address, INSTRUCTIONS);
    let end = address.saturating_add(1);
    let one = |frame: Frame| [Row { start: address, end, frame }];
    let (sides, rows) = ((Side::Sframe, Side::Cfi), (&one(stated)[..], &one(truth)[..]));
    let difference = Difference {
        fields: vec!["cfa".into()],
        table: Tables::around(Abi::Amd64, rows, sides, address, end).lines,
        cut: false,
        instructions: instructions.into_iter().map(Into::into).collect(),
        directives: Vec::new(),
        ruling: None,
        similar: None,
        rows_from: None,
        repeats: false,
    };
    let (start, end) = (Address(address), Address(end));
    let range = Code {
        start,
        end,
        code_section: None,
        symbol: None,
        symbol_hex: None,
        symbol_offset: None,
    };
    Finding {
        code: Some(Box::new(range)),
        elf_section: Names::of(Some(elf))
            .elf_section(CodeAddress::absolute(address))
            .map(Text::from),
        difference: Some(Box::new(difference)),
        ..Finding::about_file("cfa-mismatch".into(), Severity::Error, "", String::new())
    }
}
