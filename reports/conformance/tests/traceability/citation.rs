//! The clauses that the page of a rule names as its source: `V1 1.3.1, V2 2.3.1; observed: ...`.

/// The versions and clauses in a source. What is in parentheses or after a semicolon is not part of a list of clauses.
pub(super) fn cited(source: &str) -> Vec<(u8, String)> {
    let mut found = Vec::new();
    let mut version = None;
    let mut words = source.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let bare = word.trim_end_matches([',', ';', ':']);
        let clause = match bare {
            "V1" | "V2" | "V3" => {
                version = bare[1..].parse().ok();
                continue;
            }
            "and" | "with" if version.is_some() => continue,
            "to" if version.is_some() => {
                let last = number(words.peek().copied().unwrap_or_default());
                let first = found.last().cloned();
                found.extend(first.into_iter().flat_map(|first| between(&first, last)));
                continue;
            }
            "errata" => format!("errata-{}", number(words.next().unwrap_or_default())),
            "appendix" => "A".to_owned(),
            _ => number(bare).to_owned(),
        };
        match version {
            Some(version) if !clause.is_empty() => found.push((version, clause)),
            _ => version = None,
        }
        // The list ends, unless another version follows.
        if word.ends_with([';', ':']) {
            version = None;
        }
    }
    found
}

/// The clauses between two neighbours of one level.
fn between((version, first): &(u8, String), last: &str) -> Vec<(u8, String)> {
    let split = |clause: &str| -> Option<(String, u8)> {
        let (parent, number) = clause.rsplit_once('.')?;
        Some((parent.to_owned(), number.parse().ok()?))
    };
    let (Some((parent, first)), Some((_, last))) = (split(first), split(last)) else {
        return Vec::new();
    };
    (first + 1..last).map(|number| (*version, format!("{parent}.{number}"))).collect()
}

/// The word if it is the number of a clause, without what follows it; otherwise nothing.
fn number(word: &str) -> &str {
    let word = word.trim_end_matches([',', ';', ':']);
    let is_number = word.split('.').all(|part| part.parse::<u8>().is_ok());
    if is_number { word } else { "" }
}

#[test]
fn clauses_are_found_in_sources() {
    let check = |source: &str, expected: &[(u8, &str)]| {
        let expected: Vec<(u8, String)> =
            expected.iter().map(|(version, clause)| (*version, (*clause).to_owned())).collect();
        assert_eq!(cited(source), expected, "{source}");
    };
    check("V3 2.1.3; V2 2.1.3 with errata 1", &[(3, "2.1.3"), (2, "2.1.3"), (2, "errata-1")]);
    check("V3 3.2, appendix; observed: libsframe 2.47", &[(3, "3.2"), (3, "A")]);
    check("V3 2.2, 3.1.1 to 3.1.3", &[(3, "2.2"), (3, "3.1.1"), (3, "3.1.2"), (3, "3.1.3")]);
    check("V1 1.3, V2 2.3: entries of 17 and 20 bytes", &[(1, "1.3"), (2, "2.3")]);
    check("V3 3.1.2 (\"either 1 or 3\"), V1 1.4", &[(3, "3.1.2"), (1, "1.4")]);
    check("V2 errata 1 (s390x uses odd words), V3 3.1.3", &[(2, "errata-1"), (3, "3.1.3")]);
    check("DWARF 5, 6.4 (rows are for locations of instructions)", &[]);
    check("observed: binutils PR 33277", &[]);
}
