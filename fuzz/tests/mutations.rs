//! Checks that every mutation can be made, and that a rule it declares reports it, or that it changes no row.

use std::collections::BTreeSet;

use sframe_fuzz::generate::{Configuration, FUNCTION_BLOCK, HEADER_BLOCK, Plan};
use sframe_fuzz::targets::mutated::{defect_is_reported, rows_are_unchanged};
use sframe_mutate::Seeded;
use sframe_mutate::{defects, in_place, variations};
use sframe_validator::rules::{CATALOGUE, Rule, Severity};
use sframe_validator::write::StoredSection;
use sframe_validator::write::elf::Image;

/// The number of sections on which a mutation is tried.
const SECTIONS: usize = 400;
/// It must be possible in at least this many of them.
const PLACES: usize = 5;

fn section(random: &mut Seeded) -> StoredSection {
    let length = HEADER_BLOCK + random.below(6) * FUNCTION_BLOCK;
    let configuration = Configuration { objects: false, ..Configuration::SILENT };
    let plan = Plan::new(&random.bytes(length), &configuration);
    let bytes = plan.build().expect("can be written").bytes;
    StoredSection::read(&bytes, plan.address).expect("valid")
}

#[test]
fn defects_are_reported() {
    for defect in defects() {
        let mut random = Seeded::new(17);
        let made = (0..SECTIONS).filter(|_| {
            let parts = section(&mut random);
            defect_is_reported(defect, &parts, &mut random)
        });
        let made = made.count();
        assert!(made >= PLACES, "{}: {made}", defect.name);
    }
}

#[test]
fn variations_do_not_change_rows() {
    for variation in variations() {
        let mut random = Seeded::new(19);
        let made = (0..SECTIONS).filter(|_| {
            let parts = section(&mut random);
            rows_are_unchanged(variation, &parts, &mut random)
        });
        let made = made.count();
        assert!(made >= PLACES, "{}: {made}", variation.name);
    }
}

/// Warnings and errors about a bare section that no defect declares: these are about unusual but legal sections, which
/// the generator covers.
const GENERATED: [&str; 5] = [
    "obsolete-version",
    "auxiliary-header",
    "function-table-alignment",
    "flex-abi",
    "word-count-zero",
];

/// Rules whose sections the validator's tests make by hand, and no defect makes yet.
const BY_HAND: [&str; 3] = ["abi-endian", "function-hidden", "repeat-size-unknown"];

#[test]
fn every_rule_about_a_section_is_declared_by_a_defect() {
    let declared: BTreeSet<_> = defects().flat_map(|defect| defect.noticed_by).copied().collect();
    for name in &declared {
        assert!(Rule::find(name).is_some(), "no rule is called {name}");
    }
    // Rules that require a file, or are about its content.
    let of_files = |rule: &Rule| {
        use sframe_validator::rules::Group::{Container, Coverage, Relocations};
        matches!(rule.group, Container | Coverage | Relocations)
    };
    let in_files = [
        "unsorted-linked",
        "sorted-object",
        "function-at-null",
        "function-outside-code",
        "repeat-start-alignment",
        "repeat-in-object",
    ];
    let missing: Vec<_> = CATALOGUE
        .iter()
        .filter(|rule| rule.severity > Severity::Lint && !of_files(rule))
        .map(|rule| rule.name)
        .filter(|name| !declared.contains(name) && !in_files.contains(name))
        .filter(|name| !BY_HAND.contains(name))
        .collect();
    assert_eq!(missing, GENERATED);
}

#[test]
fn files_keep_their_size_and_sections_their_limit() {
    let mut random = Seeded::new(23);
    let (mut sections, mut files) = (0, 0);
    for seed in 0..400 {
        let parts = section(&mut random);
        let bytes = parts.bytes();
        let most = bytes.len() + 16;
        let mut data = bytes.clone();
        data.resize(most, 0);
        if let Some(size) = in_place(&mut data, bytes.len(), most, seed) {
            assert!(size <= most);
            sections += usize::from(data[..size] != bytes);
        }
        let file = Image {
            abi: parts.abi,
            code: 0x1000..0x1100,
            sframe: (&bytes, 0x4000),
            typed: true,
            eh_frame: None,
        };
        let file = file.bytes().expect("small");
        let mut data = file.clone();
        if let Some(size) = in_place(&mut data, file.len(), file.len(), seed) {
            assert_eq!(size, file.len());
            files += usize::from(data != file);
        }
    }
    assert!(sections > 100 && files > 100, "{sections} sections, {files} files");
}
