//! The common parts of all JSON documents: the version of the format, the program that wrote it, and names.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use sframe_validator::text::is_plain;

use crate::text::printable;

/// The version of the formats. New fields may be added within a version; readers ignore fields that they do not know.
pub const FORMAT: u32 = 1;

/// This program.
pub const TOOL: Tool = Tool { name: "sframe-check", version: env!("CARGO_PKG_VERSION") };

/// The program that wrote a document.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// `sframe-check`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// Writes a value as JSON that is safe to print to a terminal: unlike plain JSON, it escapes control characters beyond
/// ASCII and characters that change the direction of text. Parsers read the same value.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write<T: Serialize + ?Sized>(out: impl Write, value: &T) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Harmless)).map_err(io::Error::from)
}

/// Escapes every character that is not [plain](is_plain).
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(place) = rest.find(|character| !is_plain(character)) {
            let (plain, other) = rest.split_at(place);
            out.write_all(plain.as_bytes())?;
            let mut characters = other.chars();
            let character = characters.next().unwrap_or_default();
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            rest = characters.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

/// The bytes of a name as text: unchanged if they are valid UTF-8, since [`write()`] escapes characters that must not
/// be printed; otherwise [`printable`].
#[must_use]
pub fn name(bytes: &[u8]) -> String {
    match str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => printable(bytes),
    }
}

/// The bytes of a name in hexadecimal; `None` if [`name`] is exact.
#[must_use]
pub fn exact_name(bytes: &[u8]) -> Option<String> {
    str::from_utf8(bytes).is_err().then(|| hex(bytes))
}

/// Bytes in hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that [`hex`] has written; `None` if the text is anything else.
#[must_use]
pub fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| match pair {
        [high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()
        }
        _ => None,
    };
    pairs.map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::{bytes_of_hex, hex, write};

    #[test]
    fn hexadecimal_is_read_as_it_is_written() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes_of_hex(&hex(&all)), Some(all));
        for text in ["0", "0g", "+1", "é0"] {
            assert_eq!(bytes_of_hex(text), None, "{text}");
        }
    }

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        write(&mut out, text).expect("writing to memory");
        String::from_utf8(out).expect("JSON is UTF-8")
    }

    /// In JSON, any character may be escaped as its UTF-16 code units (RFC 8259, 7).
    #[test]
    fn unsafe_characters_are_escaped_and_read_back() {
        assert_eq!(written("é\u{9b}31m\u{202e}\u{7f}"), r#""é\u009b31m\u202e\u007f""#);
        for text in ["a\u{1b}[0m\"\\\n", "\u{61c}\u{feff}", "plain", "\u{10ffff}\u{85}"] {
            let read: String = serde_json::from_str(&written(text)).expect("JSON");
            assert_eq!(read, text);
        }
    }
}
