//! What is in work, for the case that the process dies of it.
//!
//! A file that makes its checker crash, or the system end it for want of memory, leaves no error
//! behind. A journal does: each item is noted before it is worked on and when it is done, and what a
//! dead process had begun and not ended is suspect. Nothing is synced, for what the process has
//! written outlasts the process; only where the machine goes down may notes be lost.

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
/// How much of a journal is read, in bytes: several million items.
const LONGEST: u64 = 64 << 20;

/// What a process has in work of a shard. The file is locked while the process lives; gone with the
/// journal, where the process ends in order.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Flock<File>,
}

/// An item in work; dropped, it is done.
#[derive(Debug)]
#[must_use = "the item is done when this is dropped"]
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

    /// Notes that an item is in work until the answer is dropped. Several may be at once.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn working(&self, item: u32) -> Result<Working<'_>> {
        // One write for a line: those of several threads do not mix.
        (&*self.file)
            .write_all(format!("+{item}\n").as_bytes())
            .map_err(Error::io("write", &self.path))?;
        Ok(Working { journal: self, item })
    }
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        // A panic is a death, too. A note that cannot be written costs a second try.
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

/// The items of a shard that processes had in work when they died, and how many have.
pub(crate) fn suspects(store: &Path, shard: u32) -> Result<BTreeMap<u32, u32>> {
    let mut deaths = BTreeMap::new();
    let of_shard = format!("{shard:05}-");
    for path in durable::names_in(&store.join(WORK))? {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        if name.starts_with(&of_shard) && name.ends_with(SUFFIX) && durable::is_abandoned(&path) {
            for item in unfinished(&path)? {
                *deaths.entry(item).or_insert(0) += 1;
            }
        }
    }
    Ok(deaths)
}

/// The items that a journal notes as begun and not as done.
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

/// Removes the journals of dead processes: their shards are whole.
pub(crate) fn sweep(store: &Path) -> Result<()> {
    for path in durable::names_in(&store.join(WORK))? {
        if durable::is_abandoned(&path) {
            let _ = fs::remove_file(&path);
        }
    }
    // Gone where it is empty; a live process's journal keeps it.
    let _ = fs::remove_dir(store.join(WORK));
    Ok(())
}
