//! Phrases in comments of source files that are nearly always wrong.
//!
//! Only the text of comments counts: neither code nor strings, nor code in backticks or fenced blocks. A phrase may be
//! split over two lines of a comment.

use std::fs;
use std::path::{Path, PathBuf};

use super::{none, repository};

/// The folders with comments.
const CHECKED: [&str; 7] =
    [".ci", ".clusterfuzzlite", "corpus", "fuzz", "oracle", "reports", "validator"];

/// Phrases to avoid, and what to write instead.
const AVOIDED: [(&str, &str); 37] = [
    ("told", "\"reported\", \"listed\" or \"distinguished\""),
    ("behind", "\"after\""),
    ("stands in", "\"is in\""),
    ("stands at", "\"is at\""),
    ("stands behind", "\"follows\""),
    ("stands before", "\"precedes\""),
    ("those of writing", "\"Returns an error if writing fails.\""),
    ("those of reading", "\"Returns an error if reading fails.\""),
    ("those of opening", "\"Returns an error if it cannot be opened.\""),
    ("those of starting", "\"Returns an error if it cannot be started.\""),
    ("that is none", "\"invalid\" or \"unknown\""),
    ("where it is none", "\"if it is not one\""),
    ("what is no", "a noun, or \"what is not a\""),
    ("is no elf", "\"is not an ELF\""),
    ("are no elf", "\"are not ELF\""),
    ("is no file", "\"is not a file\""),
    ("is no number", "\"is not a number\""),
    ("held against", "\"compared with\""),
    ("to be had", "\"available\""),
    ("what is said", "the noun: the report, the message, the result"),
    ("is said of", "\"is reported for\""),
    ("which, and why", "a sentence: \"The message contains the name and the reason.\""),
    ("no more.", "\"no longer\", \"nothing else\" or \"none left\""),
    ("no more,", "\"no longer\", \"nothing else\" or \"none left\""),
    ("no more:", "\"no longer\", \"nothing else\" or \"none left\""),
    ("as it comes", "\"in input order\" or \"as soon as it is complete\""),
    ("as it stands", "\"unchanged\""),
    ("come to stand", "\"are\""),
    ("what stands", "a noun"),
    ("what comes out", "\"the output\" or \"the result\""),
    ("can say it", "\"can express it\""),
    ("said to be", "\"reported as\""),
    ("all through", "\"always\" or \"throughout\""),
    ("made anew", "\"made again\""),
    ("where it is asked for", "\"if requested\""),
    ("where that is asked for", "\"if requested\""),
    ("not to be believed", "\"wrong\" or \"damaged\""),
];

/// Beginnings of comments whose subject is elsewhere.
const NO_BEGINNING: [&str; 4] = ["the same for ", "the same in ", "the same as ", "the same."];

/// Correct uses of phrases above. These are ignored.
const FINE: [&str; 16] = [
    "leave behind",
    "leaves behind",
    "left behind",
    "lag behind",
    "lags behind",
    "idea behind",
    "reason behind",
    "reasons behind",
    "stands in for",
    "stands in the way",
    "what is no longer",
    "there is no file",
    "there is no elf",
    "there are no elf",
    "there are no more",
    "there is no more",
];

/// How comments look in a language.
struct Language {
    line: &'static str,
    /// What starts and ends a comment of several lines: Python's docstrings.
    block: Option<&'static str>,
}

fn language(path: &Path, text: &str) -> Option<Language> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().into_owned());
    match extension.as_deref() {
        Some("rs") => Some(Language { line: "//", block: None }),
        Some("s") if text.starts_with("//") => Some(Language { line: "//", block: None }),
        Some("s") => Some(Language { line: "#", block: None }),
        Some("sql") => Some(Language { line: "--", block: None }),
        Some("py") => Some(Language { line: "#", block: Some("\"\"\"") }),
        Some("sh" | "sbatch" | "yaml" | "toml") => Some(Language { line: "#", block: None }),
        None if text.starts_with("#!") => Some(Language { line: "#", block: None }),
        _ => None,
    }
}

/// The comments of a file: for each, the number of its first line, and its text in lower case with single spaces.
fn comments(text: &str, language: &Language) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut in_block, mut in_fence, mut continues) = (false, false, false);
    for (number, line) in text.lines().enumerate() {
        let mut line = line.trim();
        let mut is_comment = in_block;
        if let Some(mark) = language.block
            && line.matches(mark).count() > 0
        {
            is_comment = true;
            in_block ^= line.matches(mark).count() % 2 == 1;
        }
        if !is_comment {
            is_comment = line.starts_with(language.line);
            line = line.trim_start_matches(language.line).trim_start_matches(['/', '!']).trim();
        }
        if line.starts_with("```") && is_comment {
            in_fence = !in_fence;
        } else if is_comment && !in_fence {
            if !continues {
                found.push((number + 1, String::new()));
            }
            let (_, comment) = found.last_mut().expect("just added");
            comment.push(' ');
            comment.push_str(&line.to_lowercase());
        }
        in_fence &= is_comment;
        continues = is_comment;
    }
    for (_, comment) in &mut found {
        *comment = without_code(comment).split_whitespace().collect::<Vec<_>>().join(" ");
    }
    found
}

/// The text outside of backticks.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The phrases to avoid in a comment. Both must be in lower case.
fn avoided(comment: &str) -> Vec<(&'static str, &'static str)> {
    let fine = FINE.iter().fold(comment.to_owned(), |text, fine| text.replace(fine, "-"));
    let is_letter = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    let contains = |phrase: &str| {
        fine.match_indices(phrase).any(|(at, _)| {
            let (before, after) = (fine.get(..at), fine.get(at + phrase.len()..));
            !is_letter(before.and_then(|text| text.chars().next_back()))
                && !is_letter(after.and_then(|text| text.chars().next()))
        })
    };
    let begins = |beginning: &&str| comment.starts_with(*beginning);
    let beginning = NO_BEGINNING.into_iter().find(begins).map(|of| (of, "the noun"));
    AVOIDED.into_iter().filter(|(phrase, _)| contains(phrase)).chain(beginning).collect()
}

fn sources(path: PathBuf, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = fs::read_dir(&path)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        entries.sort();
        let generated = ["target", "__pycache__"];
        let is_generated = |entry: &&PathBuf| !generated.iter().any(|name| entry.ends_with(name));
        entries.iter().filter(is_generated).for_each(|entry| sources(entry.clone(), found));
    } else if !path.is_symlink() {
        found.push(path);
    }
}

#[test]
fn comments_are_plain_english() {
    let mut faults = Vec::new();
    for checked in CHECKED {
        let mut files = Vec::new();
        sources(repository().join(checked), &mut files);
        let mut read = 0;
        for path in files {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let Some(language) = language(&path, &text) else { continue };
            for (line, comment) in comments(&text, &language) {
                read += 1;
                for (phrase, better) in avoided(&comment) {
                    faults.push(format!("{}:{line}: \"{phrase}\": write {better}", path.display()));
                }
            }
        }
        assert!(read > 0, "{checked} has no comments");
    }
    none(&faults, "write what you would say to a colleague");
}

/// What CONTRIBUTING.md asks for is what the test above looks for.
#[test]
fn the_words_of_contributing_are_looked_for() {
    let text = fs::read_to_string(repository().join("CONTRIBUTING.md")).expect("text");
    let (_, table) = text.split_once("| Not this | But that |").expect("a table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let quoted: Vec<&str> = rows
        .flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2))
        .collect();
    assert!(quoted.len() > 8, "{quoted:?}");
    for phrase in quoted {
        let is_known = AVOIDED.iter().any(|(known, _)| *known == phrase)
            || NO_BEGINNING.iter().any(|known| known.trim_end() == phrase);
        assert!(is_known, "{phrase}");
    }
}

/// Comments are found in every language; code, strings, code in backticks and correct uses are not reported.
#[test]
fn only_wrong_phrases_in_comments_are_reported() {
    let faults = |name: &str, text: &str| -> Vec<(usize, &str)> {
        let language = language(Path::new(name), text).expect("a known language");
        let comments = comments(text, &language).into_iter();
        comments
            .flat_map(|(line, text)| avoided(&text).into_iter().map(move |f| (line, f.0)))
            .collect()
    };
    assert_eq!(faults("a.rs", "fn told() {\n    // It is told.\n"), [(2, "told")]);
    assert_eq!(
        faults("a.rs", "/// Errors: those\n/// of writing.\nfn a() {}"),
        [(1, "those of writing")]
    );
    assert_eq!(
        faults("a.py", "def a():\n    \"\"\"Says so.\n\n    It stands at 0.\"\"\"\n"),
        [(2, "stands at")]
    );
    assert_eq!(
        faults("a.rs", "/// The same for b.\n/// It is the same for c."),
        [(1, "the same for ")]
    );
    assert_eq!(faults("a.sql", "-- The row behind.\nSELECT told"), [(1, "behind")]);
    assert_eq!(faults("a.s", "// Told.\n\tnop\t// told"), [(1, "told")]);
    assert_eq!(faults("a.s", "# Told.\n\tnop"), [(1, "told")]);
    assert_eq!(faults("a", "#!/bin/bash\n\n# what is no row\ntold=1 # told"), [(3, "what is no")]);
    let fine = "/// `told()` stands in for the row left behind, and takes no more than 3 bytes.\n\
        /// ```\n/// let told = behind;\n/// ```\n/// What is no longer used is untold.\nlet told = \"// behind\";";
    assert_eq!(faults("a.rs", fine), []);
}
