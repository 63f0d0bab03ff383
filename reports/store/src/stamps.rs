//! Stamps: they identify unchanged files without reading them.
//!
//! They are stored next to the results but are not results: they are valid only for this machine's file systems. The
//! format of the file is
//!
//! ```text
//! 16 bytes   "sframe-stamps 1\n"
//! 32         hash of the key
//!  1         number of kinds; of each: 1 byte its length, then its name
//!  8, 8      number of stamps with content, number of stamps without; little-endian
//! 48 each    stamp (16), hash of the content (32); in ascending order
//! 17 each    stamp (16), number of the kind (1); in ascending order
//! 32         BLAKE3 of all before
//! ```

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::claim;
use crate::durable::{self, Draft};
use crate::error::{Error, Result};
use crate::files::CHANGED;
use crate::{ContentHash, Key};

pub(crate) use crate::layout::STAMPS as NAME;
const MAGIC: &[u8; 16] = b"sframe-stamps 1\n";
/// The maximum number of kinds in the file.
const MAX_KINDS: usize = 255;
/// The maximum number of stamps; of further files, none is kept.
const MAX_STAMPS: usize = 4_000_000;
/// The maximum size of the file in bytes.
const LONGEST: u64 = 48 * MAX_STAMPS as u64 + (128 << 10);
/// A stamp is trusted only if the file's last change is at least this many nanoseconds older than the start of the
/// scan: FAT has the coarsest time stamps, in steps of 2 s. Within one step, a file can change again without changing
/// its stamp; git calls such an entry racily clean.
const STEP: i128 = 2_000_000_000;

/// The metadata of a file: device, inode, size, and the times when its content and its status last changed, in
/// nanoseconds. Only the first 128 bits of their BLAKE3 hash are kept, because stamps are compared only for equality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stamp([u8; 16]);

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        let mut hashed = [0; 56];
        let (numbers, times) = hashed.split_at_mut(24);
        let fields = [metadata.dev(), metadata.ino(), metadata.size()];
        for (place, number) in numbers.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let changes = [modified(metadata), changed(metadata)];
        for (place, time) in times.chunks_exact_mut(16).zip(changes) {
            place.copy_from_slice(&time.to_le_bytes());
        }
        Stamp(ContentHash::of(&hashed).short())
    }
}

/// When the content last changed, in nanoseconds since 1970.
fn modified(metadata: &Metadata) -> i128 {
    i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec())
}

/// When the content or the status last changed. Programs cannot set this time.
fn changed(metadata: &Metadata) -> i128 {
    i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec())
}

/// The known facts about an unchanged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known<'a> {
    /// The hash of its bytes.
    Content(ContentHash),
    /// It has no record, and is counted under this kind.
    Without(&'a str),
}

/// The stamps that an earlier scan stored.
#[derive(Debug, Default)]
pub struct Stamps {
    content: Vec<(Stamp, ContentHash)>,
    without: Vec<(Stamp, u8)>,
    kinds: Vec<String>,
}

impl Stamps {
    /// The stamps in the store at `folder`; empty if it has none. Under another key, only the content hashes are used,
    /// because the program decides which files have no record.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Damaged`]: the caller can then continue with [`Stamps::default`], which means
    /// reading all files.
    pub fn load(folder: &Path, key: &Key) -> Result<Stamps> {
        let path = folder.join(NAME);
        let bytes = match durable::open_own(folder, NAME).and_then(read) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Stamps::default()),
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        let stamps = bytes.and_then(|bytes| Stamps::parse(&bytes, key));
        stamps.ok_or_else(|| {
            let reason = format!("{CHANGED}; without it, all files are read");
            Error::Damaged { path, reason }
        })
    }

    fn parse(bytes: &[u8], key: &Key) -> Option<Stamps> {
        let (bytes, hash) = bytes.split_last_chunk::<32>()?;
        if ContentHash::of(bytes).as_bytes() != hash {
            return None;
        }
        let (magic, bytes) = bytes.split_first_chunk::<16>()?;
        let (made_with, bytes) = bytes.split_first_chunk::<32>()?;
        let (&kinds_number, mut bytes) = bytes.split_first()?;
        if magic != MAGIC {
            return None;
        }
        let mut kinds = Vec::new();
        for _ in 0..kinds_number {
            let (&length, rest) = bytes.split_first()?;
            let (name, rest) = rest.split_at_checked(usize::from(length))?;
            kinds.push(str::from_utf8(name).ok()?.to_owned());
            bytes = rest;
        }
        let (content_number, bytes) = bytes.split_first_chunk::<8>()?;
        let (without_number, bytes) = bytes.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*content_number)).ok()?.checked_mul(48)?;
        let (content, without) = bytes.split_at_checked(length)?;
        let (content, _) = content.as_chunks::<48>();
        let (without, rest) = without.as_chunks::<17>();
        if !rest.is_empty() || without.len() as u64 != u64::from_le_bytes(*without_number) {
            return None;
        }
        let mut stamps = Stamps { content: Vec::new(), without: Vec::new(), kinds };
        stamps.content = content.iter().filter_map(hashed).collect();
        if made_with == key.hash().as_bytes() {
            stamps.without = without.iter().filter_map(counted).collect();
        }
        Some(stamps)
    }

    /// The known facts about the file with this metadata.
    #[must_use]
    pub fn find(&self, metadata: &Metadata) -> Option<Known<'_>> {
        let stamp = Stamp::of(metadata);
        if let Ok(place) = self.content.binary_search_by_key(&stamp, |&(stamp, _)| stamp) {
            return self.content.get(place).map(|&(_, hash)| Known::Content(hash));
        }
        let place = self.without.binary_search_by_key(&stamp, |&(stamp, _)| stamp).ok()?;
        let &(_, kind) = self.without.get(place)?;
        self.kinds.get(usize::from(kind)).map(|kind| Known::Without(kind))
    }

    /// The number of known files.
    #[must_use]
    pub fn len(&self) -> usize {
        self.content.len() + self.without.len()
    }

    /// Whether no files are known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The bytes of the file; `None` if there are more than it may have.
fn read(file: File) -> io::Result<Option<Vec<u8>>> {
    if file.metadata()?.len() > LONGEST {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn hashed(entry: &[u8; 48]) -> Option<(Stamp, ContentHash)> {
    let (stamp, hash) = entry.split_first_chunk::<16>()?;
    Some((Stamp(*stamp), ContentHash::from(*hash.first_chunk::<32>()?)))
}

fn counted(entry: &[u8; 17]) -> Option<(Stamp, u8)> {
    let (stamp, kind) = entry.split_first_chunk::<16>()?;
    Some((Stamp(*stamp), *kind.first()?))
}

/// Collects the stamps of the files of a scan for the next scan.
#[derive(Debug)]
pub struct StampsWriter {
    path: PathBuf,
    draft: Draft,
    key: Key,
    /// When the scan started, in nanoseconds since 1970.
    start: i128,
    stamps: Stamps,
}

impl StampsWriter {
    /// Starts collecting for the store at `folder`, which is created if it does not exist. Must be called before the
    /// scan looks at any file.
    ///
    /// # Errors
    /// [`Error::NotOurs`] if it contains files that are not of a store, and [`Error::Io`].
    pub fn start(folder: &Path, key: &Key) -> Result<StampsWriter> {
        claim::claim(folder, None)?;
        durable::make_folder(folder)?;
        let draft = Draft::new(folder)?;
        // Use the earlier of two clocks, because a file server has its own.
        let there = draft.metadata().map_err(Error::io("read", folder))?;
        let here = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let here = i128::try_from(here.as_nanos()).unwrap_or(i128::MAX);
        let start = modified(&there).min(here);
        let (path, key, stamps) = (folder.join(NAME), key.clone(), Stamps::default());
        Ok(StampsWriter { path, draft, key, start, stamps })
    }

    /// Adds a file: its metadata from before its content was read, and what is known of it. A file that changed shortly
    /// before or since the start of the scan is not added, because it may change again and keep the same stamp.
    pub fn note(&mut self, metadata: &Metadata, known: Known<'_>) {
        let is_recent = modified(metadata).max(changed(metadata)) >= self.start - STEP;
        if is_recent || self.stamps.len() >= MAX_STAMPS {
            return;
        }
        let stamp = Stamp::of(metadata);
        match known {
            Known::Content(hash) => self.stamps.content.push((stamp, hash)),
            Known::Without(kind) => {
                if let Some(kind) = self.kind(kind) {
                    self.stamps.without.push((stamp, kind));
                }
            }
        }
    }

    /// The number of a kind; `None` if there are too many or the name is too long.
    fn kind(&mut self, name: &str) -> Option<u8> {
        let kinds = &mut self.stamps.kinds;
        let place = kinds.iter().position(|kind| kind == name).unwrap_or(kinds.len());
        if place == kinds.len() {
            if place == MAX_KINDS || name.len() > usize::from(u8::MAX) {
                return None;
            }
            kinds.push(name.to_owned());
        }
        u8::try_from(place).ok()
    }

    /// Writes the stamps to the store, replacing the previous ones.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(mut self) -> Result<()> {
        let bytes = self.bytes();
        let hash = ContentHash::of(&bytes);
        let mut write = |bytes: &[u8]| self.draft.write_all(bytes);
        write(&bytes)
            .and_then(|()| write(hash.as_bytes()))
            .map_err(Error::io("write", &self.path))?;
        self.draft.replace(&self.path)
    }

    fn bytes(&mut self) -> Vec<u8> {
        let Stamps { content, without, kinds } = &mut self.stamps;
        // Hard links share a stamp.
        content.sort_unstable();
        content.dedup_by_key(|(stamp, _)| *stamp);
        without.sort_unstable();
        without.dedup_by_key(|(stamp, _)| *stamp);
        let mut bytes = Vec::with_capacity(content.len() * 48 + without.len() * 17);
        bytes.extend(MAGIC);
        bytes.extend(self.key.hash().as_bytes());
        let length = |length: usize| u8::try_from(length).unwrap_or(u8::MAX);
        bytes.push(length(kinds.len()));
        for kind in kinds {
            bytes.push(length(kind.len()));
            bytes.extend(kind.as_bytes());
        }
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend((without.len() as u64).to_le_bytes());
        for (Stamp(stamp), hash) in content {
            bytes.extend(stamp.iter().chain(hash.as_bytes()));
        }
        for (Stamp(stamp), kind) in without {
            bytes.extend(stamp.iter().chain([&*kind]));
        }
        bytes
    }
}
