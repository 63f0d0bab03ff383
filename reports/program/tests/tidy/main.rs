//! Conventions for the repository's sources and documents that no compiler checks. `DESIGN.md` has the reasons.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod comments;
mod imports;
mod names;
mod packages;
mod promises;
mod release;

use std::fs;
use std::path::{Path, PathBuf};

use sframe_corpus::repository;

/// The longest source file, in lines.
const LONGEST: usize = 500;
/// The maximum number of lines of the README, and of characters in a line.
const README: (usize, usize) = (120, 120);
/// Phrases that a native speaker would not write, and what to write instead.
const BANNED: [(&str, &str); 10] = [
    ("is told", "is reported"),
    ("are told", "are reported"),
    ("to be had", "available"),
    ("it is said", "the report says"),
    ("no more ", "no longer, or nothing else"),
    ("held against", "compared with"),
    ("that stands ", "that is"),
    ("what is not", "the noun"),
    (". which.", "a whole sentence"),
    ("those of writing", "errors of writing"),
];

/// The files below a folder with this extension, except in hidden folders and build folders.
fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name == "target" || name.starts_with('.') || path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

fn all(extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&repository(), extension, &mut found);
    assert!(!found.is_empty());
    found
}

fn none(faults: &[String], remedy: &str) {
    assert!(faults.is_empty(), "{remedy}:\n{}", faults.join("\n"));
}

#[test]
fn source_files_are_short() {
    let lines = |path: &PathBuf| fs::read_to_string(path).expect("text").lines().count();
    let long = all("rs").into_iter().map(|path| (lines(&path), path));
    let long = long.filter(|(lines, _)| *lines > LONGEST);
    let faults: Vec<String> =
        long.map(|(lines, path)| format!("{}: {lines} lines", path.display())).collect();
    none(&faults, "split these files by subject: a file has at most 500 lines");
}

#[test]
fn the_file_of_a_rule_is_named_after_it() {
    let mut faults = Vec::new();
    for rules in ["validator/src/rules", "oracle/src/rules"] {
        let folders = fs::read_dir(repository().join(rules)).expect("a folder");
        for group in folders.map(|entry| entry.expect("an entry").path()).filter(|p| p.is_dir()) {
            for path in
                fs::read_dir(group).expect("a folder").map(|entry| entry.expect("an entry").path())
            {
                let stem = path.file_stem().expect("a name").to_string_lossy().replace('_', "-");
                let text = fs::read_to_string(&path).expect("text");
                let is_rule = text.contains("static RULE: Rule");
                if is_rule && !text.contains(&format!("\"{stem}\"")) {
                    faults.push(path.display().to_string());
                }
            }
        }
    }
    none(&faults, "name these files after their rules, with underscores");
}

#[test]
fn every_rule_has_its_own_file() {
    for rule in sframe_record::catalogue::all() {
        let name = format!("{}.rs", rule.name.replace('-', "_"));
        let found = ["validator", "oracle"].iter().any(|package| {
            let rules = repository().join(package).join("src/rules");
            let groups = fs::read_dir(rules).expect("a folder");
            groups
                .map(|entry| entry.expect("an entry").path())
                .any(|group| group.join(&name).exists())
        });
        assert!(found, "rules/GROUP/{name}: the rule {} needs a file of its own", rule.name);
    }
}

#[test]
fn documents_are_plain_english() {
    let mut faults = Vec::new();
    for path in all("md") {
        // Old entries of the changelog are not rewritten; RULES.md and TABLES.md are generated from the sources.
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if ["CHANGELOG.md", "RULES.md", "TABLES.md"].contains(&name.as_str()) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        for (number, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            for (banned, better) in BANNED.iter().filter(|(banned, _)| lower.contains(banned)) {
                let number = number + 1;
                faults.push(format!("{}:{number}: \"{banned}\": write {better}", path.display()));
            }
        }
    }
    none(&faults, "write what you would say to a colleague");
}

/// The form of <https://keepachangelog.com/en/1.1.0/>: `## [VERSION] - DATE`, and below it kinds of changes, each once.
#[test]
fn the_changelog_has_the_form_that_tools_read() {
    const KINDS: [&str; 6] = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
    let text = fs::read_to_string(repository().join("CHANGELOG.md")).expect("text");
    let mut faults = Vec::new();
    let (mut versions, mut kinds): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for line in text.lines().filter(|line| line.starts_with("##")) {
        if let Some(kind) = line.strip_prefix("### ") {
            if !KINDS.contains(&kind) || kinds.contains(&kind) || versions.is_empty() {
                faults.push(format!("{line}: a kind of change, once in a version"));
            }
            kinds.push(kind);
            continue;
        }
        let version = line.strip_prefix("## [").and_then(|rest| rest.split_once(']'));
        let is_dated = |rest: &str| {
            let date = rest.strip_prefix(" - ").unwrap_or_default();
            let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            date.len() == 10 && date.split('-').count() == 3 && date.split('-').all(digits)
        };
        match version {
            Some(("Unreleased", "")) if versions.is_empty() => {}
            Some((_, rest)) if is_dated(rest) => {}
            _ => faults.push(format!("{line}: write `## [VERSION] - YYYY-MM-DD`")),
        }
        versions.push(line);
        kinds.clear();
    }
    assert!(!versions.is_empty());
    none(&faults, "Keep a Changelog 1.1.0 has the form");
}

#[test]
fn the_readme_is_short() {
    let text = fs::read_to_string(repository().join("README.md")).expect("text");
    let (lines, width) = README;
    assert!(
        text.lines().count() <= lines,
        "README.md has more than {lines} lines: move some to docs/"
    );
    let wide = text.lines().find(|line| line.chars().count() > width);
    assert_eq!(wide, None, "README.md has a line of more than {width} characters");
}

/// Each published package of the workspace has a line for users.
#[test]
fn the_libraries_are_listed() {
    let read = |name: &str| fs::read_to_string(repository().join(name)).expect("text");
    let (manifest, page) = (read("Cargo.toml"), read("docs/library.md"));
    let (_, published) = manifest.split_once("[workspace.dependencies]\n").expect("packages");
    let names = published.lines().map_while(|line| line.split_once(" = ")).map(|(name, _)| name);
    let missing: Vec<&str> =
        names.filter(|name| !page.contains(&format!("| `{name}` |"))).collect();
    assert_eq!(missing, [""; 0], "list these packages in docs/library.md");
}
