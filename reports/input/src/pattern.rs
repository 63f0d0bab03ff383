//! Glob patterns within limits.
//!
//! Patterns come from configurations that somebody else wrote. `globset` parses braces by recursion, and makes a regular
//! expression of each pattern, so that deep or long ones would end the program. Therefore a pattern is measured before
//! anything parses it, and the expression is compiled here, with limits on its memory.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use globset::GlobBuilder;
use regex_automata::meta::{Config, Regex};
use sframe_record::numbers::grouped;
use sframe_record::text::printable;

/// The maximum length of a pattern in bytes: that of a path (`PATH_MAX`).
const LONGEST: usize = 4096;
/// How deep braces may be nested. Those that people write have one level or two.
const DEEPEST: usize = 8;
/// The maximum number of patterns of a configuration or a command line.
const MOST: usize = 1_000;
/// The maximum length in bytes of all patterns of a configuration or a command line together.
const MOST_BYTES: usize = 64 << 10;
/// The maximum memory of a compiled pattern in bytes.
const MOST_COMPILED: usize = 4 << 20;
/// The memory in bytes that a pattern may use to remember how it has matched: so much, and so much for each of its bytes.
/// All patterns of a configuration have 320 MiB at most. Without room, matching takes as many steps for each byte of a
/// name as the pattern has bytes.
const CACHE: usize = 64 << 10;
const CACHE_PER_BYTE: usize = 4 << 10;

/// A glob pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    expression: Regex,
}

/// Which characters `*` and `?` match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wildcards {
    /// All.
    Any,
    /// All but a slash; `**` matches any number of folders.
    WithinNames,
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// It is longer than 4,096 bytes: its length.
    Long(usize),
    /// Its braces are nested more than 8 deep.
    Deep,
    /// It is beyond the first 1,000 patterns of a configuration or a command line.
    Many,
    /// It is beyond the first 64 KiB of all patterns of a configuration or a command line.
    LongTogether,
    /// It would take more than 4 MiB.
    Large,
    /// It does not follow the syntax: why.
    Invalid(String),
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PatternError::Long(length) => write!(
                f,
                "the pattern has {} bytes; the limit is {}",
                grouped(*length as u64),
                grouped(LONGEST as u64)
            ),
            PatternError::Deep => {
                write!(f, "the pattern's braces are nested more than {DEEPEST} deep, the limit")
            }
            PatternError::Many => {
                write!(f, "there are more than {} patterns, the limit", grouped(MOST as u64))
            }
            PatternError::LongTogether => {
                write!(
                    f,
                    "the patterns have more than {} KiB together, the limit",
                    MOST_BYTES >> 10
                )
            }
            PatternError::Large => write!(
                f,
                "the pattern takes more than {} MiB, the limit: use fewer wildcards and braces",
                MOST_COMPILED >> 20
            ),
            PatternError::Invalid(why) => write!(f, "it is not a valid pattern: {why}"),
        }
    }
}

impl std::error::Error for PatternError {}

/// A text that is no pattern, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPattern {
    /// The text, or its beginning.
    start: String,
    error: PatternError,
}

impl InvalidPattern {
    /// The error for a text, of which the message has the beginning.
    #[must_use]
    pub fn new(text: &str, error: PatternError) -> InvalidPattern {
        /// How many characters of a pattern a message has.
        const SHOWN: usize = 60;
        let mut rest = text.chars();
        let mut start: String = rest.by_ref().take(SHOWN).collect();
        if rest.next().is_some() {
            start.push('…');
        }
        InvalidPattern { start, error }
    }
}

impl fmt::Display for InvalidPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\": {}", printable(&self.start), self.error)
    }
}

impl std::error::Error for InvalidPattern {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl Pattern {
    /// Compiles a pattern: `*` and `?` match any characters or one, `[a-z]` one of a set, `{a,b}` one of several patterns.
    ///
    /// # Errors
    /// Returns an error if the text has more than 4,096 bytes or braces that are nested more than 8 deep, if it would
    /// take more than 4 MiB of memory, or if it is not a valid pattern.
    pub fn new(text: &str, wildcards: Wildcards) -> Result<Pattern, PatternError> {
        if text.len() > LONGEST {
            return Err(PatternError::Long(text.len()));
        }
        if depth(text) > DEEPEST {
            return Err(PatternError::Deep);
        }
        let within = wildcards == Wildcards::WithinNames;
        let glob = GlobBuilder::new(text)
            .literal_separator(within)
            .build()
            .map_err(|error| PatternError::Invalid(printable(error.kind().to_string())))?;
        // Like globset: names are bytes, and a wildcard matches a line feed.
        let syntax =
            regex_automata::util::syntax::Config::new().utf8(false).dot_matches_new_line(true);
        let config = Config::new()
            .utf8_empty(false)
            .nfa_size_limit(Some(MOST_COMPILED))
            .hybrid_cache_capacity(CACHE.saturating_add(text.len().saturating_mul(CACHE_PER_BYTE)));
        let expression =
            Regex::builder().syntax(syntax).configure(config).build(glob.regex()).map_err(
                |error| match error.size_limit() {
                    Some(_) => PatternError::Large,
                    None => PatternError::Invalid(printable(error.to_string())),
                },
            )?;
        Ok(Pattern { text: text.to_owned(), expression })
    }

    /// Compiles the patterns of a command line.
    ///
    /// # Errors
    /// Returns an error if one is no pattern, which is named, or if there are more than 1,000 patterns or 64 KiB.
    pub fn all(texts: &[String], wildcards: Wildcards) -> Result<Vec<Pattern>, InvalidPattern> {
        let mut room = PatternRoom::default();
        let pattern = |text: &String| {
            let made = room.take(text).and_then(|()| Pattern::new(text, wildcards));
            made.map_err(|error| InvalidPattern::new(text, error))
        };
        texts.iter().map(pattern).collect()
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches all of a path or name.
    #[must_use]
    pub fn is_match(&self, path: impl AsRef<Path>) -> bool {
        self.expression.is_match(path.as_ref().as_os_str().as_bytes())
    }
}

/// What the patterns of a configuration or a command line may have together.
#[derive(Clone, Debug)]
pub struct PatternRoom {
    patterns: usize,
    bytes: usize,
}

impl Default for PatternRoom {
    fn default() -> PatternRoom {
        PatternRoom { patterns: MOST, bytes: MOST_BYTES }
    }
}

impl PatternRoom {
    /// Counts a pattern.
    ///
    /// # Errors
    /// Returns an error if there are more than 1,000 patterns, or if they have more than 64 KiB together.
    pub fn take(&mut self, text: &str) -> Result<(), PatternError> {
        self.patterns = self.patterns.checked_sub(1).ok_or(PatternError::Many)?;
        self.bytes = self.bytes.checked_sub(text.len()).ok_or(PatternError::LongTogether)?;
        Ok(())
    }
}

/// How deep the braces of a text are nested at most. Escaped ones and those in brackets count as well, because which ones
/// these are is for the parser to say.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'{' => depth = depth.saturating_add(1),
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> Result<Pattern, PatternError> {
        Pattern::new(text, Wildcards::WithinNames)
    }

    #[test]
    fn the_deepest_and_the_longest_patterns_are_compiled() {
        let braces = |deep: usize| "{".repeat(deep) + "a" + &"}".repeat(deep);
        assert!(made(&braces(DEEPEST)).expect("a pattern").is_match("a"));
        assert_eq!(made(&braces(DEEPEST + 1)).expect_err("deep"), PatternError::Deep);
        assert_eq!(made(&"{a,".repeat(100_000)).expect_err("long"), PatternError::Long(300_000));
        for part in ["*a", "?", "[!a]", "[a-z]", "{a,b}", "**/", "a**", "é", "\\{"] {
            let text = part.repeat(LONGEST / part.len());
            match made(&text) {
                Ok(pattern) => _ = pattern.is_match("a/b"),
                Err(error) => assert!(
                    matches!(error, PatternError::Large | PatternError::Deep),
                    "{part}: {error}"
                ),
            }
        }
    }

    #[test]
    fn patterns_have_limits_together() {
        let mut room = PatternRoom::default();
        assert!((0..MOST).all(|_| room.take("a").is_ok()));
        assert_eq!(room.take("a"), Err(PatternError::Many));
        let mut room = PatternRoom::default();
        let long = "a".repeat(LONGEST);
        assert!((0..MOST_BYTES / LONGEST).all(|_| room.take(&long).is_ok()));
        assert_eq!(room.take("a"), Err(PatternError::LongTogether));
    }

    /// The answers of globset's own matcher.
    #[test]
    fn patterns_match_what_globset_matches() {
        let patterns = [
            "a",
            "*",
            "**",
            "a/*",
            "**/a",
            "a/**",
            "a/**/b",
            "?",
            "[ab]c",
            "[!a]b",
            "{a,b{c,d}}",
            "*.o",
            "",
            "a\\*",
            "lib*.so.[0-9]",
            "é?",
            "{a,}",
        ];
        let names = [
            "",
            "a",
            "b",
            "a/b",
            "a/c/b",
            "ac",
            "bc",
            "bd",
            "x/a",
            "a*",
            "q.o",
            "d/q.o",
            "libc.so.6",
            "é",
            "éa",
            "\n",
            "a\nb",
        ];
        for text in patterns {
            for wildcards in [Wildcards::Any, Wildcards::WithinNames] {
                let within = wildcards == Wildcards::WithinNames;
                let glob = GlobBuilder::new(text).literal_separator(within).build();
                let theirs = glob.expect("a pattern").compile_matcher();
                let ours = Pattern::new(text, wildcards).expect("a pattern");
                for name in names {
                    assert_eq!(ours.is_match(name), theirs.is_match(name), "{text:?} {name:?}");
                }
            }
        }
    }
}
