//! Files without section headers: CFI and what is compared with it are those of the same file with headers.
//!
//! The truth is the file with its own headers. Without `.symtab`, which only headers have, both know the same symbols.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use common::{ALL, open};
use sframe_oracle::account::{Account, Options, Witnesses, account};
use sframe_oracle::cfi::{Cfi, RowContext};
use sframe_validator::elf::{Elf, SHT_PROGBITS, SHT_SYMTAB, SectionHeaders};
use sframe_validator::write::elf::claims;

/// `PT_GNU_EH_FRAME`.
const PT_GNU_EH_FRAME: u32 = 0x6474_e550;

/// The file without `.symtab`, and without any section header; `None` if PT_GNU_EH_FRAME does not lead to its CFI.
fn both(file: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let elf = Elf::parse(file).ok().filter(|elf| elf.abi().is_some())?;
    elf.segments().iter().find(|segment| segment.p_type == PT_GNU_EH_FRAME)?;
    elf.code_sections().next()?;
    let mut whole = file.to_vec();
    for section in elf.sections().iter().filter(|section| section.sh_type == SHT_SYMTAB) {
        claims::section(&mut whole, section.index, |header| header.sh_type = SHT_PROGBITS)?;
    }
    let mut bare = file.to_vec();
    claims::no_sections(&mut bare)?;
    Some((whole, bare))
}

/// Files with CFI to which PT_GNU_EH_FRAME leads: mold's, some of the system's, and those of other machines. Neither names
/// nor sizes matter: the first ones of each folder are taken.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut paths: Vec<_> = common::golden_files()
        .into_iter()
        .filter(|path| path.starts_with(sframe_corpus::corpus().join("golden/mold")))
        .collect();
    for folder in ["/usr/bin", "/usr/lib/x86_64-linux-gnu"] {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut found: Vec<_> = entries.map(|entry| entry.path()).collect();
        found.retain(|path| path.is_file() && path.metadata().is_ok_and(|it| it.len() < 200_000));
        found.sort();
        found.truncate(sframe_corpus::tries(60, 2000));
        paths.extend(found);
    }
    paths.extend(sframe_corpus::files_of_roots());
    let read = |path: &std::path::PathBuf| std::fs::read(path).expect("readable");
    paths.iter().map(|path| (path.display().to_string(), read(path))).collect()
}

/// Each function of the `.eh_frame` sections with its rows, as text.
fn functions(file: &[u8]) -> Vec<String> {
    let elf = Elf::parse(file).expect("headers");
    let all = Cfi::load_all(&elf).expect("CFI");
    let mut found = Vec::new();
    for cfi in all.iter().filter(|cfi| cfi.name() == ".eh_frame") {
        found.push(format!("{:?}", cfi.defects()));
        let mut context = RowContext::new(cfi);
        for function in cfi.functions() {
            let rows: Vec<_> = function.rows(&mut context).collect();
            found.push(format!("{:?} {} {rows:?}", function.start(), function.size()));
        }
    }
    found
}

#[test]
fn segments_lead_to_the_same_functions() {
    let mut count = 0;
    for (name, file) in files() {
        let Some((whole, bare)) = both(&file) else { continue };
        assert_eq!(functions(&bare), functions(&whole), "{name}");
        count += 1;
    }
    assert!(count >= 26, "{count}");
}

/// The report, as far as it is about code that anything describes.
fn described(account: &Account<'_>) -> String {
    let Account { functions, losses, limits, counts, known, proofs, .. } = account;
    let mut sums = account.sums;
    // Where code ends is not known.
    sums.neither = 0;
    let counts: Vec<_> = counts.iter().map(|(rule, count)| (rule.name, count)).collect();
    let places: Vec<_> = account.differences.iter().map(|one| (one.start, one.end)).collect();
    format!(
        "{sums:#?} {functions:#?} {losses:?} {limits:?} {counts:?} {known:?} {proofs:#?} {places:?}"
    )
}

#[test]
fn segments_lead_to_the_same_account() {
    let options = Options { witnesses: Witnesses::All, ..ALL };
    let mut count = 0;
    for (name, file) in files() {
        let Some((whole, bare)) = both(&file) else { continue };
        let said = |file: &[u8]| {
            open(file, |elf, sections, cfi| described(&account(elf, sections, cfi, &options)))
        };
        assert_eq!(said(&bare), said(&whole), "{name}");
        count += 1;
    }
    assert!(count >= 26, "{count}");
}

/// A linker script may put `.eh_frame` into another section. PT_GNU_EH_FRAME leads to it all the same.
#[test]
fn cfi_without_a_section_header_is_found() {
    let file = sframe_corpus::read("golden/mold/x86_64/shared.so");
    let (whole, _) = both(&file).expect("CFI");
    let elf = Elf::parse(&whole).expect("headers");
    let index = |name: &[u8]| {
        elf.sections().iter().find(|it| it.name.bytes() == name).expect("a section").index
    };
    // Its name becomes that of .comment.
    let mut other = 0;
    let mut unlisted = whole.clone();
    claims::section(&mut unlisted, index(b".comment"), |header| other = header.name).expect("one");
    claims::section(&mut unlisted, index(b".eh_frame"), |header| header.name = other).expect("one");
    let headers = Elf::parse(&unlisted).expect("headers").section_headers();
    assert_eq!(headers, SectionHeaders::Listed);
    assert_eq!(functions(&unlisted), functions(&whole));
}
