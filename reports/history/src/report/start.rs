//! The start of a report, which tells the format.

use std::io::{self, BufRead, Read};

use super::Error;

/// How much of a report is looked at for its first field.
const LOOKED_AT: u64 = 4096;

/// A report with its first bytes read ahead.
pub(super) struct Start<R> {
    ahead: io::Chain<io::Cursor<Vec<u8>>, R>,
    document: bool,
}

impl<R: BufRead> Start<R> {
    /// Looks at the first field.
    pub(super) fn of(mut input: R) -> Result<Start<R>, Error> {
        let mut ahead = Vec::new();
        input.by_ref().take(LOOKED_AT).read_to_end(&mut ahead).map_err(Error::Read)?;
        let document = match first_field(&ahead) {
            // However its fields are sorted: lines have none of these names before all others.
            Some(b"format" | b"tool" | b"files") => true,
            Some(_) => false,
            None if ahead.iter().all(u8::is_ascii_whitespace) => false,
            None => return Err(Error::NoReport),
        };
        Ok(Start { ahead: io::Cursor::new(ahead).chain(input), document })
    }

    /// One document, not lines.
    pub(super) const fn is_document(&self) -> bool {
        self.document
    }

    /// The report from its first byte.
    pub(super) fn into_input(self) -> impl BufRead {
        self.ahead
    }
}

/// The name of an object's first field.
fn first_field(bytes: &[u8]) -> Option<&[u8]> {
    let object = bytes.trim_ascii_start().strip_prefix(b"{")?;
    let name = object.trim_ascii_start().strip_prefix(b"\"")?;
    let end = name.iter().position(|byte| *byte == b'"')?;
    name.get(..end)
}
