//! The pages in `docs/upstream/` are true: their commands still print what the pages say, and those that the command `reduce`
//! writes are what it writes. `SFRAME_BLESS=1` writes them again.
//!
//! The outputs are those of the producers' own tools, which are the truth here.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod index;
mod page;
mod written;

use std::path::PathBuf;

use sframe_corpus::{files, repository};

/// The pages, without the index.
fn pages() -> Vec<PathBuf> {
    let found = files(&repository().join("docs/upstream"));
    let pages: Vec<PathBuf> =
        found.into_iter().filter(|path| !path.ends_with("README.md")).collect();
    assert!(pages.len() > 30, "only {} pages", pages.len());
    pages
}

fn is_blessed() -> bool {
    std::env::var_os("SFRAME_BLESS").is_some()
}

#[test]
fn the_commands_print_what_the_pages_say() {
    let mut wrong = Vec::new();
    for path in pages() {
        let text = std::fs::read_to_string(&path).expect("text");
        let page = page::Page::parse(&text);
        let Some(tools) = page.tools() else { continue };
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let folder = sframe_corpus::folder!(format!("upstream-{name}"));
        let replayed = page.replay(&folder, &tools);
        if is_blessed() {
            std::fs::write(&path, &replayed).expect("the page can be written");
        } else if replayed != text {
            wrong.push(format!("{}:\n{}", path.display(), difference(&text, &replayed)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first line that differs.
fn difference(expected: &str, found: &str) -> String {
    let mut lines = expected.lines().zip(found.lines());
    match lines.find(|(one, other)| one != other) {
        Some((one, other)) => format!("- {one}\n+ {other}"),
        None => "one is longer".to_owned(),
    }
}
