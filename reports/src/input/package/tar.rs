//! Tar archives, in the forms of POSIX and GNU tar.

use std::cell::Cell;
use std::io::{self, BufReader, Read};

use super::digest::Hashed;
use super::image::{OTHER, called_by};
use super::stream::{Part, drain};
use super::{Content, Failure, HEADERS, Place, Visit, relative};
use crate::input::{PackageIdentity, Special};

/// How much is taken out of a decompressor at once.
const BUFFER: usize = 1 << 16;
/// Headers and content are multiples of this (POSIX.1-2017, "ustar Interchange Format").
const BLOCK: u64 = 512;

/// Visits the members of a tar archive; their names stand behind `prefix`.
pub(super) fn visit(
    visit: &mut Visit<'_>,
    place: &Place,
    prefix: &[u8],
    stream: &mut dyn Read,
) -> Result<(), Failure> {
    let stream = BufReader::with_capacity(BUFFER, stream);
    let end = Cell::new(HEADERS);
    let mut archive = ::tar::Archive::new(Fenced { stream, position: 0, end: &end });
    for entry in archive.entries()? {
        // The next header is read when the loop comes round: what of this member is left, then
        // names and extensions, of which the library holds as much as they say they are.
        let entry = &mut entry?;
        let stored = if entry.header().entry_type().is_gnu_sparse() {
            entry.header().entry_size()?
        } else {
            entry.size()
        };
        let next = stored.checked_next_multiple_of(BLOCK).unwrap_or(u64::MAX);
        end.set(entry.raw_file_position().saturating_add(next).saturating_add(2 * HEADERS));
        visit.count()?;
        member(visit, place, prefix, entry)?;
    }
    drain(&mut archive.into_inner().stream)?;
    Ok(())
}

fn member<R: Read>(
    visit: &mut Visit<'_>,
    place: &Place,
    prefix: &[u8],
    entry: &mut ::tar::Entry<'_, R>,
) -> Result<(), Failure> {
    let name = [prefix, relative(&entry.path_bytes())].concat();
    let place = place.member(&name);
    let kind = entry.header().entry_type();
    let special = if kind.is_symlink() || kind.is_hard_link() {
        Special::StoredLink
    } else if kind.is_fifo() {
        Special::Fifo
    } else if kind.is_character_special() || kind.is_block_special() {
        Special::Device
    } else {
        if kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse() {
            if is_sparse(entry)? {
                let reason = "it is stored as a sparse file in POSIX's form".to_owned();
                visit.report(&place, Content::Unreadable(reason));
            } else {
                let size = entry.size();
                content(visit, &place, &name, &mut Part::new(entry, size))?;
            }
        }
        return Ok(());
    };
    visit.report(&place, Content::Special(special));
    Ok(())
}

/// The content of a file called `name` in its package: that may be what says which package it is.
fn content(
    visit: &mut Visit<'_>,
    place: &Place,
    name: &[u8],
    part: &mut Part<'_>,
) -> Result<(), Failure> {
    let parse = match name {
        b"DEBIAN/control" => PackageIdentity::of_control,
        b".PKGINFO" => PackageIdentity::of_pkginfo,
        _ => match called_by(name) {
            Some(hash) => return blob(visit, place, hash, part),
            None => return Ok(visit.content(place, part)?),
        },
    };
    let mut text = Vec::new();
    part.take(HEADERS).read_to_end(&mut text)?;
    visit.identify(parse(&text));
    Ok(visit.content(place, &mut text.chain(part))?)
}

/// A file of a container image, which is called by its SHA-256.
fn blob(
    visit: &mut Visit<'_>,
    place: &Place,
    hash: &str,
    part: &mut Part<'_>,
) -> Result<(), Failure> {
    let mut stream = Hashed::new(part);
    visit.content(place, &mut stream)?;
    let (_, found) = stream.finish()?;
    if found != hash {
        visit.damaged(place, OTHER.to_owned())?;
    }
    Ok(())
}

/// Whether extended headers say that the content has a map of holes before it, as GNU tar writes
/// it in POSIX archives. Its own form of sparse files is read by the library.
fn is_sparse<R: Read>(entry: &mut ::tar::Entry<'_, R>) -> io::Result<bool> {
    let Some(extensions) = entry.pax_extensions()? else { return Ok(false) };
    let mut keys = extensions.filter_map(Result::ok).map(|extension| extension.key_bytes());
    Ok(keys.any(|key| key.starts_with(b"GNU.sparse.")))
}

/// A stream that fails beyond a place, so that nobody reads more into memory.
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
