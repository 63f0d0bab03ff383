//! The rows of call frame information by address.

mod further;

use sframe_oracle::cfi::{Cfi, Fde, RowContext};
use sframe_validator::elf::ElfError;
use sframe_validator::unwind::{CodeAddress, Frame, Row};

use crate::statement::{FurtherRules, Silence, Statement};
use further::Further;

/// The CFI sections of a file, read once, with the rows of the function looked up last.
pub(super) struct CfiSource<'s> {
    sections: Result<Vec<Cfi<'s>>, ElfError>,
    /// The function of the last lookup: the number of its section and the offset of its entry.
    function: Option<(usize, u64)>,
    rows: Vec<Row>,
    /// The defect that ends the rows too early.
    defect: Option<String>,
    further: Further,
}

impl<'s> CfiSource<'s> {
    /// The sections, or why they cannot be read.
    pub(super) fn new(sections: Result<Vec<Cfi<'s>>, ElfError>) -> CfiSource<'s> {
        CfiSource {
            sections,
            function: None,
            rows: Vec::new(),
            defect: None,
            further: Further::default(),
        }
    }

    /// The statement about an address of the file. The first section that describes it is used.
    pub(super) fn at(&mut self, address: u64) -> Statement {
        let sections = match &self.sections {
            Ok(sections) => sections,
            Err(error) => {
                return Statement::nothing(Silence::Unreadable(format!("CFI: {error}")));
            }
        };
        let place = CodeAddress::absolute(address);
        let find = |(number, cfi): (usize, &'_ Cfi<'s>)| Some((number, cfi.find(place)?.offset()));
        let Some((number, offset)) = sections.iter().enumerate().find_map(find) else {
            return Statement::nothing(silence(sections));
        };
        let Some(fde) = sections.get(number).and_then(|cfi| cfi.find(place)) else {
            return Statement::nothing(Silence::NoFunction);
        };
        let function = (fde.start().address, fde.start().address.saturating_add(fde.size()));
        let signal = fde.cie().signal;
        if self.function != Some((number, offset)) {
            self.function = Some((number, offset));
            self.defect = read(&fde, &mut self.rows);
        }
        let next = self.rows.partition_point(|row| row.end <= address);
        let row = self.rows.get(next).filter(|row| row.contains(address)).copied();
        let row = row.ok_or_else(|| match &self.defect {
            Some(reason) => Silence::Unreadable(format!("CFI: {reason}")),
            None => Silence::NoRow,
        });
        Statement { function: Some(function), row, signal, further: FurtherRules::NONE }
    }

    /// The rules at an address that `frame`, the frame there, cannot express.
    pub(super) fn further(&mut self, address: u64, frame: &Frame) -> FurtherRules {
        let place = CodeAddress::absolute(address);
        let mut sections = self.sections.iter().flatten();
        let fde = sections.find_map(|cfi| cfi.find(place));
        fde.map_or(FurtherRules::NONE, |fde| self.further.at(&fde, address, frame))
    }
}

/// Reads the rows of a function into `rows`. Returns the defect that ends them too early.
fn read(fde: &Fde<'_>, rows: &mut Vec<Row>) -> Option<String> {
    rows.clear();
    let mut context = RowContext::new(fde.cfi());
    let mut made = fde.rows(&mut context);
    loop {
        match made.next_row() {
            Ok(Some(row)) => rows.push(*row),
            Ok(None) => return None,
            Err(error) => return Some(error.to_string()),
        }
    }
}

/// Why no section describes an address.
fn silence(sections: &[Cfi<'_>]) -> Silence {
    if sections.is_empty() {
        return Silence::NoSection;
    }
    // An entry that cannot be read may describe the address.
    let defect = sections.iter().find_map(|cfi| Some((cfi, cfi.defects().first()?)));
    match defect {
        Some((cfi, defect)) => Silence::Unreadable(format!("{}: {defect}", cfi.name())),
        None => Silence::NoFunction,
    }
}
