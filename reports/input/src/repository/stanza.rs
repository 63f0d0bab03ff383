//! Reads the stanzas of an index one at a time: Debian's `Packages` (Debian Policy 5.1) and Alpine's `APKINDEX`.

use std::io::{self, BufRead, BufReader, Read};

use super::{BUFFER, other};

/// The maximum size of a stanza in bytes. The longest in Debian have about 100 KiB of checksums and texts.
const STANZA: usize = 1 << 20;

/// Hands every stanza of an index to `found` until that returns false.
pub(super) fn read(stream: &mut dyn Read, found: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut lines = BufReader::with_capacity(BUFFER, stream);
    let mut text = Vec::new();
    loop {
        if text.is_empty() {
            skip_space(&mut lines)?;
        }
        let start = text.len();
        let room = (STANZA + 1).saturating_sub(start) as u64;
        let length = lines.by_ref().take(room).read_until(b'\n', &mut text)?;
        if text.len() > STANZA {
            return Err(other("a stanza is longer than 1 MiB"));
        }
        let line = text.get(start..).unwrap_or_default();
        if length > 0 && !line.trim_ascii().is_empty() {
            continue;
        }
        if start > 0 && !found(&text) || length == 0 {
            return Ok(());
        }
        text.clear();
    }
}

/// Skips white space, of which an index may have any amount between stanzas.
fn skip_space(lines: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = lines.fill_buf()?;
        let all = buffer.len();
        let space = buffer.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(all);
        lines.consume(space);
        if space < all || all == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stanzas end at empty lines, also several, and at the end of the index.
    #[test]
    fn stanzas_are_separated() {
        let mut found = Vec::new();
        let mut text: &[u8] = b"A: 1\nB: 2\n\n\n \nA: 3";
        let read = read(&mut text, &mut |stanza| {
            found.push(stanza.trim_ascii().to_vec());
            true
        });
        assert!(read.is_ok());
        assert_eq!(found, [b"A: 1\nB: 2".as_slice(), b"A: 3"]);
    }

    #[test]
    fn a_stanza_past_the_limit_is_an_error() {
        let read = |size: usize| {
            let text = [vec![b'x'; size], b"\n\nA: 1\n".to_vec()].concat();
            let mut found = 0;
            let result = read(&mut text.as_slice(), &mut |_| {
                found += 1;
                true
            });
            (found, result.is_ok())
        };
        assert_eq!(read(STANZA - 2), (2, true));
        assert_eq!(read(STANZA + 1), (0, false));
    }
}
