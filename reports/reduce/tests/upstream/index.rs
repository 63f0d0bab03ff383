//! The index of the pages.

use std::fmt::Write as _;
use std::fs;

use sframe_corpus::repository;

use super::{difference, is_blessed, pages};
use crate::page::Page;

/// The text before the table.
const HEAD: &str = "\
# Reports for the producers of SFrame

One page for each defect that was found in an assembler, a linker or another tool, ready to be filed with its developers: the input, the
commands, what they print, what would be right, and why it matters. Nothing has been filed yet. Before one is, look for it in the bug
tracker of the project, and try its newest version.

`sframe-check reduce` writes such pages. `cargo test -p sframe-reduce --test upstream` runs the commands of all pages again, and fails if they
print something else; with `SFRAME_BLESS=1` it writes the pages and this index.

| Program | Version | Defect | Filed |
|---|---|---|---|
";

#[test]
fn pages_name_the_versions_of_known_defects() {
    let mut wrong = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).expect("text");
        let id = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let defect = sframe_defects::find(&id);
        let defect = defect.unwrap_or_else(|| panic!("{}: no known defect", path.display()));
        let known = format!("`{id}` ({})", defect.affected());
        if Page::parse(&text).fact("Known here as") != Some(known.as_str()) {
            wrong.push(format!("{}: | Known here as | {known} |", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_index_lists_all_pages() {
    let folder = repository().join("docs/upstream");
    let mut index = HEAD.to_owned();
    for path in pages() {
        let text = fs::read_to_string(&path).expect("text");
        let page = Page::parse(&text);
        let title = text.lines().next().and_then(|line| line.strip_prefix("# "));
        let title = title.unwrap_or_else(|| panic!("{}: no title", path.display()));
        let (program, defect) = title.split_once(": ").expect("the program, and the defect");
        let version = page.fact("Program").expect("the program");
        let place = path.strip_prefix(&folder).expect("in the folder");
        let _ = writeln!(index, "| {program} | {version} | [{defect}]({}) | no |", place.display());
    }
    let path = folder.join("README.md");
    if is_blessed() {
        fs::write(&path, &index).expect("the index can be written");
    } else {
        let before = fs::read_to_string(&path).unwrap_or_default();
        assert!(before == index, "{}", difference(&before, &index));
    }
}
