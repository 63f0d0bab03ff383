//! JSON inside of an HTML page.

use std::io::{self, Write};

use serde::Serialize;

/// Writes `value` as JSON that may be the text of a `script` element: no character in it can start or end markup.
pub(crate) fn write<T: Serialize + ?Sized>(out: &mut dyn Write, value: &T) -> io::Result<()> {
    sframe_record::json::write(Escaping { out }, value)
}

/// `value` as JSON that may be the text of a `script` element.
pub(crate) fn text<T: Serialize + ?Sized>(value: &T) -> io::Result<String> {
    let mut out = Vec::new();
    write(&mut out, value)?;
    String::from_utf8(out).map_err(io::Error::other)
}

/// Replaces the characters of markup by escapes of JSON. In JSON, they occur only in strings.
struct Escaping<'w> {
    out: &'w mut dyn Write,
}

impl Write for Escaping<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(place) = rest.iter().position(|byte| matches!(byte, b'<' | b'>' | b'&')) {
            let (before, from) = rest.split_at(place);
            self.out.write_all(before)?;
            let Some((byte, after)) = from.split_first() else { break };
            write!(self.out, "\\u{byte:04x}")?;
            rest = after;
        }
        self.out.write_all(rest)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    /// HTML 4.12.1.3: the text of a script element must not contain `<!--`, `<script` or `</script`.
    #[test]
    fn no_text_can_end_the_script() {
        let hostile = "</script><script>alert(1)</script><!-- & \u{2028}\u{2029}\u{202e}\"";
        let json = text(hostile).expect("JSON");
        assert_eq!(
            json,
            r#""\u003c/script\u003e\u003cscript\u003ealert(1)\u003c/script\u003e\u003c!-- \u0026 \u2028\u2029\u202e\"""#
        );
        let read: String = serde_json::from_str(&json).expect("JSON");
        assert_eq!(read, hostile);
    }
}
