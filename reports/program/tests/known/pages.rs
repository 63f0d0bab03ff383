//! What `explain` says about known defects refers to files that exist, and to documents of the producers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use sframe_corpus::repository;
use sframe_record::Weight;

/// The pages below `docs/upstream/` about producers, by the defect that they are about.
fn pages() -> BTreeMap<String, BTreeSet<String>> {
    let mut pages: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let folder = repository().join("docs/upstream");
    let entries =
        |path| fs::read_dir(path).expect("a folder").map(|entry| entry.expect("readable"));
    for producer in entries(folder) {
        let name = producer.file_name().into_string().expect("ASCII");
        if !producer.path().is_dir() || name == "consumers" {
            continue;
        }
        for page in entries(producer.path()) {
            let file = page.file_name().into_string().expect("ASCII");
            let id = file.strip_suffix(".md").expect("Markdown").to_owned();
            pages.entry(id).or_default().insert(format!("docs/upstream/{name}/{file}"));
        }
    }
    pages
}

#[test]
fn all_pages_about_a_defect_are_named() {
    let found = pages();
    assert!(found.len() > 40, "{} pages", found.len());
    let named = sframe_defects::all().filter(|defect| !defect.pages.is_empty()).map(|defect| {
        let pages = defect.pages.iter().map(|page| (*page).to_owned());
        (defect.id.to_owned(), pages.collect())
    });
    assert_eq!(named.collect::<BTreeMap<String, BTreeSet<String>>>(), found);
}

#[test]
fn defects_have_an_input_or_a_reason() {
    for defect in sframe_defects::all() {
        assert_ne!(defect.input.is_empty(), defect.without_input.is_empty(), "{}", defect.id);
        if defect.input.is_empty() {
            continue;
        }
        let path = repository().join(defect.input);
        assert!(path.is_file(), "{}: there is no {}", defect.id, defect.input);
        if defect.input.starts_with("docs/") {
            let page = fs::read_to_string(path).expect("text");
            let (_, input) = page.split_once("\n## Input\n").expect(defect.input);
            assert!(input.trim_start().starts_with('`'), "{}: no file is named", defect.input);
            assert!(page.contains("\n```asm\n"), "{}: no source", defect.input);
        }
    }
}

/// A defect that spoils a part of a section says which. Those with a folder in `corpus/differences/` make rows wrong or lose them, so that
/// they are not harmless.
#[test]
fn defects_say_what_they_spoil() {
    for defect in sframe_defects::all() {
        let is_partial = defect.weight == Weight::Partial;
        assert_eq!(defect.pcs.is_empty(), !is_partial, "{}", defect.id);
        assert!(!defect.effect.is_empty(), "{}", defect.id);
        let folder = repository().join("corpus/differences").join(defect.id);
        assert!(!folder.is_dir() || defect.weight != Weight::Harmless, "{}", defect.id);
    }
}

/// Bugs and commits of binutils, and addresses of documents.
#[test]
fn references_have_a_form_that_can_be_looked_up() {
    let is_bug = |word: &str| word.parse::<u32>().is_ok_and(|number| number > 10_000);
    let is_commit = |word: &str| word.len() == 12 && word.chars().all(|c| c.is_ascii_hexdigit());
    let known: Vec<_> =
        sframe_defects::all().filter(|defect| !defect.upstream.is_empty()).collect();
    assert!(known.len() >= 9, "{}", known.len());
    for defect in known {
        let words: Vec<&str> = defect.upstream.split([' ', ',', '/']).collect();
        let is_address = defect.upstream.starts_with("https://");
        let is_named = defect.upstream.contains("PR ") && words.iter().any(|word| is_bug(word))
            || defect.upstream.contains("commit ") && words.iter().any(|word| is_commit(word));
        assert!(is_address || is_named, "{}: {}", defect.id, defect.upstream);
    }
}
