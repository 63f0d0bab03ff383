//! Tar archives in the formats of POSIX and GNU tar.

mod sparse;

use std::cell::Cell;
use std::io::{self, BufReader, Read};

use super::digest::{Algorithm, Hashed, OTHER};
use super::image::called_by;
use super::limits::Metered;
use super::stream::{Part, drain};
use super::{Content, Failure, HEADERS, Place, Visit, relative};
use crate::{Special, identity};
use sparse::Sparse;

/// The buffer size for decompressed data.
const BUFFER: usize = 1 << 16;
/// Headers and contents are padded to multiples of this (POSIX.1-2017, "ustar Interchange Format").
const BLOCK: usize = 512;
/// How many bytes long names and other extensions of an archive may have together: some 1 KB for each of a million members.
const EXTENSIONS: u64 = 1 << 30;

/// Visits the members of a tar archive, with `prefix` prepended to their names.
pub(super) fn visit(
    visit: &mut Visit<'_>,
    place: &Place,
    prefix: &[u8],
    stream: &mut dyn Read,
) -> Result<(), Failure> {
    let stream = BufReader::with_capacity(BUFFER, stream);
    let end = Cell::new(HEADERS);
    let mut archive = ::tar::Archive::new(Fenced { stream, position: 0, end: &end });
    let mut extensions = Extensions::default();
    for entry in archive.entries()? {
        // The next iteration reads the rest of this member and the next header, then names and extensions, of which the
        // library holds in memory as many bytes as they claim to have.
        let entry = &mut entry?;
        let stored = if entry.header().entry_type().is_gnu_sparse() {
            entry.header().entry_size()?
        } else {
            entry.size()
        };
        let next = stored.checked_next_multiple_of(BLOCK as u64).unwrap_or(u64::MAX);
        extensions.count(entry.raw_file_position(), next)?;
        end.set(entry.raw_file_position().saturating_add(next).saturating_add(2 * HEADERS));
        member(visit, place, prefix, entry)?;
    }
    drain(&mut archive.into_inner().stream)?;
    Ok(())
}

/// Receives the name and the content of a file. Returns whether to continue.
pub(crate) type FoundFile<'f> = dyn FnMut(&[u8], &mut dyn Read) -> io::Result<bool> + 'f;

/// Hands the name and the content of every regular file in a tar archive to `found` until that returns `false`.
pub(crate) fn files(stream: &mut dyn Read, found: &mut FoundFile<'_>) -> io::Result<()> {
    let stream = BufReader::with_capacity(BUFFER, stream);
    let end = Cell::new(HEADERS);
    let mut archive = ::tar::Archive::new(Fenced { stream, position: 0, end: &end });
    let mut extensions = Extensions::default();
    for entry in archive.entries()? {
        let entry = &mut entry?;
        let next = entry.size().checked_next_multiple_of(BLOCK as u64).unwrap_or(u64::MAX);
        extensions.count(entry.raw_file_position(), next)?;
        end.set(entry.raw_file_position().saturating_add(next).saturating_add(2 * HEADERS));
        let name = entry.path_bytes().into_owned();
        if entry.header().entry_type().is_file() && !found(relative(&name), entry)? {
            return Ok(());
        }
    }
    drain(&mut archive.into_inner().stream)
}

fn member<R: Read>(
    visit: &mut Visit<'_>,
    place: &Place,
    prefix: &[u8],
    entry: &mut ::tar::Entry<'_, R>,
) -> Result<(), Failure> {
    let sparse = entry.pax_extensions()?.and_then(Sparse::of);
    let name = match sparse.as_ref().and_then(|sparse| sparse.name.as_deref()) {
        Some(name) => [prefix, relative(name)].concat(),
        None => [prefix, relative(&entry.path_bytes())].concat(),
    };
    let place = visit.member(place, &name)?;
    let (size, meter) = (entry.size(), visit.meter);
    let special = match entry.header().entry_type().as_byte() {
        b'1' | b'2' => Special::StoredLink,
        b'3' | b'4' => Special::Device,
        b'6' => Special::Fifo,
        // Folders, also as stored by GNU tar's incremental archives; global headers; volume labels.
        b'5' | b'D' | b'g' | b'V' => return Ok(()),
        b'S' => {
            // The library produces the holes, so they are counted like decompressed bytes.
            let mut expanded = Metered::new(entry, "tar", meter);
            return content(visit, &place, &name, &mut Part::new(&mut expanded, size));
        }
        // An unknown type is treated as a regular file (POSIX.1-2017, "ustar Interchange Format", typeflag).
        _ => {
            let mut part = Part::new(entry, size);
            let Some(sparse) = sparse else { return content(visit, &place, &name, &mut part) };
            return match sparse.expanded(part, meter) {
                Ok(mut expanded) => content(visit, &place, &name, &mut expanded),
                Err(why) => Ok(visit.damaged(&place, why)?),
            };
        }
    };
    visit.report(&place, Content::Special(special));
    Ok(())
}

/// Visits the content of a file. If the file states the package's identity, that is recorded.
fn content(
    visit: &mut Visit<'_>,
    place: &Place,
    name: &[u8],
    stream: &mut dyn Read,
) -> Result<(), Failure> {
    let parse = match name {
        b"DEBIAN/control" => identity::of_control,
        b".PKGINFO" => identity::of_pkginfo,
        _ => match called_by(name) {
            Some(hash) => return blob(visit, place, hash, stream),
            None => return Ok(visit.content(place, stream)?),
        },
    };
    let mut text = Vec::new();
    stream.take(HEADERS).read_to_end(&mut text)?;
    visit.enter(parse(&text));
    Ok(visit.content(place, &mut text.chain(stream))?)
}

/// Visits a file of a container image, which is named by its SHA-256.
fn blob(
    visit: &mut Visit<'_>,
    place: &Place,
    hash: &str,
    stream: &mut dyn Read,
) -> Result<(), Failure> {
    let mut stream = Hashed::new(stream, Algorithm::Sha256);
    visit.content(place, &mut stream)?;
    let (_, found) = stream.finish()?;
    if found != hash {
        visit.damaged(place, OTHER.to_owned())?;
    }
    Ok(())
}

/// The extensions of an archive so far.
#[derive(Debug, Default)]
struct Extensions {
    bytes: u64,
    /// The position after the content of the last member.
    end: u64,
}

impl Extensions {
    /// Counts those of a member whose content is `size` bytes from `start` on.
    fn count(&mut self, start: u64, size: u64) -> io::Result<()> {
        let headers = start.saturating_sub(self.end).saturating_sub(BLOCK as u64);
        self.bytes = self.bytes.saturating_add(headers);
        self.end = start.saturating_add(size);
        if self.bytes > EXTENSIONS {
            let why =
                "its long names and other extensions have more than 1 GiB together, the limit";
            return Err(io::Error::other(why));
        }
        Ok(())
    }
}

/// A stream that fails past a given position, which bounds how much a reader can hold in memory.
struct Fenced<'e, R> {
    stream: R,
    position: u64,
    end: &'e Cell<u64>,
}

impl<R: Read> Read for Fenced<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.end.get().saturating_sub(self.position);
        if left == 0 {
            return Err(io::Error::other(format!("headers of more than {HEADERS} bytes")));
        }
        let length = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self.stream.read(buffer.get_mut(..length).unwrap_or_default())?;
        self.position = self.position.saturating_add(read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_are_bounded_over_the_whole_archive() {
        let mut extensions = Extensions::default();
        let (mut position, size) = (0, BLOCK as u64);
        let mut member = |headers: u64| {
            let start = position + headers + BLOCK as u64;
            position = start + size;
            extensions.count(start, size)
        };
        assert!((0..1024).all(|_| member(1 << 20).is_ok()));
        assert!((0..1024).all(|_| member(0).is_ok()));
        assert!(member(BLOCK as u64).is_err());
    }
}
