//! The results of an earlier scan, reused for unchanged files.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::durable;
use crate::error::{Error, Result};
use crate::lines::{self, FramePlace, LinePlace};
use crate::shard::{ShardLine, ShardReader};
use crate::status::{DamagedShard, Remedy};
use crate::store::Store;
use crate::{ContentHash, Counts, Key};

/// The number of decompressed frames in the cache. Scans proceed by shard or, across all shards, by path; either way
/// the frames of each shard are needed in order.
const KEPT: usize = 64;
/// The maximum size in bytes of a cached frame; larger ones contain a few long lines.
const LARGEST_KEPT: usize = 1 << 20;

/// The results of an earlier scan, looked up by path and content. Only their positions are in memory, about 64 bytes
/// per item; the records stay on disk.
#[derive(Debug, Default)]
pub struct Previous {
    shards: Vec<OldShard>,
    /// Sorted by name.
    items: Vec<OldItem>,
    kept: Vec<Mutex<Kept>>,
    unusable: Vec<DamagedShard>,
    lacks_hashes: bool,
}

/// The earlier results for an item with the same content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchanged {
    /// Its records, each a line of JSON without line feed, as [`ShardWriter::record`] takes them.
    ///
    /// [`ShardWriter::record`]: crate::ShardWriter::record
    pub records: Vec<Vec<u8>>,
    /// The counts of files in it that have no record.
    pub without: Counts,
}

#[derive(Debug)]
struct OldShard {
    path: PathBuf,
    frames: Vec<FramePlace>,
}

#[derive(Debug)]
struct OldItem {
    name: Name,
    shard: usize,
    /// The frame that contains its first record.
    frame: usize,
    /// The decompressed offset of that record in the frame.
    start: usize,
    records: u64,
    /// Most items are one file with one record.
    without: Option<Box<Counts>>,
}

/// The first 128 bits of the BLAKE3 hash of path and content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name([u8; 16]);

impl Name {
    fn of(path: &Path, hash: &ContentHash) -> Name {
        let mut hasher = blake3::Hasher::new();
        hasher.update(hash.as_bytes());
        hasher.update(path.as_os_str().as_bytes());
        Name(ContentHash::from(hasher.finalize()).short())
    }
}

/// A decompressed frame.
#[derive(Debug, Default)]
struct Kept {
    shard: usize,
    frame: usize,
    lines: Arc<Vec<u8>>,
}

impl Previous {
    /// The results in the sound shards of the store at `folder`, complete or not. A store with another key provides no
    /// results.
    ///
    /// # Errors
    /// As for [`Store::open`].
    pub fn open(folder: &Path, key: &Key) -> Result<Previous> {
        let store = Store::open(folder)?;
        let mut previous = Previous { lacks_hashes: store.lacks_hashes(), ..Previous::default() };
        if store.manifest().key() != key {
            return Ok(previous);
        }
        for shard in 0..store.manifest().shards() {
            let reader = store.read(shard);
            match reader.and_then(|reader| old_shard(reader, &store, previous.shards.len())) {
                Ok((shard, items)) => {
                    previous.shards.push(shard);
                    previous.items.extend(items);
                }
                // The earlier scan has not reached this shard.
                Err(error) if error.is_absence() && store.run().totals.is_none() => {}
                Err(error @ (Error::Damaged { .. } | Error::Foreign { .. } | Error::Io { .. })) => {
                    let (reason, remedy) = (error.to_string(), Remedy::Scan);
                    previous.unusable.push(DamagedShard { shard, reason, remedy });
                }
                Err(error) => return Err(error),
            }
        }
        previous.items.sort_unstable_by_key(|item| item.name);
        previous.kept.resize_with(KEPT, Mutex::default);
        Ok(previous)
    }

    /// The earlier results for the item with exactly this path and content. Threads may call this concurrently; it is
    /// fastest in the order of the earlier scan.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Damaged`] if the store has changed since it was opened.
    pub fn find(&self, path: &Path, hash: &ContentHash) -> Result<Option<Unchanged>> {
        let name = Name::of(path, hash);
        let Ok(place) = self.items.binary_search_by_key(&name, |item| item.name) else {
            return Ok(None);
        };
        let Some(item) = self.items.get(place) else { return Ok(None) };
        let records = self.records(item)?;
        let without = item.without.as_deref().cloned().unwrap_or_default();
        Ok(Some(Unchanged { records, without }))
    }

    /// The shards that cannot be used because they are damaged or, in a complete store, missing. Their items have to be
    /// checked again.
    #[must_use]
    pub fn unusable(&self) -> &[DamagedShard] {
        &self.unusable
    }

    /// Whether the store is complete but has no hashes of its files.
    #[must_use]
    pub fn lacks_hashes(&self) -> bool {
        self.lacks_hashes
    }

    /// The number of items it knows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it knows no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn records(&self, item: &OldItem) -> Result<Vec<Vec<u8>>> {
        let mut records = Vec::new();
        let (mut frame, mut start) = (item.frame, item.start);
        while (records.len() as u64) < item.records {
            let lines = self.lines(item.shard, frame)?;
            let mut rest = lines.get(start..).unwrap_or_default();
            while !rest.is_empty() && (records.len() as u64) < item.records {
                let line = lines::first_line(rest)
                    .map_err(|error| self.changed(item.shard, error.to_string()))?;
                records.push(line.to_vec());
                rest = rest.get(line.len() + 1..).unwrap_or_default();
            }
            (frame, start) = (frame + 1, 0);
        }
        Ok(records)
    }

    /// The decompressed lines of a frame.
    fn lines(&self, shard: usize, frame: usize) -> Result<Arc<Vec<u8>>> {
        let Some(kept) = self.kept.get(shard % KEPT) else { return Ok(Arc::default()) };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.lines.is_empty() || (kept.shard, kept.frame) != (shard, frame) {
            let lines = Arc::new(self.decompress(shard, frame)?);
            if lines.len() > LARGEST_KEPT {
                return Ok(lines);
            }
            *kept = Kept { shard, frame, lines };
        }
        Ok(Arc::clone(&kept.lines))
    }

    fn decompress(&self, shard: usize, frame: usize) -> Result<Vec<u8>> {
        let old = self.shards.get(shard);
        let Some((old, place)) = old.and_then(|old| Some((old, old.frames.get(frame)?))) else {
            return Err(self.changed(shard, "it has fewer frames than before".to_owned()));
        };
        // Read as many bytes as the frame had when the store was opened.
        let mut compressed = vec![0; usize::try_from(place.length).unwrap_or(usize::MAX)];
        durable::open_file(&old.path)
            .and_then(|file| file.read_exact_at(&mut compressed, place.offset))
            .map_err(Error::io("read", &old.path))?;
        match lines::decompress(&compressed, place.lines) {
            Ok(lines) if lines.len() == place.lines => Ok(lines),
            Ok(_) => Err(self.changed(shard, "a frame has another size than before".to_owned())),
            Err(error) => Err(self.changed(shard, error.to_string())),
        }
    }

    fn changed(&self, shard: usize, reason: String) -> Error {
        let path = self.shards.get(shard).map(|old| old.path.clone()).unwrap_or_default();
        Error::Damaged { path, reason }
    }
}

/// The positions of all items of a sound shard, number `place` in the list.
fn old_shard(
    reader: ShardReader<'_>,
    store: &Store,
    place: usize,
) -> Result<(OldShard, Vec<OldItem>)> {
    let mut frames: Vec<FramePlace> = Vec::new();
    let mut items = Vec::new();
    // The position of the first record of the next item.
    let mut first: Option<(usize, usize)> = None;
    let path = reader.path().to_owned();
    reader.each_place(|LinePlace { frame, start }, line| {
        if frames.last() != Some(&frame) {
            frames.push(frame);
        }
        let ShardLine::Item(item) = line else {
            first.get_or_insert((frames.len() - 1, start));
            return Ok(());
        };
        let (frame, start) = first.take().unwrap_or_default();
        let number = usize::try_from(item.item).unwrap_or(usize::MAX);
        let of_manifest = store.manifest().items().get(number);
        if let Some((hash, of_manifest)) = item.hash.zip(of_manifest) {
            items.push(OldItem {
                name: Name::of(&of_manifest.path, &hash),
                shard: place,
                frame,
                start,
                records: item.records,
                without: (!item.without.is_empty()).then(|| Box::new(item.without)),
            });
        }
        Ok::<(), Error>(())
    })?;
    Ok((OldShard { path, frames }, items))
}
