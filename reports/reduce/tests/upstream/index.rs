//! The index of the pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use sframe_corpus::{repository, tools};

use super::{difference, is_blessed, pages};
use crate::page::Page;

/// The text before the table.
const HEAD: &str = "\
# Reports for the producers and consumers of SFrame

One page for each defect that was found in an assembler, a linker, a reader or another tool, ready to be filed with its developers: the
input, the commands, what they print, what would be right, and why it matters. Nothing has been filed yet. Before one is, look for it in
the bug tracker of the project, and try its newest version.

Pages about producers are below, then those about [consumers](#consumers), one for each fault that `sframe-check explain CONSUMER` lists. A consumer's own code answers, built by
`corpus/consumers/build`. Crashes of readelf and objdump at malformed sections follow; objdump does what readelf does. Pages about `simple-frame-rs` have the vectors that it fails. Code that is not packaged was run once: these pages say \"recorded\", and have the answers that were given then. Some faults are known by reading alone.

`sframe-check reduce` writes pages about producers, with `--linker` those about linkers. `cargo test -p sframe-reduce --test upstream` runs the commands of all pages again, and fails if they
print something else; with `SFRAME_BLESS=1` it writes the pages and this index.

";
const TABLE: &str = "| Program | Version | Defect | Filed |\n|---|---|---|---|\n";
const CONSUMERS: &str =
    "\n## Consumers\n\n| Program | Version | Defect | Answers | Filed |\n|---|---|---|---|---|\n";

#[test]
fn pages_name_the_versions_of_known_defects() {
    let mut wrong = Vec::new();
    for path in pages().into_iter().filter(|path| !is_of_consumer(path)) {
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

fn is_of_consumer(path: &Path) -> bool {
    // Only what is in the repository, whose own folder may have any name.
    let path = path.strip_prefix(repository()).unwrap_or(path);
    path.components().any(|part| part.as_os_str() == "consumers")
}

/// The faults of the profiles, and the pages about them.
#[test]
fn each_fault_of_a_consumer_has_a_page() {
    let mut found = BTreeSet::new();
    for path in pages().into_iter().filter(|path| is_of_consumer(path)) {
        let text = fs::read_to_string(&path).expect("text");
        let known = Page::parse(&text).fact("Known here as").expect("a fault").to_owned();
        // Crashes of programs at the malformed corpus, and libraries that fail vectors, have no profile: docs/readers.md and
        // docs/CONFORMANCE.md.
        if !["`sframe-check torture`", "CONFORMANCE.md"].iter().any(|place| known.contains(place)) {
            found.insert(known);
        }
    }
    let mut faults = BTreeSet::new();
    for consumer in sframe_consumers::profiles() {
        let page = consumer.page();
        let name = page.name;
        let of = page.faults.iter().map(|fault| (fault.text, fault.versions));
        faults.extend(of.map(|(text, versions)| format!("{text} (`{name}`, {versions})")));
    }
    assert!(faults.len() > 35, "only {} faults", faults.len());
    assert_eq!(found, faults);
}

/// Pages with recorded answers have the sections and answers that `corpus/consumers/check` asks of a consumer.
#[test]
fn recorded_answers_are_those_of_the_cases() {
    if !tools::is_installed("python3") {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upstream/recorded.py");
    let pages = pages().into_iter().filter(|path| is_of_consumer(path)).filter(|path| {
        let text = fs::read_to_string(path).expect("text");
        Page::parse(&text).fact("Recorded").is_some()
    });
    let pages: Vec<_> = pages.collect();
    assert!(pages.len() > 10, "only {} pages", pages.len());
    let mut python = Command::new("python3");
    let cases = repository().join("corpus/consumers");
    let output =
        python.arg("-B").arg(script).arg(cases).args(&pages).output().expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A section is in a page twice: for people, and in the request to the consumer.
#[test]
fn requests_have_the_section_of_their_page() {
    let mut count = 0;
    for path in pages() {
        let text = fs::read_to_string(&path).expect("text");
        let inputs: BTreeMap<String, String> = Page::parse(&text).inputs().into_iter().collect();
        let Some(section) = inputs.get("section.hex") else { continue };
        let bytes: String = section.lines().collect();
        let requests = inputs.get("requests.json").expect("requests");
        assert!(requests.contains(&format!("\"hex\": \"{bytes}\"")), "{}", path.display());
        count += 1;
    }
    assert!(count > 30, "only {count} pages");
}

#[test]
fn the_index_lists_all_pages() {
    let folder = repository().join("docs/upstream");
    let mut index = format!("{HEAD}{TABLE}");
    let (consumers, producers): (Vec<_>, Vec<_>) =
        pages().into_iter().partition(|path| is_of_consumer(path));
    let mut is_first = true;
    for path in producers.into_iter().chain(consumers) {
        let is_consumer = is_of_consumer(&path);
        if is_consumer && std::mem::take(&mut is_first) {
            index.push_str(CONSUMERS);
        }
        let text = fs::read_to_string(&path).expect("text");
        let page = Page::parse(&text);
        let title = text.lines().next().and_then(|line| line.strip_prefix("# "));
        let title = title.unwrap_or_else(|| panic!("{}: no title", path.display()));
        let (program, defect) = title.split_once(": ").expect("the program, and the defect");
        let version = page.fact("Program").expect("the program");
        let place = path.strip_prefix(&folder).expect("in the folder");
        let answers = match (page.fact("Recorded"), page.fact("Known by")) {
            _ if !is_consumer => "",
            (Some(_), _) => " recorded |",
            (None, Some(_)) => " by reading |",
            (None, None) => " replayed |",
        };
        let place = place.display();
        let _ = writeln!(index, "| {program} | {version} | [{defect}]({place}) |{answers} no |");
    }
    let path = folder.join("README.md");
    if is_blessed() {
        fs::write(&path, &index).expect("the index can be written");
    } else {
        let before = fs::read_to_string(&path).unwrap_or_default();
        assert!(before == index, "{}", difference(&before, &index));
    }
}
