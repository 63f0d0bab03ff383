//! Names of pages, files of the repository, and addresses in plain text become links.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::REPOSITORY;
use crate::entries::Entry;

/// Part of a text, and where it leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Span<'t> {
    pub(crate) text: &'t str,
    pub(crate) is_code: bool,
    pub(crate) link: Option<String>,
}

/// Every name that has a page.
#[derive(Debug)]
pub(crate) struct Names {
    root: PathBuf,
    addresses: BTreeMap<&'static str, String>,
}

impl Names {
    pub(crate) fn of(root: &Path, entries: &[Entry]) -> Names {
        let mut addresses = BTreeMap::new();
        // A cause and a known defect may have the same name. A name without a hyphen may be an ordinary word.
        for entry in entries.iter().filter(|entry| entry.page.name.contains('-')) {
            addresses.entry(entry.page.name).or_insert_with(|| entry.address());
        }
        Names { root: root.to_owned(), addresses }
    }

    /// The address of the page with this name.
    pub(crate) fn address(&self, name: &str) -> Option<&str> {
        self.addresses.get(name).map(String::as_str)
    }

    /// The address of a file or folder of the repository.
    pub(crate) fn in_repository(&self, path: &str) -> Option<String> {
        let place = self.root.join(path);
        let kind = if place.is_dir() { "tree" } else { "blob" };
        place.exists().then(|| format!("{REPOSITORY}/{kind}/HEAD/{path}"))
    }

    /// A text of the page `own`, in parts.
    pub(crate) fn spans<'t>(&self, text: &'t str, own: &str, up: &str) -> Vec<Span<'t>> {
        let mut spans = Vec::new();
        for (text, is_code) in pieces(text) {
            let mut plain = 0;
            for (at, word) in words(text) {
                let link = match self.address(word) {
                    Some(_) if word == own => None,
                    Some(address) => Some(format!("{up}{address}")),
                    None if word.starts_with("https://") => Some(word.to_owned()),
                    None if word.contains('/')
                        && !word.starts_with('/')
                        && !word.contains("..") =>
                    {
                        self.in_repository(word)
                    }
                    None => None,
                };
                if link.is_some() {
                    let before = text.get(plain..at).unwrap_or_default();
                    spans.push(Span { text: before, is_code, link: None });
                    spans.push(Span { text: word, is_code, link });
                    plain = at + word.len();
                }
            }
            let rest = text.get(plain..).unwrap_or_default();
            spans.push(Span { text: rest, is_code, link: None });
        }
        spans.retain(|span| !span.text.is_empty());
        spans
    }
}

/// The text between and within backticks. A quotation that starts with a backtick and ends with another character is
/// text: messages of GNU programs have such.
fn pieces(text: &str) -> Vec<(&str, bool)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, next)) = after.split_once('`').filter(|(code, _)| !code.contains('\''))
        else {
            break;
        };
        pieces.extend([(before, false), (code, true)]);
        rest = next;
    }
    pieces.push((rest, false));
    pieces
}

/// Words as names and addresses have them, without the full stop of a sentence, and their places.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part =
        |character: char| character.is_ascii_alphanumeric() || "-_./:#?=&%+~@".contains(character);
    let start = text.as_ptr().addr();
    text.split(move |character| !is_part(character)).filter_map(move |word| {
        let at = word.as_ptr().addr() - start;
        let word = word.trim_end_matches(['.', ':', '?', '/']);
        (!word.is_empty()).then_some((at, word))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Names, Span, pieces};
    use crate::entries;

    #[test]
    fn names_addresses_and_files_become_links() {
        let names =
            Names::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &entries::all());
        let text = "See fre-order, or docs/usage.md; <b> at https://example.org/a.";
        let plain = |text| Span { text, is_code: false, link: None };
        let link = |text, to: &str| Span { text, is_code: false, link: Some(to.to_owned()) };
        let file = format!("{}/blob/HEAD/docs/usage.md", crate::REPOSITORY);
        let first = entries::all().first().expect("a rule").page.name;
        let text = text.replace("fre-order", first);
        let spans = names.spans(&text, "", "../");
        assert_eq!(
            spans,
            [
                plain("See "),
                link(first, &format!("../rules/{first}.html")),
                plain(", or "),
                link("docs/usage.md", &file),
                plain("; <b> at "),
                link("https://example.org/a", "https://example.org/a"),
                plain("."),
            ]
        );
        assert_eq!(names.spans(first, first, "../"), [plain(first)]);
    }

    #[test]
    fn pairs_of_backticks_are_code() {
        assert_eq!(pieces("a `b` c"), [("a ", false), ("b", true), (" c", false)]);
        assert_eq!(pieces("in `.text' and `.data'"), [("in `.text' and `.data'", false)]);
    }
}
