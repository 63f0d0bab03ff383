//! Numbers as people read them, and names that come from files.

use std::fmt::Write as _;

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 file`, `2 files`.
pub(crate) fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number))
}

/// A name or message without control characters: what comes from a file must not reach a terminal
/// as a control sequence, nor end a line.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_plain(character) {
            out.push(character);
            continue;
        }
        let mut utf8 = [0; 4];
        for byte in character.encode_utf8(&mut utf8).bytes() {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// Characters that end lines or turn the direction of text are no control characters.
fn is_plain(character: char) -> bool {
    let turns = matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !character.is_control() && !turns
}

#[cfg(test)]
mod tests {
    use super::{counted, printable};

    #[test]
    fn numbers_are_grouped_and_names_made_harmless() {
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(1_234_567, "row"), "1,234,567 rows");
        assert_eq!(printable("caf\u{e9}.so"), "caf\u{e9}.so");
        assert_eq!(printable("a\u{1b}[31m\n\u{202e}b"), "a\\x1b[31m\\x0a\\xe2\\x80\\xaeb");
    }
}
