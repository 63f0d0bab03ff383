//! Detects the format of a report from its start.

use std::io::{self, BufRead, Read};

use super::Error;

/// The number of bytes that are searched for the first field.
const LOOKED_AT: u64 = 4096;

/// A report whose first bytes have been read ahead.
pub(super) struct Start<R> {
    ahead: io::Chain<io::Cursor<Vec<u8>>, R>,
    document: bool,
}

impl<R: BufRead> Start<R> {
    /// Reads the first field of a report.
    pub(super) fn of(mut input: R) -> Result<Start<R>, Error> {
        let mut ahead = Vec::new();
        input.by_ref().take(LOOKED_AT).read_to_end(&mut ahead).map_err(Error::Read)?;
        let document = match first_field(&ahead) {
            // A document starts with one of these fields, in whatever order it was written; lines never do.
            Some(b"format" | b"tool" | b"files") => true,
            Some(_) => false,
            None if ahead.iter().all(u8::is_ascii_whitespace) => false,
            None => return Err(Error::NoReport),
        };
        Ok(Start { ahead: io::Cursor::new(ahead).chain(input), document })
    }

    /// Whether the report is a single document, not lines.
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
