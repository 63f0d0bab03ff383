//! The clauses of the specification: `corpus/conformance/clauses.json`.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;
use sframe_corpus::corpus;

#[derive(Deserialize)]
struct File {
    texts: BTreeMap<u8, String>,
    clauses: Vec<Clause>,
}

/// A clause of a version's text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Clause {
    pub(super) version: u8,
    /// The number in the text, `A` for the appendix, or `errata-1`.
    pub(super) section: String,
    pub(super) title: String,
    /// What it is about. Clauses of different versions that share a subject correspond to each other.
    pub(super) subjects: Vec<String>,
    /// Why there are no vectors about it.
    #[serde(default)]
    pub(super) without_vectors: Option<String>,
}

impl Clause {
    pub(super) fn is_erratum(&self) -> bool {
        self.section.starts_with("errata")
    }
}

fn read() -> File {
    let path = corpus().join("conformance/clauses.json");
    serde_json::from_slice(&fs::read(path).expect("readable")).expect("clauses")
}

pub(super) fn clauses() -> Vec<Clause> {
    read().clauses
}

/// The text whose numbers are used, by version.
pub(super) fn texts() -> BTreeMap<u8, String> {
    read().texts
}
