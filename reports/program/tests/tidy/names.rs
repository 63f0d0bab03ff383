//! Words that names in Rust code must not contain.

use std::fs;

use regex::Regex;
use sframe_corpus::repository;

use super::{files, none};

/// The folders whose names have been rewritten.
const CHECKED: [&str; 3] = ["corpus", "fuzz", "reports"];

/// Words to avoid, and what to write instead.
const AVOIDED: [(&str, &str); 7] = [
    ("told", "\"reported\", \"output\" or \"message\""),
    ("tell", "\"report\" or \"print\""),
    ("tells", "\"reports\" or \"prints\""),
    ("said", "\"reported\", \"output\" or \"message\""),
    ("complaint", "\"error\" or \"stderr\""),
    ("behind", "\"after\" or \"rest\""),
    ("stands", "\"is\""),
];

/// What declares names, up to the end of the names.
fn declaration() -> Regex {
    Regex::new(r"\b(?:fn|let|const|static|struct|enum|trait|mod)\s+([^=;{:<]*)").expect("valid")
}

/// The avoided words in names that a line declares outside of strings and comments.
fn avoided(declaration: &Regex, line: &str) -> Vec<(&'static str, &'static str)> {
    if line.trim_start().starts_with("//") {
        return Vec::new();
    }
    let code: String = line.split('"').step_by(2).collect();
    let names: String =
        declaration.captures_iter(&code).map(|captures| captures[1].to_lowercase() + " ").collect();
    let words: Vec<&str> = names.split(|c: char| !c.is_alphanumeric()).collect();
    AVOIDED.into_iter().filter(|(word, _)| words.contains(word)).collect()
}

#[test]
fn names_are_plain_english() {
    let (declaration, mut faults) = (declaration(), Vec::new());
    for folder in CHECKED {
        let mut paths = Vec::new();
        files(&repository().join(folder), "rs", &mut paths);
        assert!(!paths.is_empty(), "{folder}");
        for path in paths {
            let text = fs::read_to_string(&path).expect("text");
            for (number, line) in text.lines().enumerate() {
                for (word, better) in avoided(&declaration, line) {
                    let number = number + 1;
                    faults.push(format!("{}:{number}: \"{word}\": write {better}", path.display()));
                }
            }
        }
    }
    none(&faults, "write what you would say to a colleague");
}

#[test]
fn only_declared_names_are_reported() {
    let declaration = declaration();
    let words = |line: &str| -> Vec<&str> {
        avoided(&declaration, line).into_iter().map(|(word, _)| word).collect()
    };
    assert_eq!(words("fn what_is_told() {"), ["told"]);
    assert_eq!(words("    let (status, _, told) = run();"), ["told"]);
    assert_eq!(words("let Some((first, behind)) = text.split_once(\": \") else {"), ["behind"]);
    let in_text = "let text = \u{22}let told = 1\u{22};";
    for fine in ["fn untold() {", "// fn told()", in_text, "run(told)"] {
        assert!(words(fine).is_empty(), "{fine}");
    }
}
