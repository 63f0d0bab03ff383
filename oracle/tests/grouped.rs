//! Differences that are reported as one: nothing may depend on how many are kept, and the one that is kept may not stand for
//! others with another rule, section or verdict.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{elf_files, open};
use sframe_oracle::account::{Account, Difference, Options, Witnesses, account};
use sframe_oracle::compare::Wrong;
use sframe_validator::elf::Elf;
use sframe_validator::finding::Keep;

/// The broken rule, the section of the code, and who is proven wrong.
type Origin = (&'static str, u32, Option<String>);

fn origin(elf: &Elf<'_>, one: &Difference<'_>) -> Origin {
    let section = elf.code_section_at(one.start).map_or(0, |section| section.index);
    let proof =
        one.ruling.filter(|ruling| !matches!(ruling.wrong, Wrong::Neither | Wrong::Undecided));
    (one.finding.rule.name, section, proof.map(|proof| format!("{:?}", proof.wrong)))
}

/// The origins of the differences that are kept. If the code decides about parts of a row, one part represents all.
fn origins(elf: &Elf<'_>, account: &Account<'_>) -> BTreeSet<Origin> {
    let all: BTreeSet<Origin> = account.differences.iter().map(|one| origin(elf, one)).collect();
    let has_proof = |(rule, section, proof): &Origin| {
        proof.is_some()
            || !all.iter().any(|other| (other.0, other.1) == (*rule, *section) && other.2.is_some())
    };
    all.iter().filter(|origin| has_proof(origin)).cloned().collect()
}

fn assert_grouped(path: &Path, data: &[u8], witnesses: Witnesses) -> usize {
    open(data, |elf, sections, cfi| {
        let with = |keep| {
            let options = Options { keep, pedantic: true, witnesses, ..Options::default() };
            account(elf, sections, cfi, &options)
        };
        let (first, all) = (with(Keep::First(100)), with(Keep::All));
        assert_eq!(first.counts, all.counts, "{}: {witnesses:?}", path.display());
        assert_eq!(origins(elf, &first), origins(elf, &all), "{}: {witnesses:?}", path.display());
        let functions = first
            .differences
            .iter()
            .map(|one| one.similar.map_or(1, |similar| similar.functions + 1));
        let counted = all.differences.iter().filter(|one| !one.repeats).count() as u64;
        assert_eq!(functions.sum::<u64>(), counted, "{}: {witnesses:?}", path.display());
        origins(elf, &first).len()
    })
}

#[test]
fn the_number_of_findings_kept_changes_nothing_else() {
    let mut origins = 0;
    for folder in ["golden", "differences", "wrong-cfi"] {
        for path in elf_files(&sframe_corpus::corpus().join(folder)) {
            let data = std::fs::read(&path).expect("readable");
            if data.starts_with(b"\x7fELF") {
                origins += assert_grouped(&path, &data, Witnesses::Cfi);
                origins += assert_grouped(&path, &data, Witnesses::All);
            }
        }
    }
    assert!(origins > 300, "{origins}");
}
