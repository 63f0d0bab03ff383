//! `docs/PROMISES.md`: each promise is in the page that it quotes, and the tests that hold it exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use sframe_corpus::repository;

use super::none;

const LIST: &str = "docs/PROMISES.md";
/// The section whose rows name a page and a reason instead of tests.
const WITHOUT_TESTS: &str = "## Not held by a test";

/// A row of the list.
struct Promise<'l> {
    /// The page's path, relative to the list.
    page: &'l str,
    quotation: String,
    /// A Markdown cell: paths in backticks, each followed by names of tests in backticks. Empty without a test.
    tests: &'l str,
}

/// The promises of the list, and the pages that have a section.
fn parsed(list: &str) -> (Vec<Promise<'_>>, BTreeSet<&str>) {
    let (mut promises, mut pages, mut page) = (Vec::new(), BTreeSet::new(), None);
    for line in list.lines() {
        if line.starts_with("## ") {
            let link = line.split_once("](").and_then(|(_, link)| link.strip_suffix(')'));
            pages.extend(link);
            page = link;
        }
        let cells = line.strip_prefix("| ").and_then(|row| row.strip_suffix(" |"));
        // A `|` of the page is written `\|`.
        let cells: Vec<&str> = cells.map(|row| row.split(" | ").collect()).unwrap_or_default();
        let (page, quotation, tests) = match (page, &cells[..]) {
            (_, [] | ["Promise", ..] | ["Page", ..]) => continue,
            (Some(page), &[quotation, tests]) => (page, quotation, tests),
            (None, &[page, quotation, _reason]) => (page, quotation, ""),
            _ => panic!("this is no row of a table of {LIST}: {line}"),
        };
        promises.push(Promise { page, quotation: plain(quotation), tests });
    }
    (promises, pages)
}

/// Text with single spaces.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("\\|", "|")
}

/// Whether a line defines a function in Rust, a test of a macro that defines several, or a function in a shell script.
fn defines(line: &str, name: &str) -> bool {
    let starts = |end: &str| line.trim_start().starts_with(&format!("{name}{end}"));
    line.contains(&format!("fn {name}(")) || starts(": ") || starts("() {")
}

/// What is wrong with the tests of a promise.
fn faults_of_tests(repository: &Path, tests: &str) -> Vec<String> {
    let (mut faults, mut text) = (Vec::new(), None);
    for name in tests.split('`').skip(1).step_by(2) {
        if name.contains('/') {
            let below = if name.starts_with("cases/") { "reports/program/tests" } else { "" };
            text = fs::read_to_string(repository.join(below).join(name)).ok();
            if text.is_none() {
                faults.push(format!("there is no {name}"));
            }
        } else if let Some(text) = &text
            && !text.lines().any(|line| defines(line, name))
        {
            faults.push(format!("{name} is not defined there"));
        }
    }
    if text.is_none() && faults.is_empty() {
        faults.push("it names no test".to_owned());
    }
    faults
}

/// What is wrong with the promises of a list.
fn faults(repository: &Path, promises: &[Promise<'_>]) -> Vec<String> {
    let read = |page| fs::read_to_string(repository.join("docs").join(page)).unwrap_or_default();
    let pages: BTreeSet<&str> = promises.iter().map(|promise| promise.page).collect();
    let pages: BTreeMap<&str, String> =
        pages.into_iter().map(|page| (page, plain(&read(page)))).collect();
    let mut all = Vec::new();
    for Promise { page, quotation, tests } in promises {
        let mut faults =
            if tests.is_empty() { Vec::new() } else { faults_of_tests(repository, tests) };
        if !pages[page].contains(quotation) {
            faults.push("the page does not say so".to_owned());
        }
        all.extend(faults.into_iter().map(|fault| format!("{page}: \"{quotation}\": {fault}")));
    }
    all
}

#[test]
fn promises_are_quoted_and_their_tests_exist() {
    let list = fs::read_to_string(repository().join(LIST)).expect("text");
    assert!(list.contains(WITHOUT_TESTS), "{LIST} lacks {WITHOUT_TESTS}");
    let (promises, pages) = parsed(&list);
    assert!(promises.len() > 300, "{} promises", promises.len());
    none(
        &faults(&repository(), &promises),
        "correct docs/PROMISES.md: quote the page again, and name the test that holds it now",
    );
    for entry in fs::read_dir(repository().join("docs")).expect("a folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        let is_page = name.ends_with(".md") && !LIST.ends_with(&name);
        assert!(!is_page || pages.contains(&*name), "{LIST} has no section for {name}");
    }
}

/// Each row of a table of limits names the test that goes beyond it, or says that none does.
#[test]
fn limits_are_reached_by_tests() {
    let page = fs::read_to_string(repository().join("docs/limits.md")).expect("text");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(" | ").collect()).collect();
    let limits = rows.iter().filter(|row| row.first() != Some(&"What"));
    let mut faults = Vec::new();
    let mut reached = 0;
    for row in limits {
        let &[what, _, _, tests] = &row[..] else { panic!("four cells: {row:?}") };
        if tests != "none" {
            let wrong = faults_of_tests(&repository(), tests);
            faults.extend(wrong.into_iter().map(|fault| format!("{what}: {fault}")));
            reached += 1;
        }
    }
    none(&faults, "correct docs/limits.md: name the test that reaches the limit now");
    assert!(reached > 30, "{reached} limits are reached");
}

#[test]
fn wrong_rows_are_found() {
    let list = "## [p](../README.md)\n| Promise | Held by |\n|---|---|\n\
        | a reader library without dependencies | `DESIGN.md`, `docs/install.md`, `.ci/run` `no_std` |\n\
        | a reader library without dependencies | `.ci/run` `no_such_step` |\n\
        | a reader library without dependencies | `cases/no-such.md` |\n\
        | a reader library without dependencies | by reading |\n\
        | a reader library that always crashes | `.ci/run` |\n\
        ## Not held by a test\n| Page | Promise | Why |\n|---|---|---|\n\
        | ../README.md | without dependencies, panics | nobody looks |\n\
        | ../README.md | with dependencies, panics | nobody looks |\n";
    let (promises, pages) = parsed(list);
    assert_eq!(pages, BTreeSet::from(["../README.md"]));
    let number = |row| faults(&repository(), std::slice::from_ref(row)).len();
    let numbers: Vec<usize> = promises.iter().map(number).collect();
    assert_eq!(numbers, [0, 1, 1, 1, 1, 0, 1]);
}

/// The README says so of the reader. `.ci/run` builds it without the standard library.
#[test]
fn the_reader_needs_no_other_package() {
    let manifest = repository().join("validator/Cargo.toml");
    let manifest = fs::read_to_string(manifest).expect("text");
    let (_, after) = manifest.split_once("\n[dependencies]\n").expect("dependencies");
    let own = after.split("\n[").next().unwrap_or_default();
    let needed: Vec<&str> = own
        .lines()
        .filter(|line| line.contains(" = ") && !line.contains("optional = true"))
        .collect();
    assert_eq!(needed, [""; 0], "they are needed without any feature");
    assert!(manifest.contains("\nalloc = []\n"), "the feature alloc needs no package");
    assert!(manifest.contains("\ndefault = []\n"), "no feature is on by default");
}
