//! Versions of programs.

use std::cmp::Ordering;

/// The numbers of a version: 2, 47 and 50 of `2.47.50`. There is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version(Vec<u64>);

impl Version {
    /// Reads `2.47.50`. A packager's addition does not count: `2.41-37.fc39` is 2.41, `23.0.0git` is 23.0.0.
    pub(super) fn read(text: &str) -> Option<Version> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (numbers, addition) = text.split_at_checked(end)?;
        let is_known = addition.is_empty()
            || addition.starts_with(['-', '+', '~', '_'])
            || ["git", "rc"].iter().any(|name| addition.starts_with(name));
        let numbers: Result<Vec<u64>, _> = numbers.split('.').map(str::parse).collect();
        numbers.ok().filter(|_| is_known).map(Version)
    }

    /// Compares as many numbers as both have.
    pub(super) fn compare(&self, other: &Version) -> Ordering {
        let common = self.0.len().min(other.0.len());
        self.0.get(..common).cmp(&other.0.get(..common))
    }
}

/// The version in the text that follows a program's name; `Some(None)` if there is only a name, and `None` if the text is
/// something else.
///
/// Builders write their name in parentheses before the version, and LLVM and mold what they are after it. Gold has its own
/// version at the end, and that of its release in the parentheses.
pub(super) fn after_name(tools: &[&str], text: &str) -> Option<Option<Version>> {
    let (outside, inside) = split_parentheses(text)?;
    let mut words = outside.split_whitespace().filter(|word| !word.eq_ignore_ascii_case("version"));
    let (first, second) = (words.next(), words.next());
    if tools == ["gold"] {
        // Gold's own version is the same in many releases.
        let is_own = first.is_none_or(|word| word.starts_with("1."));
        if is_own && second.is_none() {
            return Some(inside.split_whitespace().rev().find_map(Version::read));
        }
    }
    match (first, second) {
        (None, _) => Some(None),
        (Some(word), None) => Version::read(word).map(Some),
        (Some(_), Some(_)) => None,
    }
}

/// The text outside and inside of parentheses, which may be nested; `None` if they do not match.
fn split_parentheses(text: &str) -> Option<(String, String)> {
    let (mut outside, mut inside, mut depth) = (String::new(), String::new(), 0_usize);
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ if depth > 0 => inside.push(character),
            _ => outside.push(character),
        }
    }
    (depth == 0).then_some((outside, inside))
}
