//! Texts that many frames have: each is kept once.

use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use sframe_record::text::printable;

/// The maximum number of characters of a text. Of a longer name, the beginning is shown: a deep recursion would repeat it
/// in each frame.
const LONGEST: usize = 500;

/// A text that frames share, safe to print.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline, transparent))]
pub struct SharedText(Arc<str>);

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SharedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for SharedText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// The texts of a walk.
#[derive(Debug, Default)]
pub(super) struct Texts {
    known: HashMap<Box<[u8]>, SharedText>,
}

impl Texts {
    /// A name or text from input, safe to print: its first 500 characters.
    pub(super) fn share(&mut self, name: &[u8]) -> SharedText {
        // No character has more than four bytes.
        let start = name.get(..4 * LONGEST).unwrap_or(name);
        if let Some(known) = self.known.get(start) {
            return known.clone();
        }
        let text = SharedText(cut(printable(start)).into());
        self.known.insert(start.into(), text.clone());
        text
    }
}

/// The first characters of a text, without a part of an escape such as `\x1b` at the end.
fn cut(mut text: String) -> String {
    let Some((end, _)) = text.char_indices().nth(LONGEST) else { return text };
    text.truncate(end);
    if let Some(escape) = text.rfind('\\').filter(|escape| end.saturating_sub(*escape) < 4) {
        text.truncate(escape);
    }
    text.push('…');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_between_characters() {
        let mut texts = Texts::default();
        for (name, shown) in [
            ("n".repeat(500), "n".repeat(500)),
            ("n".repeat(501), "n".repeat(500) + "…"),
            ("n".repeat(1 << 20), "n".repeat(500) + "…"),
            ("é".repeat(501), "é".repeat(500) + "…"),
            ("\x01".repeat(501), "\\x01".repeat(125) + "…"),
            ("n".repeat(498) + "\x01", "n".repeat(498) + "…"),
        ] {
            assert_eq!(&*texts.share(name.as_bytes()), shown);
        }
    }

    #[test]
    fn equal_names_are_one() {
        let mut texts = Texts::default();
        let [first, second] = [b"main", b"main"].map(|name| texts.share(name));
        assert!(Arc::ptr_eq(&first.0, &second.0));
    }
}
