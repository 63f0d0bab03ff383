//! The files of `corpus/edges`, whose code is entered or left in other ways than by calls and returns. The truth is the list
//! `EDGES.tsv`, counted by hand.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::collections::BTreeSet;

use common::{elf_files, open};
use sframe_corpus::corpus;
use sframe_oracle::code::Program;
use sframe_oracle::compare::{Refutation, Wrong, prove};

/// The judgement about the rows of CFI in a file, as a line of the list.
fn line(name: &str, data: &[u8]) -> String {
    open(data, |elf, _, cfi| {
        let code = Program::of(elf, &[], cfi).expect("a machine whose code is examined");
        let mut wrong = Vec::new();
        let proofs = prove(&code, elf, &[], cfi, |found| {
            let Refutation::Rows(found) = found else { return };
            assert_eq!(found.wrong, Wrong::Cfi);
            wrong.push(format!("{:#x}..{:#x}", found.start.address, found.end));
        });
        let wrong = if wrong.is_empty() { "-".to_owned() } else { wrong.join(" ") };
        let sums = proofs.cfi;
        let (reached, unreached) = (sums.undecided.reached(), sums.undecided.unreached());
        let reasons = sums.undecided.reasons();
        let reasons: Vec<_> =
            reasons.map(|(reason, sum)| format!("{} {}", reason.name(), sum.bytes())).collect();
        let reasons = if reasons.is_empty() { "-".to_owned() } else { reasons.join(" ") };
        format!("{name}\t{wrong}\t{}\t{reached}\t{unreached}\t{reasons}", sums.proven)
    })
}

#[test]
fn each_file_is_judged_as_listed() {
    let root = corpus().join("edges");
    let list = std::fs::read_to_string(root.join("EDGES.tsv")).expect("the list");
    let expected: BTreeSet<String> = list
        .lines()
        .skip(1)
        .map(|line| line.rsplit_once('\t').expect("a reason").0.to_owned())
        .collect();
    let found: BTreeSet<String> = elf_files(&root)
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&root).expect("below").to_str().expect("ASCII").to_owned();
            line(&name, &std::fs::read(&path).expect("readable"))
        })
        .collect();
    assert_eq!(found, expected);
}

/// Each folder is in the README.
#[test]
fn entries_are_listed() {
    let root = corpus().join("edges");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("readable");
    for entry in
        std::fs::read_dir(&root).expect("readable").flatten().filter(|it| it.path().is_dir())
    {
        let name = entry.file_name().into_string().expect("ASCII");
        assert!(readme.contains(&format!("]({name}/input.s)")), "{name}");
    }
}
