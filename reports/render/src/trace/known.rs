//! Names the known defects that wrong rows are cases of.

use sframe_defects::RowDefects;
use sframe_oracle::cfi::CfiSource;
use sframe_process::trace::WrongRow;
use sframe_validator::elf::{Elf, ElfSection};
use sframe_validator::unwind::{Cfa, CodeAddress};
use sframe_validator::{Abi, Section};

use sframe_scan::describe::producers;

/// The known defect that a wrong row is a case of.
///
/// Only defects of stubs are found, whose rows the linker makes: a trace of another row does not show which directives it was
/// made from.
#[must_use]
pub fn defect(row: &WrongRow<'_>) -> Option<&'static str> {
    let elf = Elf::parse(row.file).ok()?;
    let place = CodeAddress::absolute(row.address);
    if !elf.code_section_at(place).is_some_and(ElfSection::is_stubs) || !is_entered_by_call(row) {
        return None;
    }
    let mut contents = elf.sframe_contents();
    let (Some(found), None) = (contents.next(), contents.next()) else { return None };
    let placement = found.placement().ok()?;
    let sections = [Section::parse(found.data.ok()?, placement).ok()?];
    let source = CfiSource::of(&elf);
    let cfi = source.load_all().ok()?;
    RowDefects::new(&elf, &sections, &cfi, producers).of_stub(place, &row.stated)
}

/// Whether nothing but the CFA is wrong, and the return address is on top of the stack.
fn is_entered_by_call(row: &WrongRow<'_>) -> bool {
    let (sp, stated, truth) = (Abi::Amd64.sp(), &row.stated, &row.truth);
    let rest = (stated.ra, stated.fp, stated.ra_signed) == (truth.ra, truth.fp, truth.ra_signed);
    rest && truth.cfa == Cfa::RegisterOffset { register: sp, offset: 8 }
}
