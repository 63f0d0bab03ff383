//! The verdicts of all consumers on the golden corpus, which are a table in `docs/CONSUMERS.md`.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use sframe_consumers::{Input, Verdict, assess, profiles};
use sframe_corpus::{corpus, golden, repository};
use sframe_validator::elf::Elf;
use sframe_validator::{Abi, Placement, Section};

const BEGIN: &str = "<!-- golden: written by a test -->\n";
const END: &str = "<!-- golden: end -->\n";

/// The producers of linked golden files with one machine, by version of the format.
type Group = (String, u8, Abi);

fn group(path: &Path, section: &Section<'_>) -> Option<Group> {
    let below = path.strip_prefix(corpus().join("golden")).ok()?;
    let producer = below.components().next()?.as_os_str().to_string_lossy().into_owned();
    Some((producer, section.header().version.number(), section.abi().ok()?))
}

/// The verdicts on each group, in the order of the consumers.
fn verdicts() -> BTreeMap<(String, u8, u8), Vec<BTreeMap<Verdict, u64>>> {
    let mut counts: BTreeMap<_, Vec<BTreeMap<Verdict, u64>>> = BTreeMap::new();
    for path in golden(&["exe", "so"]) {
        let data = fs::read(&path).expect("readable");
        let Ok(elf) = Elf::parse(&data) else { continue };
        let Some(found) = elf.sframe_contents().next() else { continue };
        let Ok(bytes) = found.data else { continue };
        let address = found.header.address;
        let Ok(section) = Section::parse(bytes, Placement::at(address)) else { continue };
        let Some((producer, version, machine)) = group(&path, &section) else { continue };
        let input = Input::new(bytes, address, machine);
        let row = counts.entry((producer, version, machine.id())).or_default();
        row.resize(profiles().len(), BTreeMap::new());
        for (place, consumer) in row.iter_mut().zip(profiles()) {
            let found = assess(&input, *consumer);
            let (same, name) = (found.bytes.same, &found.consumer);
            assert!(found.verdict != Verdict::Part || same > 0, "{name}: nothing in {path:?}");
            *place.entry(found.verdict).or_default() += 1;
        }
    }
    counts
}

fn table() -> String {
    let names: Vec<&str> = profiles().iter().map(|consumer| consumer.page().name).collect();
    let mut text =
        format!("| Files | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for ((producer, version, machine), row) in verdicts() {
        let machine = Abi::from_id(machine).expect("known").name();
        let files: u64 = row[0].values().sum();
        let cell = |counts: &BTreeMap<Verdict, u64>| {
            let words = counts.iter().map(|(verdict, count)| {
                let name = format!("{verdict:?}").to_lowercase();
                if *count == files { name } else { format!("{count} {name}") }
            });
            words.collect::<Vec<_>>().join(", ")
        };
        let cells: Vec<String> = row.iter().map(cell).collect();
        writeln!(
            text,
            "| {files} of {producer}, version {version}, {machine} | {} |",
            cells.join(" | ")
        )
        .expect("text");
    }
    text
}

#[test]
fn the_table_in_the_documentation_is_current() {
    let path = repository().join("docs/CONSUMERS.md");
    let text = fs::read_to_string(&path).expect("docs/CONSUMERS.md");
    let (before, rest) = text.split_once(BEGIN).expect("the table's beginning");
    let (old, after) = rest.split_once(END).expect("the table's end");
    let table = table();
    if std::env::var_os("SFRAME_BLESS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).expect("writable");
        return;
    }
    assert_eq!(old, table, "SFRAME_BLESS=1 writes the table");
}
