//! Who is wrong at a difference that `corpus/differences` explains.

use sframe_oracle::cfi::Cfi;
use sframe_oracle::compare::{Arbiter, Fields, Reason, Verdict, Wrong, compare};
use sframe_validator::elf::{Elf, RelocationTable};
use sframe_validator::unwind::CodeAddress;
use sframe_validator::{Placement, Section};

/// GNU as misreads `.cfi_def_cfa_register` after a push: at the `pop` at 4, SFrame has FP+8, and the CFA is FP+16.
#[test]
fn the_code_decides_only_about_fields_that_differ() {
    let data = sframe_corpus::read("differences/register-in-place/2.44.o");
    let elf = Elf::parse(&data).expect("ELF");
    let header = elf.sframe_sections().next().expect("a section");
    let starts = RelocationTable::load(&elf, header.index).expect("readable").starts();
    let bytes = elf.section_data(header).expect("in the file");
    let placement = Placement::relocated(&starts).with_abi(elf.abi());
    let sections = [Section::parse(bytes, placement).expect("sound")];
    let cfi = Cfi::load_all(&elf).expect("readable");
    let mut differences = Vec::new();
    compare(&elf, &sections, &cfi, |range| {
        if let Verdict::Different(fields) = range.verdict {
            let sframe = range.sframe.and_then(|it| it.frame).expect("a row");
            let cfi = range.cfi.and_then(|it| it.frame).expect("a row");
            differences.push((range.section, range.start, range.end, fields, sframe, cfi));
        }
    });
    let [(section, start, end, fields, sframe, in_cfi)] = differences[..] else {
        panic!("{differences:?}")
    };
    assert_eq!((start, end, fields), (4, 5, Fields::CFA));
    let place = CodeAddress { section, address: start };
    let mut arbiter = Arbiter::new(&elf, &sections, &cfi);
    let mut rule = |fields| arbiter.rule((place, end), fields, (&sframe, &in_cfi));
    let ruling = rule(Fields::CFA);
    assert_eq!(ruling.wrong, Wrong::Sframe);
    assert!(matches!(ruling.reason, Reason::Proof { address: 4, .. }), "{ruling:?}");
    assert_eq!(rule(Fields::CFA.with(Fields::FP)).wrong, Wrong::Sframe);
    // RA and FP are saved at distances from the CFA.
    assert_eq!((rule(Fields::RA).wrong, rule(Fields::FP).wrong), (Wrong::Sframe, Wrong::Sframe));
    // Instructions do not say whether a frame is one of a signal.
    let ruling = rule(Fields::SIGNAL);
    assert_eq!((ruling.wrong, ruling.reason), (Wrong::Undecided, Reason::NotInCode));
}
