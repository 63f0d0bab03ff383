//! Text from input. Names of sections, symbols, files and members can contain any bytes. None of these may reach a
//! terminal as a control sequence, end a line, or change the direction of text.

use core::fmt::{self, Write};

/// Bytes from input to be read by people. They can only be printed escaped.
///
/// Valid UTF-8 is printed as it is, except for control characters, line and paragraph separators, and the characters
/// that change the direction of text (Unicode Standard Annex #9, 2). Those, and bytes that are not valid UTF-8, are
/// printed as `\xNN`.
///
/// ```
/// use sframe_validator::text::Text;
///
/// assert_eq!(Text::of("café.so".as_bytes()).to_string(), "café.so");
/// assert_eq!(Text::of(b"a\x1b[31mb\r\n").to_string(), r"a\x1b[31mb\x0d\x0a");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<'a>(&'a [u8]);

impl<'a> Text<'a> {
    /// Wraps these bytes as text.
    #[must_use]
    pub const fn of(bytes: &'a [u8]) -> Text<'a> {
        Text(bytes)
    }

    /// The bytes as they are in the input.
    #[must_use]
    pub const fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Whether the text is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

impl<const N: usize> PartialEq<&[u8; N]> for Text<'_> {
    fn eq(&self, other: &&[u8; N]) -> bool {
        self.0 == *other
    }
}

/// Whether a character can be printed as it is.
#[must_use]
pub fn is_plain(character: char) -> bool {
    let turns = matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let separates = matches!(character, '\u{2028}' | '\u{2029}');
    // The byte order mark and interlinear annotations are invisible on terminals, and the last two are no characters, which XML
    // does not allow (XML 1.0, 2.2).
    let unseen =
        matches!(character, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}');
    !(character.is_control() || turns || separates || unseen)
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                if is_plain(character) {
                    f.write_char(character)?;
                } else {
                    escape(f, character.encode_utf8(&mut [0; 4]).as_bytes())?;
                }
            }
            escape(f, chunk.invalid())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

fn escape(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::{Text, is_plain};

    #[test]
    fn keeps_text_and_escapes_the_rest() {
        let shown = |bytes: &[u8]| Text::of(bytes).to_string();
        assert_eq!(shown("café.so".as_bytes()), "café.so");
        assert_eq!(shown(b"a\xff\x1b[31mb\n"), "a\\xff\\x1b[31mb\\x0a");
        // CSI as one character (ECMA-48, 5.3), which terminals interpret like ESC [.
        assert_eq!(shown("\u{9b}31m".as_bytes()), "\\xc2\\x9b31m");
        assert_eq!(shown("a\u{202e}b".as_bytes()), "a\\xe2\\x80\\xaeb");
    }

    /// Unicode's Bidi_Control property (PropList.txt), and the characters that end a line.
    #[test]
    fn changes_of_direction_and_line_ends_are_escaped() {
        let turns = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
        let ends = "\n\r\u{b}\u{c}\u{85}\u{2028}\u{2029}";
        assert!(turns.chars().chain(ends.chars()).all(|character| !is_plain(character)));
    }

    /// ECMA-48 and Unicode: what is invisible is escaped, and everything else is printed as it is.
    #[test]
    fn invisible_characters_are_escaped() {
        assert!(
            "\u{feff}\u{fff9}\u{fffb}\u{fffe}\u{ffff}\0\u{7f}"
                .chars()
                .all(|character| !is_plain(character))
        );
        assert!(" ~aé\u{fffd}\u{2027}\u{202f}\u{2065}".chars().all(is_plain));
    }

    #[test]
    fn texts_are_compared_by_their_bytes() {
        let text = Text::of(b".plt");
        assert!(
            text == b".plt" && text != b".pls" && text != b".plt0" && text == Text::of(b".plt")
        );
        assert!(!text.is_empty() && Text::of(b"").is_empty());
        assert_eq!((text.bytes(), alloc::format!("{text:?}")), (&b".plt"[..], "\".plt\"".into()));
    }
}
