//! Findings about CFI that can be read: code that it does not describe, and sections that differ. What is right is written in
//! the inputs; readelf and llvm-dwarfdump print the same.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::collections::BTreeSet;

use common::{ALL_BY_PATTERN, elf_files, golden_files, open};
use sframe_corpus::corpus;
use sframe_oracle::account::account;
use sframe_oracle::cfi::{CfiErrorKind, SearchDefectKind};
use sframe_oracle::rules::{CATALOGUE, rule_of, rule_of_search};
use sframe_validator::elf::SearchTableError;
use sframe_validator::rules::Group;

/// The messages of findings of some rules in a file.
fn messages(data: &[u8], rules: &[&str]) -> Vec<String> {
    open(data, |elf, sections, cfi| {
        let account = account(elf, sections, cfi, &ALL_BY_PATTERN);
        let wanted = account.findings.iter().filter(|finding| rules.contains(&finding.rule.name));
        wanted.map(|finding| format!("{}: {}", finding.rule.name, finding.message)).collect()
    })
}

const RULES: [&str; 3] = ["cfi-unknown-augmentation", "cfi-outside-code", "cfi-sections-differ"];

#[test]
fn each_input_has_its_finding() {
    for (folder, message) in [
        (
            "augmentation-not-known",
            "cfi-unknown-augmentation: .eh_frame+0xb: augmentation 'Q' has no known meaning here",
        ),
        (
            "cfi-of-data",
            "cfi-outside-code: .eh_frame+0x2c: no executable section contains 0x0, where the function starts",
        ),
        (
            "debug-frame-differs",
            "cfi-sections-differ: .debug_frame: at 0x1, CFA is rsp+24, .eh_frame says rsp+16 (FDE at 0x18)",
        ),
    ] {
        let data = sframe_corpus::read(&format!("edges/{folder}/2.47.50.o"));
        assert_eq!(messages(&data, &RULES), [message], "{folder}");
    }
}

/// GNU as writes both sections from the same directives, for `golden/*/*/debug-only.so` and others.
#[test]
fn assemblers_write_nothing_of_the_kind() {
    let mut both = 0;
    for path in golden_files().into_iter().chain(elf_files(&corpus().join("differences"))) {
        let data = std::fs::read(&path).expect("readable");
        if data.starts_with(b"\x7fELF") {
            assert_eq!(messages(&data, &RULES), [""; 0], "{}", path.display());
            both += 1;
        }
    }
    assert!(both > 400, "{both}");
}

#[test]
fn every_rule_about_cfi_has_a_kind_of_error() {
    let kinds = [
        CfiErrorKind::Truncated,
        CfiErrorKind::NumberTooLarge,
        CfiErrorKind::EntryLength { length: 0, available: 0 },
        CfiErrorKind::EntriesAfterTerminator,
        CfiErrorKind::BadCiePointer(0),
        CfiErrorKind::CieVersion(2),
        CfiErrorKind::Augmentation(b'Q'),
        CfiErrorKind::AddressSize(3),
        CfiErrorKind::PointerEncoding(5),
        CfiErrorKind::AddressOverflow,
        CfiErrorKind::OffsetOverflow,
        CfiErrorKind::RegisterNumber(1 << 40),
        CfiErrorKind::EmptyRange,
        CfiErrorKind::Overlap(0),
        CfiErrorKind::UnknownInstruction(0x3f),
        CfiErrorKind::UnbalancedRestoreState,
        CfiErrorKind::CfaNotRegister,
        CfiErrorKind::NotInitial(0x41),
        CfiErrorKind::AdvancePastEnd { address: 2, end: 1 },
        CfiErrorKind::SetLocBackwards { from: 2, to: 1 },
        CfiErrorKind::Discarded,
    ];
    let rules: BTreeSet<_> =
        kinds.iter().map(|kind| rule_of(kind).expect("a defect").name).collect();
    let named: BTreeSet<_> = kinds.iter().map(CfiErrorKind::name).collect();
    assert_eq!(rules, named);
    let searched = [
        SearchDefectKind::NoSegment,
        SearchDefectKind::Unreadable(SearchTableError::Truncated),
        SearchDefectKind::Pointer { to: 0, eh_frame: 4 },
        SearchDefectKind::Unsorted { count: 1, first: 1 },
        SearchDefectKind::NoFde { entry: 0, to: 0 },
        SearchDefectKind::Missing { bytes: 1 },
        SearchDefectKind::Hidden { bytes: 1, by: 0, size: 0 },
    ];
    let searched = searched.iter().map(|kind| rule_of_search(kind).name);
    let of_places = ["cfi-outside-code", "cfi-sections-differ"];
    let all: BTreeSet<_> = named.into_iter().chain(searched).chain(of_places).collect();
    let in_catalogue = CATALOGUE.iter().filter(|rule| rule.group == Group::Cfi);
    assert_eq!(in_catalogue.map(|rule| rule.name).collect::<BTreeSet<_>>(), all);
    for limit in [
        CfiErrorKind::UnreadableSection("it is compressed"),
        CfiErrorKind::UnreadableCie(0),
        CfiErrorKind::PointerEncoding(0x3b),
        CfiErrorKind::IndirectPointer(0x9b),
        CfiErrorKind::TooManyStates,
        CfiErrorKind::MissingRelocation,
        CfiErrorKind::UnresolvedRelocation,
        CfiErrorKind::RelocationType(7),
    ] {
        assert_eq!(rule_of(&limit), None, "{limit:?}");
    }
}
