//! Builds the lines of a dump without the cost of `format!`, because there is one for every row.

use std::io::{self, Write};

/// The bytes of a line.
pub(super) struct Line {
    bytes: Vec<u8>,
}

impl Line {
    pub(super) fn new() -> Line {
        Line { bytes: Vec::with_capacity(128) }
    }

    /// The number of bytes in the line so far.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Writes `number` with at least `width` hexadecimal digits.
    pub(super) fn hex(&mut self, number: u64, width: usize) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let needed = (64 - number.leading_zeros()).div_ceil(4).max(1) as usize;
        for place in (0..needed.max(width)).rev() {
            let digit = if place < 16 { (number >> (4 * place)) & 0xf } else { 0 };
            self.bytes.extend(DIGITS.get(usize::try_from(digit).unwrap_or(0)));
        }
    }

    /// Writes `number` in decimal, with a minus sign if it is negative.
    pub(super) fn decimal(&mut self, number: i64) {
        if number < 0 {
            self.bytes.push(b'-');
        }
        let mut rest = number.unsigned_abs();
        let first = self.bytes.len();
        loop {
            self.bytes.push(b'0' + u8::try_from(rest % 10).unwrap_or(0));
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if let Some(digits) = self.bytes.get_mut(first..) {
            digits.reverse();
        }
    }

    /// Writes `number` in decimal, always with a sign.
    pub(super) fn signed(&mut self, number: i64) {
        if number >= 0 {
            self.bytes.push(b'+');
        }
        self.decimal(number);
    }

    /// Writes spaces up to `width` bytes from `start`. Names that are not ASCII are not aligned.
    pub(super) fn pad(&mut self, start: usize, width: usize) {
        let end = start + width;
        if self.bytes.len() < end {
            self.bytes.resize(end, b' ');
        }
    }

    /// Writes the line and starts the next one.
    pub(super) fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.bytes.push(b'\n');
        out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    /// Like [`Line::end`], but removes spaces at the end of the line.
    pub(super) fn end_trimmed(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let length = self.bytes.trim_ascii_end().len();
        self.bytes.truncate(length);
        self.end(out)
    }
}

#[cfg(test)]
mod tests {
    use super::Line;

    fn line(build: impl Fn(&mut Line)) -> String {
        let mut line = Line::new();
        build(&mut line);
        let mut out = Vec::new();
        line.end(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_written_like_those_of_the_standard_library() {
        for number in [0, 1, 9, 10, -1, -160, 589_934_752, i64::MAX, i64::MIN] {
            assert_eq!(line(|l| l.decimal(number)), format!("{number}\n"));
            assert_eq!(line(|l| l.signed(number)), format!("{number:+}\n"));
            let unsigned = number.cast_unsigned();
            assert_eq!(line(|l| l.hex(unsigned, 16)), format!("{unsigned:016x}\n"));
            assert_eq!(line(|l| l.hex(unsigned, 1)), format!("{unsigned:x}\n"));
        }
    }

    #[test]
    fn padding_does_not_truncate() {
        let padded = |text: &str| line(|l| (l.text(text), l.pad(0, 4), l.text("|")).2);
        assert_eq!(padded("ab"), "ab  |\n");
        assert_eq!(padded("abcdef"), "abcdef|\n");
    }
}
