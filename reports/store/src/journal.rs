//! Journals of the items being worked on, to find the culprit if the process dies.
//!
//! A file that crashes the checker, or makes the system kill it for lack of memory, leaves no error message. A journal
//! does: each item is noted when work on it starts and when it is done, so the items that a dead process had started
//! and not finished are suspects. Nothing is synced, because written data survives the process; notes are lost only if
//! the machine crashes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

use crate::durable;
use crate::error::{Error, Result};

/// The folder of journals in a store.
pub(crate) const WORK: &str = "work";
const SUFFIX: &str = ".journal";
/// The maximum number of bytes of a journal that are read: several million items.
const LONGEST: u64 = 64 << 20;

/// The journal of a process that works on a shard. The file is locked while the process lives, and removed with the
/// journal if the process ends normally.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Flock<File>,
}

/// An item being worked on; dropping it notes that it is done.
#[derive(Debug)]
#[must_use = "dropping this notes that the item is done"]
pub struct Working<'j> {
    journal: &'j Journal,
    item: u32,
}

impl Journal {
    pub(crate) fn start(store: &Path, shard: u32) -> Result<Journal> {
        let folder = store.join(WORK);
        durable::make_folder(&folder)?;
        let (file, path) = tempfile::Builder::new()
            .prefix(&format!("{shard:05}-"))
            .suffix(SUFFIX)
            .append(true)
            .tempfile_in(&folder)
            .and_then(|made| made.keep().map_err(|error| error.error))
            .map_err(Error::io("write a file in", &folder))?;
        let file = Flock::lock(file, FlockArg::LockExclusive)
            .map_err(|(_, errno)| Error::io("lock", &path)(errno.into()))?;
        Ok(Journal { path, file })
    }

    /// Notes that work on an item has started; it lasts until the result is dropped. Several items may be worked on at
    /// once.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn working(&self, item: u32) -> Result<Working<'_>> {
        // One write per line, so that lines of different threads do not mix.
        (&*self.file)
            .write_all(format!("+{item}\n").as_bytes())
            .map_err(Error::io("write", &self.path))?;
        Ok(Working { journal: self, item })
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        // A panic counts as a death. If the note cannot be written, the item is merely tried twice.
        if !std::thread::panicking() {
            let _ = (&*self.journal.file).write_all(format!("-{}\n", self.item).as_bytes());
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The items of a shard that were being worked on when a process died, and in how many deaths.
pub(crate) fn suspects(store: &Path, shard: u32) -> Result<BTreeMap<u32, u32>> {
    let mut deaths = BTreeMap::new();
    let of_shard = format!("{shard:05}-");
    for path in durable::names_in(&store.join(WORK))? {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        if name.starts_with(&of_shard)
            && name.ends_with(SUFFIX)
            && durable::lock_abandoned(&path).is_some()
        {
            for item in unfinished(&path)? {
                *deaths.entry(item).or_insert(0) += 1;
            }
        }
    }
    Ok(deaths)
}

/// The items that a journal notes as started and not as done.
fn unfinished(path: &Path) -> Result<BTreeSet<u32>> {
    let mut text = Vec::new();
    durable::open_file(path)
        .and_then(|file| file.take(LONGEST).read_to_end(&mut text))
        .map_err(Error::io("read", path))?;
    let mut begun = BTreeSet::new();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let note = line.strip_suffix(b"\n").and_then(|line| str::from_utf8(line).ok());
        let item = |digits: &str| digits.parse::<u32>().ok();
        if let Some(item) = note.and_then(|note| note.strip_prefix('+')).and_then(item) {
            begun.insert(item);
        } else if let Some(item) = note.and_then(|note| note.strip_prefix('-')).and_then(item) {
            begun.remove(&item);
        }
    }
    Ok(begun)
}

/// Whether a file has the name of a journal: `00017-aB3x9Q.journal`.
fn is_journal(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let parts = name.strip_suffix(SUFFIX).and_then(|name| name.split_once('-'));
    parts.is_some_and(|(shard, random)| {
        shard.len() == 5 && shard.bytes().all(|digit| digit.is_ascii_digit()) && random.len() == 6
    })
}

/// Removes the journals of dead processes, whose shards are complete by now.
pub(crate) fn sweep(store: &Path) -> Result<()> {
    for path in durable::names_in(&store.join(WORK))? {
        if is_journal(&path)
            && let Some(_lock) = durable::lock_abandoned(&path)
        {
            let _ = fs::remove_file(&path);
        }
    }
    // This removes the folder only if it is empty: journals of live processes remain.
    let _ = fs::remove_dir(store.join(WORK));
    Ok(())
}
