//! The marks of faults, *proved* or *by reading*, against the pages of `docs/upstream`: a fault is proved if its page has the
//! answers of the consumer's own code.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use sframe_consumers::{Basis, profiles};
use sframe_corpus::repository;

/// The pages below a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// The value of a row such as `| Known here as | ... |`.
fn fact<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("| {name} | ");
    page.lines().find_map(|line| line.strip_prefix(start.as_str())?.strip_suffix(" |"))
}

#[test]
fn marks_of_faults_are_those_of_the_pages() {
    let mut bases = BTreeMap::new();
    for path in pages(&repository().join("docs/upstream/consumers")) {
        let page = fs::read_to_string(&path).expect("text");
        let known = fact(&page, "Known here as").expect("a fault").to_owned();
        let is_read = fact(&page, "Known by").is_some();
        assert_ne!(is_read, page.contains("## Commands and what they print"), "{}", path.display());
        bases.insert(known, if is_read { Basis::ByReading } else { Basis::Proved });
    }
    let mut wrong = Vec::new();
    for consumer in profiles() {
        let page = consumer.page();
        for fault in page.faults {
            let known = format!("{} (`{}`, {})", fault.text, page.name, fault.versions);
            if bases.get(&known) != Some(&fault.basis) {
                wrong.push(format!(
                    "{known}: {:?}, its page: {:?}",
                    fault.basis,
                    bases.get(&known)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
