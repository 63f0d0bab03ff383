//! The Linux kernel's ORC tables in a file: their functions have the frames of the entries.

use sframe_oracle::cfi::{Cfi, Cie, RowContext};
use sframe_oracle::orc::{Meaning, Orc, OrcFunctions};
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery};

/// The functions of a file's tables, if it has any that can be read.
///
/// # Panics
/// Panics if they say something else than the tables.
pub(super) fn functions(elf: &Elf<'_>) -> Option<OrcFunctions> {
    let orc = Orc::load(elf).ok()??;
    let functions = OrcFunctions::of(elf, &orc).ok()?;
    same(&orc, &functions.cfi());
    Some(functions)
}

/// Compares the functions with the entries, both in the order of addresses.
fn same(orc: &Orc, cfi: &Cfi<'_>) {
    assert!(cfi.defects().is_empty(), "{:?}", cfi.defects());
    let described = orc.entries().iter().filter(|entry| entry.meaning != Meaning::Undefined);
    let in_entries = described.map(|entry| u128::from(entry.end - entry.start.address));
    let in_functions = cfi.functions().map(|function| u128::from(function.size()));
    assert_eq!(in_entries.sum::<u128>(), in_functions.sum::<u128>());
    let mut context = RowContext::new(cfi);
    for function in cfi.functions() {
        let mut end = function.start().address;
        for row in function.rows(&mut context) {
            let row = row.expect("our own instructions");
            assert_eq!(row.start, end);
            let place = CodeAddress { address: row.start, ..function.start() };
            let entry = orc.find(place).expect("a function has only code with entries");
            agree(entry.meaning, row.frame, function.cie());
            end = row.end;
        }
        assert_eq!(end, function.start().address + function.size());
    }
}

/// Checks that a row, and the CIE of its function, have the meaning of an entry.
fn agree(meaning: Meaning, found: Frame, cie: &Cie) {
    match meaning {
        // The CFA of an outermost frame does not matter.
        Meaning::Frame { frame: Frame { cfa: Cfa::Undefined, ra, fp, .. }, signal } => {
            assert_eq!((found.ra, found.fp, cie.signal), (ra, fp, signal));
        }
        Meaning::Frame { frame, signal } => assert_eq!((found, cie.signal), (frame, signal)),
        Meaning::Undecided(_) => {
            assert!(matches!(found.cfa, Cfa::Expression(_)), "{found}");
            assert!(matches!(found.ra, Recovery::AtExpression(_)), "{found}");
            assert!(matches!(found.fp, Recovery::AtExpression(_)), "{found}");
        }
        Meaning::Undefined => panic!("a function has no undefined code"),
    }
}
