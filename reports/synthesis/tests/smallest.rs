//! The smallest sections: they break no rule, and say the same as CFI at every PC.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::with_section;
use sframe_oracle::cfi::Cfi;
use sframe_oracle::compare::{Verdict, compare};
use sframe_synthesis::{Encoding, Place, forecast, synthesize};
use sframe_validator::Version;
use sframe_validator::check::{Checker, Options};
use sframe_validator::elf::Elf;
use sframe_validator::finding::Keep;

/// Rules about values that hand-written CFI in the corpus breaks on purpose. A lossless section has the same values.
const VALUES: [&str; 4] =
    ["cfa-alignment", "cfa-offset-low", "slot-outside-frame", "flex-sp-loaded"];
/// The sources with such CFI, and the files that are linked from them.
const ODD: [&str; 5] = ["cfi", "words", "handwritten", "relocatable", "stripped"];

/// Every file of the golden corpus and every real library, by any producer: only their CFI matters.
fn files() -> Vec<PathBuf> {
    let mut files = sframe_corpus::golden(&["o", "so", "exe"]);
    let real = sframe_corpus::files(&sframe_corpus::tools::real_libraries());
    files.extend(real.into_iter().filter(|path| path.extension().is_some_and(|e| e == "so")));
    // Ten copies of other libraries.
    files.retain(|path| !path.ends_with("big.so"));
    files
}

/// What was found in a file.
fn check(path: &Path, version: Version, wrong: &mut BTreeMap<String, Vec<String>>) -> Option<u64> {
    let data = std::fs::read(path).expect("readable");
    let elf = Elf::parse(&data).ok()?;
    let cfi = Cfi::load_all(&elf).ok()?;
    let place = Place::of(&elf);
    let made = synthesize(&elf, &cfi, Encoding::Smallest(version), place).ok()?;
    let forecast = forecast(&elf, &cfi, Encoding::Smallest(version)).expect("a forecast");
    assert!(forecast.section.is_none_or(|account| account == made.account), "{}", path.display());
    let mut say = |what: String| {
        wrong.entry(what).or_default().push(format!("{} {version:?}", path.display()));
    };
    with_section(&made, place, |section| {
        let options = Options { keep: Keep::First(1), ..Options::default() };
        let report = Checker::new(&options).section(&made.written.bytes, *section.placement());
        let is_odd = ODD.iter().any(|name| {
            path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(name))
        });
        for (rule, count) in report.counts.iter().filter(|(_, count)| *count > 0) {
            if !is_odd || !VALUES.contains(&rule.name) {
                say(format!("{} {count}", rule.name));
            }
        }
        let mut lost = 0;
        let sums =
            compare(&elf, std::slice::from_ref(section), &cfi, |range| match range.verdict {
                Verdict::Different(fields) => {
                    say(format!("different {fields} {:?} {:?}", range.sframe, range.cfi))
                }
                Verdict::OnlySframe => say("only SFrame".to_owned()),
                Verdict::Undecided => say("undecided".to_owned()),
                Verdict::OnlyCfi => lost += range.end - range.start,
                _ => {}
            });
        let losses: u64 = made.losses.iter().map(|loss| loss.bytes).sum();
        if lost != losses {
            say(format!("{lost} bytes only in CFI, {losses} lost"));
        }
        Some(sums.bytes.equal + sums.bytes.limited)
    })
}

#[test]
fn smallest_sections_break_no_rule_and_agree_with_cfi() {
    let (mut wrong, mut equal, mut seen) = (BTreeMap::new(), 0, 0);
    for path in files() {
        for version in [Version::V2, Version::V3] {
            if let Some(bytes) = check(&path, version, &mut wrong) {
                equal += bytes;
                seen += 1;
            }
        }
    }
    println!("{seen} sections, {equal} bytes of code");
    for (what, files) in &wrong {
        println!("{} {what}: {}", files.len(), files[0]);
    }
    assert!(wrong.is_empty());
    assert!(seen > 700, "only {seen} sections");
}
