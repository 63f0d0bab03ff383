//! `docs/TRACEABILITY.md`: for each clause of each version of the specification, the rules that enforce it, the vectors
//! about it, and the readers that fail some of these. With `SFRAME_BLESS=1`, the test writes the document.
//!
//! `corpus/conformance/clauses.json` lists the clauses. What readers fail is taken from `docs/CONFORMANCE.md`.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod citation;
mod clauses;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use citation::cited;
use clauses::{Clause, clauses};
use sframe_conformance::{Kind, Vector, vectors};
use sframe_corpus::repository;
use sframe_validator::rules::{CATALOGUE, Rule};
use sframe_validator::section::Version;

const BLESS: &str = "run this test with SFRAME_BLESS=1 and read the changes";

/// Whether a rule enforces a clause: it cites the clause or, if it applies to the clause's version without citing that
/// version's text, the clause about the same subject in another one. Errata are about several subjects at once, so that
/// they count only where they are cited.
fn enforces(rule: &Rule, clause: &Clause, all: &[Clause]) -> bool {
    let citations = cited(rule.page.source);
    if citations.contains(&(clause.version, clause.section.clone())) {
        return true;
    }
    let version = Version::from_number(clause.version).expect("a version");
    let is_of_text = |(number, section): &(u8, String)| {
        *number == clause.version && !section.starts_with("errata")
    };
    let cites_text = !clause.is_erratum() && citations.iter().any(is_of_text);
    if cites_text || !rule.versions.contains(version) {
        return false;
    }
    let others = citations.iter().filter_map(|(number, section)| {
        all.iter().find(|other| (other.version, &other.section) == (*number, section))
    });
    let others = others.filter(|other| other.version != clause.version && !other.is_erratum());
    others.flat_map(|other| &other.subjects).any(|subject| clause.subjects.contains(subject))
}

/// The text of a cell that lists things.
fn list(items: &[String]) -> String {
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}

fn rules_cell(clause: &Clause, all: &[Clause]) -> String {
    let found = CATALOGUE.iter().filter(|rule| enforces(rule, clause, all));
    list(&found.map(|rule| format!("`{}`", rule.name)).collect::<Vec<_>>())
}

fn folder(vector: &Vector) -> &str {
    vector.name.rsplit_once('/').expect("a folder").0
}

/// The vectors about a clause, by folder and kind.
fn counts(clause: &Clause, vectors: &[Vector]) -> BTreeMap<String, [usize; 3]> {
    let mut counts = BTreeMap::<String, [usize; 3]>::new();
    for vector in vectors {
        if (vector.clause.version, &vector.clause.section) == (clause.version, &clause.section) {
            let kind = match vector.kind {
                Kind::Sound => 0,
                Kind::Malformed => 1,
                Kind::Differing => 2,
            };
            counts.entry(folder(vector).to_owned()).or_default()[kind] += 1;
        }
    }
    counts
}

fn vectors_cell(clause: &Clause, counts: &BTreeMap<String, [usize; 3]>) -> String {
    if counts.is_empty() {
        return format!("none. {}", clause.without_vectors.as_deref().unwrap_or_default());
    }
    let cells = counts.iter().map(|(folder, kinds)| {
        let names = ["sound", "malformed", "differing"];
        let parts = kinds.iter().zip(names).filter(|(count, _)| **count > 0);
        let parts: Vec<String> = parts.map(|(count, name)| format!("{count} {name}")).collect();
        format!("`{folder}`: {}", parts.join(", "))
    });
    cells.collect::<Vec<_>>().join("; ")
}

/// The readers that fail vectors of a folder, and how many of how many, from the scores in `docs/CONFORMANCE.md`.
fn failures() -> BTreeMap<String, Vec<String>> {
    let path = repository().join("docs/CONFORMANCE.md");
    let document = fs::read_to_string(path).expect("the document");
    let mut lines = document.lines().skip_while(|line| !line.starts_with("| Clause |"));
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let names = cells(lines.next().expect("the heading of the scores"));
    let mut found = BTreeMap::new();
    for line in lines.skip(1).take_while(|line| line.starts_with("| `")) {
        let cells = cells(line);
        let failed = names.iter().zip(&cells).filter_map(|(name, cell)| {
            let (pass, all) = cell.strip_prefix("**")?.strip_suffix("**")?.split_once('/')?;
            let (pass, all) = (pass.parse::<usize>().ok()?, all.parse::<usize>().ok()?);
            Some(format!("{name} ({} of {all})", all - pass))
        });
        found.insert(cells[0].trim_matches('`').to_owned(), failed.collect());
    }
    found
}

fn readers_cell(
    counts: &BTreeMap<String, [usize; 3]>,
    failures: &BTreeMap<String, Vec<String>>,
) -> String {
    if counts.is_empty() {
        return String::new();
    }
    let mut parts = Vec::new();
    for folder in counts.keys() {
        let failed = failures.get(folder).unwrap_or_else(|| panic!("{folder} has no scores"));
        if !failed.is_empty() {
            let subject = folder.rsplit_once('/').map_or(folder.as_str(), |(_, name)| name);
            let subject = if counts.len() > 1 { format!("`{subject}`: ") } else { String::new() };
            parts.push(format!("{subject}{}", failed.join(", ")));
        }
    }
    if parts.is_empty() { "none".to_owned() } else { parts.join("; ") }
}

fn table(version: u8, all: &[Clause], vectors: &[Vector]) -> String {
    let failures = failures();
    let mut text = "| Clause | Subject | Rules | Vectors | Readers that fail some |\n\
                    |---|---|---|---|---|\n"
        .to_owned();
    for clause in all.iter().filter(|clause| clause.version == version) {
        let counts = counts(clause, vectors);
        let (rules, cell) = (rules_cell(clause, all), vectors_cell(clause, &counts));
        let readers = readers_cell(&counts, &failures);
        let (section, title) = (&clause.section, &clause.title);
        writeln!(text, "| {section} | {title} | {rules} | {cell} | {readers} |").expect("memory");
    }
    text
}

/// The rules that cite no clause, with their sources.
fn others() -> String {
    let mut text = "| Rule | Source |\n|---|---|\n".to_owned();
    for rule in CATALOGUE.iter().filter(|rule| cited(rule.page.source).is_empty()) {
        writeln!(text, "| `{}` | {} |", rule.name, rule.page.source).expect("to memory");
    }
    text
}

fn document() -> String {
    let (all, vectors, texts) = (clauses(), vectors(), clauses::texts());
    let mut text = include_str!("introduction.md").to_owned();
    for (version, source) in texts {
        let table = table(version, &all, &vectors);
        write!(text, "\n## Version {version}\n\nThe numbers are those of {source}.\n\n{table}")
            .expect("to memory");
    }
    text + "\n## Rules that cite no clause\n\nThey are about the ELF file, the machine, or what producers and readers \
            do.\n\n"
        + &others()
}

#[test]
fn the_document_is_up_to_date() {
    let path = repository().join("docs/TRACEABILITY.md");
    let expected = document();
    if std::env::var_os("SFRAME_BLESS").is_some() {
        fs::write(&path, &expected).expect("writable");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == expected, "docs/TRACEABILITY.md: {BLESS}");
}

#[test]
fn every_clause_has_vectors_or_a_reason() {
    let vectors = vectors();
    for clause in clauses() {
        let has = !counts(&clause, &vectors).is_empty();
        let name = format!("version {}, clause {}", clause.version, clause.section);
        assert_ne!(has, clause.without_vectors.is_some(), "{name}: either vectors or a reason");
    }
}

/// A rule, or a vector, that is about a clause which no text has is a mistake in its page.
#[test]
fn rules_and_vectors_name_clauses_that_exist() {
    let all = clauses();
    let exists = |version: u8, section: &str| {
        all.iter().any(|clause| (clause.version, clause.section.as_str()) == (version, section))
    };
    for rule in CATALOGUE {
        for (version, section) in cited(rule.page.source) {
            assert!(exists(version, &section), "{}: no clause V{version} {section}", rule.name);
        }
    }
    for vector in vectors() {
        let clause = &vector.clause;
        assert!(exists(clause.version, &clause.section), "{}: {clause:?}", vector.name);
    }
}
