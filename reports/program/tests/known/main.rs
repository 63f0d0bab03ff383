//! Known defects are recognised in every file where they were judged by hand (`corpus/differences/JUDGED.tsv`), and in
//! nothing else: not under another judgement, not in neighbours of which one sign differs, and not in rows with another value.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod enable;
mod owners;
mod pages;
mod planted;
mod random;
mod start_files;
mod starts;
mod stripped;
mod traits;
mod useless;
mod wrong_cfi;

use std::collections::{BTreeMap, BTreeSet};

use sframe_corpus::program::run;
use sframe_corpus::{corpus, read};
use sframe_defects::recognise_one;
use sframe_record::{Finding, Header, Record, Text};

/// A file, a function or section, and the fields that differ there.
type Place = (String, String, String);

/// The judgements by place.
fn judged() -> BTreeMap<Place, BTreeSet<String>> {
    let list = String::from_utf8(read("differences/JUDGED.tsv")).expect("text");
    let mut judged: BTreeMap<Place, BTreeSet<String>> = BTreeMap::new();
    for line in list.lines().skip(1) {
        let [files, function, _, differs, _, note] =
            line.split('\t').collect::<Vec<_>>().try_into().expect("six columns");
        for file in expand(files) {
            let place = (file, function.to_owned(), differs.to_owned());
            judged.entry(place).or_default().insert(note.to_owned());
        }
    }
    judged
}

/// Expands `a{b,c}` to `ab` and `ac`, like a shell.
fn expand(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else { return vec![pattern.to_owned()] };
    let (inside, after) = rest.split_once('}').expect("a closing brace");
    let after = expand(after);
    let choices = inside.split(',');
    choices
        .flat_map(|choice| after.iter().map(move |rest| format!("{before}{choice}{rest}")))
        .collect()
}

/// Every finding in the golden files and in those of judged differences.
fn scan() -> String {
    let options = ["--all", "--no-config", "--format", "ndjson", "golden", "differences"];
    run(&corpus(), &options).text
}

fn records(text: &str) -> impl Iterator<Item = Record<'_>> {
    let files = text.lines().filter(|line| line.contains("\"type\":\"file\""));
    files.map(|line| Record::parse(line).expect("a record"))
}

/// The place of a finding in the list of judgements; `None` if it is no difference of rows.
fn place(record: &Record<'_>, finding: &Finding<'_>) -> Option<Place> {
    let difference = finding.difference.as_ref()?;
    let symbol = finding.function.as_ref().and_then(|function| function.symbol.as_deref());
    let symbol = symbol.or_else(|| finding.code.as_ref().and_then(|code| code.symbol.as_deref()));
    let function = symbol.or(finding.elf_section.as_deref())?.to_owned();
    let fields: Vec<&str> = difference.fields.iter().map(Text::as_str).collect();
    Some((record.path.as_str().to_owned(), function, fields.join(",")))
}

#[test]
fn defects_are_recognised_where_they_were_judged() {
    let (text, judged) = (scan(), judged());
    let mut recognised: BTreeSet<(Place, String)> = BTreeSet::new();
    for record in records(&text) {
        for finding in &record.findings {
            let Some(place) = place(&record, finding) else { continue };
            if finding.known.as_deref() == Some("starts-not-adjusted") {
                continue;
            }
            let notes = judged.get(&place).unwrap_or_else(|| panic!("{place:?} was not judged"));
            if let Some(known) = finding.known.as_deref() {
                assert!(notes.contains(known), "{place:?} is {notes:?}, not {known}");
                recognised.insert((place, known.to_owned()));
            }
        }
    }
    let mut missed = Vec::new();
    for (place, notes) in judged {
        let is_listed = !matches!(&*place.2, "lost" | "only-sframe" | "undecided");
        for note in notes.into_iter().filter(|_| is_listed && !place.0.starts_with("real/")) {
            let defect = sframe_defects::find(&note).unwrap_or_else(|| panic!("{note} is unknown"));
            // `starts` has those whose functions are named after the code at their wrong places.
            let has_signs = defect.is_recognised() && note != "starts-not-adjusted";
            if has_signs && !recognised.contains(&(place.clone(), note.clone())) {
                missed.push((place.clone(), note));
            }
        }
    }
    assert!(missed.is_empty(), "not recognised: {missed:#?}");
}

/// Whether the first finding of a rule is recognised as a case of a defect after a change.
fn is_recognised(
    file: &str,
    rule: &str,
    known: &str,
    change: impl Fn(&mut Record<'_>, &mut Finding<'_>),
) -> bool {
    let options = ["--all", "--no-config", "--format", "ndjson", file];
    let text = run(&corpus().join("differences"), &options).text;
    let mut record = records(&text).next().expect("a record");
    let of_rule = record.findings.iter().find(|finding| finding.rule.as_str() == rule);
    let mut finding = of_rule.unwrap_or_else(|| panic!("{file} breaks {rule}")).clone();
    change(&mut record, &mut finding);
    recognise_one(&record, &mut finding);
    finding.known.as_deref() == Some(known)
}

/// Defects that no difference of rows shows, with neighbours that differ in one sign.
#[test]
fn defects_of_sections_are_recognised_and_their_neighbours_are_not() {
    for rule in ["function-overlap", "function-past-code"] {
        let is_plt_sec = |change: &dyn Fn(&mut Record<'_>, &mut Finding<'_>)| {
            is_recognised("ld-plt-sec/2.40.so", rule, "ld-plt-sec", change)
        };
        assert!(is_plt_sec(&|_, _| ()), "{rule}");
        assert!(!is_plt_sec(&|_, finding| finding.function.as_mut().unwrap().size = 33));
        assert!(!is_plt_sec(&|_, finding| finding.elf_section = Some(".plt".into())));
        assert!(!is_plt_sec(&|record, _| record
            .counts
            .retain(|of| of.rule.as_str() != "cfa-mismatch")));
        assert!(!is_plt_sec(&|record, _| *record = other_format(record)));
        assert!(!is_plt_sec(&|_, finding| {
            let info =
                finding.context.iter_mut().find(|part| part.name.as_str() == "sfde_func_info");
            info.unwrap().value = "0x0".into();
        }));
    }
    let is_padded = |change: &dyn Fn(&mut Record<'_>, &mut Finding<'_>)| {
        let file = "frame-pointer-restored/2.47.50.o";
        is_recognised(file, "flex-layout", "frame-pointer-restored", change)
    };
    assert!(is_padded(&|_, _| ()));
    assert!(!is_padded(&|record, _| *record = other_format(record)));
    assert!(!is_padded(&|_, finding| finding
        .context
        .retain(|part| part.name.as_str() != "FP offset")));
    assert!(!is_padded(&|_, finding| {
        let control = finding.context.iter_mut().find(|part| part.name.as_str() == "FP control");
        control.unwrap().value = "0x31".into();
    }));
}

/// Changes the file to a version of the format that no producer writes, for another machine.
fn other_format<'r>(record: &Record<'r>) -> Record<'r> {
    let mut record = record.clone();
    for section in &mut record.sections {
        let other = |header| Header { version: 9, abi: Some("another".into()), ..header };
        section.header = section.header.take().map(other);
    }
    record
}
