//! Reads the stanzas of a `Packages` index one at a time (Debian Policy 5.1).

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use super::base::{Base, stays_inside};
use super::{BUFFER, Listed, Stream, Wanted, other};
use crate::identity::{control_field, text_of};
use crate::package::{is_sha256, unpacked};

/// The maximum size of a stanza in bytes. The longest in Debian have about 100 KiB of checksums and texts.
const STANZA: usize = 1 << 20;
/// The maximum size of a decompressed index. Debian's largest has about 60 MB.
const INDEX: u64 = 4 << 30;

/// The text of one stanza.
pub(super) struct Stanza<'t>(&'t [u8]);

/// Hands every stanza of an index, compressed or not, to `found` until that returns false.
pub(super) fn read(stream: Stream, found: &mut dyn FnMut(Stanza<'_>) -> bool) -> io::Result<()> {
    read_most(stream, INDEX, found)
}

/// Like [`read`], for an index of at most `most` bytes.
fn read_most(
    stream: impl Read,
    most: u64,
    found: &mut dyn FnMut(Stanza<'_>) -> bool,
) -> io::Result<()> {
    unpacked(stream, |stream| {
        let mut left = most;
        let mut lines = BufReader::with_capacity(BUFFER, stream);
        let mut text = Vec::new();
        loop {
            let start = text.len();
            let room = (STANZA + 1).saturating_sub(start) as u64;
            let length = lines.by_ref().take(room).read_until(b'\n', &mut text)?;
            left = left
                .checked_sub(length as u64)
                .ok_or_else(|| other("it exceeds the maximum size of an index"))?;
            if text.len() > STANZA {
                return Err(other("a stanza is longer than 1 MiB"));
            }
            let line = text.get(start..).unwrap_or_default();
            if length > 0 && !line.trim_ascii().is_empty() {
                continue;
            }
            if start > 0 && !found(Stanza(&text)) || length == 0 {
                return Ok(());
            }
            text.clear();
        }
    })
}

impl Stanza<'_> {
    /// The package in this stanza, if it is selected by `wanted`.
    pub(super) fn listed(
        &self,
        base: &Arc<Base>,
        wanted: &Wanted,
    ) -> Result<Option<Listed>, String> {
        let field = |name: &str| control_field(self.0, name.as_bytes()).unwrap_or_default();
        let text = |name| str::from_utf8(field(name)).unwrap_or_default();
        let name = text("Package");
        let of = |what: &str| {
            let name = text_of(field("Package")).unwrap_or_else(|| "without a name".into());
            format!("package {name}: {what}")
        };
        let size: u64 = text("Size").parse().map_err(|_| of("its size is not a number"))?;
        let machine = text("Architecture");
        let matches = wanted.names.as_ref().is_none_or(|names| names.is_match(name))
            && wanted.sections.as_ref().is_none_or(|globs| globs.is_match(text("Section")))
            && (wanted.least..=wanted.most).contains(&size)
            && (wanted.architectures.is_empty()
                || machine == "all"
                || wanted.architectures.iter().any(|wanted| wanted == machine));
        if !matches {
            return Ok(None);
        }
        let (path, sha256) = (text("Filename").to_owned(), text("SHA256").to_owned());
        if !stays_inside(&path) {
            return Err(of("its Filename points outside the repository"));
        }
        if sha256.is_empty() {
            return Err(of("its SHA256 is missing"));
        }
        if !is_sha256(&sha256) {
            return Err(of("its SHA256 is not 64 lower-case hexadecimal digits"));
        }
        Ok(Some(Listed { base: base.clone(), path, size, sha256 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text has three stanzas of 11 bytes each, and empty lines between them.
    #[test]
    fn an_index_past_the_limit_is_an_error() {
        let text: &[u8] = b"Package: x\n\nPackage: y\n\nPackage: z\n";
        let read = |most| {
            let mut found = 0;
            let result = read_most(text, most, &mut |_| {
                found += 1;
                true
            });
            (found, result.is_ok())
        };
        assert_eq!(read(35), (3, true));
        assert_eq!(read(34), (2, false));
        assert_eq!(read(13), (1, false));
    }
}
