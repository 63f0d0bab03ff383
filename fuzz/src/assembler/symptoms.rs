//! The symptoms of defects in an object.

use std::collections::BTreeSet;

use sframe_oracle::cfi::{Cfi, RowContext};
use sframe_oracle::compare::{Range, Verdict, compare};
use sframe_oracle::coverage::{Stubs, examine};
use sframe_validator::elf::Elf;
use sframe_validator::{Section, Version};

use crate::program::{Function, Op, Program};

/// The symptoms of each function of the program that the object was assembled from: `differs: ` and
/// the fields, `lost` without a cause in the CFI, `only-sframe`, `undecided`, and `misread` if
/// the CFI does not have the program's rows.
///
/// # Panics
/// The object is not an ELF file, or has no CFI that can be read.
#[must_use]
pub fn symptoms(object: &[u8], program: &Program) -> Vec<BTreeSet<String>> {
    let elf = Elf::parse(object).expect("an assembler writes ELF");
    let contents: Vec<_> = elf.sframe_contents().collect();
    let sections = contents.iter().filter_map(|content| {
        Section::parse(content.data.ok()?, content.placement().ok()?.with_abi(elf.abi())).ok()
    });
    let sections: Vec<_> = sections.collect();
    let version = sections.first().map_or(Version::V2, |section| section.header().version);
    let cfi = Cfi::load_all(&elf).expect("an assembler writes CFI");
    let stubs = Stubs::of(&elf);
    let mut found = vec![BTreeSet::new(); program.functions.len()];
    let mut contexts: Vec<_> = cfi.iter().map(RowContext::new).collect();
    compare(&elf, &sections, &cfi, |range| {
        let cause = |contexts: &mut Vec<RowContext>| {
            let fde = range.cfi.expect("the function that is lost").function;
            let place = cfi.iter().position(|cfi| cfi.section() == fde.cfi().section());
            let context = &mut contexts[place.expect("among those compared")];
            examine(&stubs, &fde, version, context).cause
        };
        let symptom = match range.verdict {
            Verdict::Equal | Verdict::Limited(_) | Verdict::Neither => return,
            Verdict::Different(fields) => {
                format!("differs: {}", fields.names().collect::<Vec<_>>().join(", "))
            }
            Verdict::OnlyCfi if cause(&mut contexts).is_some() => return,
            Verdict::OnlyCfi => "lost".to_owned(),
            Verdict::OnlySframe => "only-sframe".to_owned(),
            Verdict::Undecided => "undecided".to_owned(),
        };
        if let Some(number) = number(program, range) {
            found[number].insert(symptom);
        }
    });
    misread(program, &cfi, &mut found);
    found
}

/// The index of the function that a range is in.
fn number(program: &Program, range: &Range<'_>) -> Option<usize> {
    let covers =
        |function: &Function| range.start.wrapping_sub(function.start) < u64::from(function.size);
    program.functions.iter().position(covers)
}

/// Finds functions whose rows in the CFI are not those of the program.
fn misread(program: &Program, cfi: &[Cfi<'_>], found: &mut [BTreeSet<String>]) {
    for cfi in cfi {
        let mut context = RowContext::new(cfi);
        for fde in cfi.functions() {
            let place = |function: &Function| function.start == fde.start().address;
            let Some(number) = program.functions.iter().position(place) else { continue };
            let function = &program.functions[number];
            if restores_first_rules(function) {
                continue;
            }
            let rows: Result<Vec<_>, _> = fde.rows(&mut context).collect();
            let Ok(rows) = rows else {
                found[number].insert("misread".to_owned());
                continue;
            };
            let rows = rows.iter().map(|row| ((row.start - function.start) as u32, row.frame));
            if rows.ne(program.rows(function)) {
                found[number].insert("misread".to_owned());
            }
        }
    }
}

/// Whether `restore` may go back to rules at the function's start, which GNU as moves into the CIE.
fn restores_first_rules(function: &Function) -> bool {
    let start = |op: &Op| !matches!(op, Op::Advance { bytes: 1.., .. });
    function.ops.first().is_some_and(start)
        && function.ops.iter().any(|op| matches!(op, Op::Restore { .. }))
}
