//! A line in the making: what a dump writes for every row, without the cost of `format!`.

use std::io::{self, Write};

/// The bytes of a line.
pub(super) struct Line {
    bytes: Vec<u8>,
}

impl Line {
    pub(super) fn new() -> Line {
        Line { bytes: Vec::with_capacity(128) }
    }

    /// Bytes written so far.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// `number` with at least `width` hexadecimal digits.
    pub(super) fn hex(&mut self, number: u64, width: usize) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let needed = (64 - number.leading_zeros()).div_ceil(4).max(1) as usize;
        for place in (0..needed.max(width)).rev() {
            let digit = if place < 16 { (number >> (4 * place)) & 0xf } else { 0 };
            self.bytes.extend(DIGITS.get(usize::try_from(digit).unwrap_or(0)));
        }
    }

    /// `number` in decimal, with a minus sign where it is negative.
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

    /// `number` in decimal, always with a sign.
    pub(super) fn signed(&mut self, number: i64) {
        if number >= 0 {
            self.bytes.push(b'+');
        }
        self.decimal(number);
    }

    /// Spaces up to `width` characters from `start`; names with characters beyond ASCII are not
    /// aligned, which costs looks only.
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

    /// As [`Line::end`], without spaces at the line's end.
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
    fn numbers_read_as_the_standard_library_writes_them() {
        for number in [0, 1, 9, 10, -1, -160, 589_934_752, i64::MAX, i64::MIN] {
            assert_eq!(line(|l| l.decimal(number)), format!("{number}\n"));
            assert_eq!(line(|l| l.signed(number)), format!("{number:+}\n"));
            let unsigned = number.cast_unsigned();
            assert_eq!(line(|l| l.hex(unsigned, 16)), format!("{unsigned:016x}\n"));
            assert_eq!(line(|l| l.hex(unsigned, 1)), format!("{unsigned:x}\n"));
        }
    }

    #[test]
    fn padding_never_cuts() {
        let padded = |text: &str| line(|l| (l.text(text), l.pad(0, 4), l.text("|")).2);
        assert_eq!(padded("ab"), "ab  |\n");
        assert_eq!(padded("abcdef"), "abcdef|\n");
    }
}
