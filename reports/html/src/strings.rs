//! Strings that occur many times are embedded once.

use std::collections::HashMap;

use sframe_record::numbers::grouped;
use sframe_record::text::printable;

/// The maximum length of an embedded string in characters.
const LONGEST: usize = 2_000;

/// A table of different strings, which are safe to display.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    all: Vec<String>,
    places: HashMap<String, u32>,
    /// The number of strings that are not embedded in full.
    pub(crate) cut: u64,
    bytes: usize,
}

impl Strings {
    /// The position of a string from the input, which is made safe to display and of bounded length.
    pub(crate) fn of(&mut self, text: &str) -> u32 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        let place = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let shown = self.shown(text);
        self.bytes = self.bytes.saturating_add(shown.len());
        self.all.push(shown);
        self.places.insert(text.to_owned(), place);
        place
    }

    /// The string as it is displayed, without an entry in the table.
    pub(crate) fn shown(&mut self, text: &str) -> String {
        let (shown, cut) = shown(text);
        self.cut = self.cut.saturating_add(u64::from(cut));
        shown
    }

    /// All strings by position.
    pub(crate) fn all(&self) -> &[String] {
        &self.all
    }

    /// The sum of the lengths of all strings in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }
}

/// A string as it is displayed, and whether its end is missing.
pub(crate) fn shown(text: &str) -> (String, bool) {
    match text.char_indices().nth(LONGEST) {
        None => (printable(text), false),
        Some((end, _)) => {
            let start = text.get(..end).unwrap_or_default();
            let rest = text.chars().count().saturating_sub(LONGEST);
            (format!("{}… ({} more characters)", printable(start), grouped(rest as u64)), true)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Strings;

    #[test]
    fn equal_strings_are_embedded_once() {
        let mut strings = Strings::default();
        assert_eq!([strings.of("rsp+8"), strings.of("rbp+16"), strings.of("rsp+8")], [0, 1, 0]);
        assert_eq!(strings.all(), ["rsp+8", "rbp+16"]);
    }

    #[test]
    fn long_strings_are_cut_and_counted() {
        let mut strings = Strings::default();
        let place = strings.of(&"ä".repeat(10_000)) as usize;
        let text = strings.all().get(place).expect("the string");
        assert!(text.ends_with("ä… (8,000 more characters)"));
        assert_eq!((text.matches('ä').count(), strings.cut), (2_000, 1));
    }

    #[test]
    fn strings_cannot_change_the_direction_of_text() {
        let mut strings = Strings::default();
        strings.of("a\u{202e}b\n");
        assert_eq!(strings.all(), ["a\\xe2\\x80\\xaeb\\x0a"]);
    }
}
