//! What an earlier scan has said, for what has not changed since.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::durable;
use crate::error::{Error, Result};
use crate::lines::{self, FramePlace, LinePlace};
use crate::shard::{ShardLine, ShardReader};
use crate::status::DamagedShard;
use crate::store::Store;
use crate::{ContentHash, Counts, Key};

/// How many decompressed frames are kept at hand. Scans go by shard or, over all of them, by path:
/// either way each shard's frames come in their order.
const KEPT: usize = 64;
/// The largest frame that is kept, in bytes: above it is one of few long lines.
const LARGEST_KEPT: usize = 1 << 20;

/// The results of an earlier scan, looked up by path and content. In memory is where each stands,
/// some 64 bytes an item; the records themselves stay on disk.
#[derive(Debug, Default)]
pub struct Previous {
    shards: Vec<OldShard>,
    /// In ascending order of their names.
    items: Vec<OldItem>,
    kept: Vec<Mutex<Kept>>,
    unusable: Vec<DamagedShard>,
    lacks_hashes: bool,
}

/// What an earlier scan has said of an item whose content is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchanged {
    /// Its records, each a line of JSON without the line feed, as [`ShardWriter::record`] takes
    /// them.
    ///
    /// [`ShardWriter::record`]: crate::ShardWriter::record
    pub records: Vec<Vec<u8>>,
    /// What was met in it and has no record.
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
    /// The frame its first record is in.
    frame: usize,
    /// Bytes of lines before that record in the frame.
    start: usize,
    records: u64,
    /// Most items are one file with one record.
    without: Option<Box<Counts>>,
}

/// Path and content, as 128 bits of their BLAKE3.
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

/// A frame that was decompressed.
#[derive(Debug, Default)]
struct Kept {
    shard: usize,
    frame: usize,
    lines: Arc<Vec<u8>>,
}

impl Previous {
    /// The results in the store at `folder`, complete or not: every shard that is whole. A scan of
    /// another key has none that still hold.
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
                // Its scan has not come to it.
                Err(error) if error.is_absence() && store.run().totals.is_none() => {}
                Err(error @ (Error::Damaged { .. } | Error::Foreign { .. } | Error::Io { .. })) => {
                    previous.unusable.push(DamagedShard { shard, reason: error.to_string() })
                }
                Err(error) => return Err(error),
            }
        }
        previous.items.sort_unstable_by_key(|item| item.name);
        previous.kept.resize_with(KEPT, Mutex::default);
        Ok(previous)
    }

    /// What was said of the item at this very path with this very content. Any number of threads
    /// may ask at once; it is fastest in the order of the earlier scan.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Damaged`] where the store has changed since it was opened.
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

    /// The shards that cannot be used, for they are damaged, and in a complete store also where
    /// they are missing: their items have to be checked again.
    #[must_use]
    pub fn unusable(&self) -> &[DamagedShard] {
        &self.unusable
    }

    /// Whether its store is complete and has no hashes of its files.
    #[must_use]
    pub fn lacks_hashes(&self) -> bool {
        self.lacks_hashes
    }

    /// How many items it knows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it knows none.
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

    /// The lines of a frame.
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
        // As many bytes as were read from it before.
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

/// Where everything stands in a whole shard, which is the `place`th.
fn old_shard(
    mut reader: ShardReader<'_>,
    store: &Store,
    place: usize,
) -> Result<(OldShard, Vec<OldItem>)> {
    let mut frames: Vec<FramePlace> = Vec::new();
    let mut items = Vec::new();
    // Where the first record of the next item stands.
    let mut first: Option<(usize, usize)> = None;
    while let Some((LinePlace { frame, start }, line)) = reader.next_place()? {
        if frames.last() != Some(&frame) {
            frames.push(frame);
        }
        let ShardLine::Item(item) = line else {
            first.get_or_insert((frames.len() - 1, start));
            continue;
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
    }
    Ok((OldShard { path: reader.path().to_owned(), frames }, items))
}
