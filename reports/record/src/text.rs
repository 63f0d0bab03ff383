//! Names from files, made fit for a terminal: a file or symbol name is any bytes, and none of them
//! may reach the terminal as a control sequence, or turn the direction of text.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// `bytes` as text: valid UTF-8 without control characters, and those that end lines or turn the
/// direction of text, stays as it is, every other byte is written `\xNN`.
#[must_use]
pub fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_plain(character) {
                text.push(character);
            } else {
                let mut utf8 = [0; 4];
                escape(&mut text, character.encode_utf8(&mut utf8).as_bytes());
            }
        }
        escape(&mut text, chunk.invalid());
    }
    text
}

fn is_plain(character: char) -> bool {
    let turns = matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !character.is_control() && !turns
}

/// A path as [`printable`] text.
#[must_use]
pub fn printable_path(path: &Path) -> String {
    printable(path.as_os_str().as_bytes())
}

/// The path of a name's bytes.
#[must_use]
pub fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn escape(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "\\x{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn keeps_text_and_escapes_the_rest() {
        assert_eq!(printable("café.so".as_bytes()), "café.so");
        assert_eq!(printable(b"a\xff\x1b[31mb\n"), "a\\xff\\x1b[31mb\\x0a");
        assert_eq!(printable("\u{85}".as_bytes()), "\\xc2\\x85");
        assert_eq!(printable("a\u{202e}b".as_bytes()), "a\\xe2\\x80\\xaeb");
    }
}
