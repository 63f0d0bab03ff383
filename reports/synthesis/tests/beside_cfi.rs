//! A section that is made from machine code never contradicts the CFI beside it, and what the code proves of that CFI stays as it
//! was.
//!
//! The truth is the same file without the section.

use std::path::Path;

use sframe_oracle::account::{Account, Options, Witnesses, account};
use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{Insertion, synthesize_code};
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::{Section, Version};

/// The account of a file with its sections.
fn of_file<T>(file: &[u8], look: impl FnOnce(&Account<'_>) -> T) -> T {
    let elf = Elf::parse(file).expect("ELF");
    let contents: Vec<_> = elf.sframe_contents().collect();
    let sections = contents.iter().map(|sframe| {
        let placement = sframe.placement().expect("readable").with_abi(elf.abi());
        Section::parse(sframe.data.expect("in the file"), placement).expect("sound")
    });
    let sections: Vec<_> = sections.collect();
    let cfi = Cfi::load_all(&elf).expect("readable");
    let options = Options { witnesses: Witnesses::All, ..Options::default() };
    look(&account(&elf, &sections, &cfi, &options))
}

/// The file with a section from its code; `None` if it is no program without a section whose code is examined.
fn with_section(file: &[u8]) -> Option<Vec<u8>> {
    let elf = Elf::parse(file).ok()?;
    let is_linked = matches!(elf.kind(), ElfKind::Executable | ElfKind::Shared);
    if !is_linked || elf.sframe_sections().next().is_some() {
        return None;
    }
    let insertion = Insertion::new(&elf).ok()?;
    let cfi = Cfi::load_all(&elf).ok()?;
    let made = synthesize_code(&elf, &cfi, Version::V3, insertion.place()).ok()?;
    insertion.file(&made.synthesis.written).ok()
}

#[test]
fn a_section_from_code_changes_nothing_about_cfi() {
    let mut paths = sframe_corpus::files(Path::new("/usr/bin"));
    paths.retain(|path| path.metadata().is_ok_and(|it| it.len() < 200_000));
    paths.truncate(sframe_corpus::tries(60, 400));
    let mut count = 0;
    for path in paths {
        let file = std::fs::read(&path).expect("readable");
        let Some(with) = with_section(&file) else { continue };
        let proven = |account: &Account<'_>| {
            let proofs = account.proofs.as_ref().expect("the code was asked");
            format!("{:?} {}", proofs.cfi, proofs.wrong_rules)
        };
        let alone = of_file(&file, proven);
        of_file(&with, |account| {
            assert_eq!(proven(account), alone, "{}", path.display());
            assert_eq!(account.sums.different, 0, "{}", path.display());
        });
        count += 1;
    }
    assert!(count >= 10, "{count}");
}
