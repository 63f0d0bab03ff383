//! A store: the folder that holds the results of one scan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Manifest;
use crate::durable;
use crate::error::{Error, Result};
use crate::journal::{self, Journal};
use crate::run::{Run, Totals};
use crate::shard::{self, ShardReader, ShardState, ShardTotals, ShardWriter};
use crate::status::{self, Status};
#[cfg(feature = "parquet")]
use crate::tables;

/// The folder of shards in a store.
pub(crate) const SHARDS: &str = "shards";
pub(crate) const RUN: &str = "run.json";
pub(crate) const MANIFEST: &str = "manifest.ndjson.zst";
const EXTENSION: &str = ".ndjson.zst";

/// The folder that holds the results of one scan:
///
/// ```text
/// run.json                  what was scanned, with what, and whether all of it is there
/// manifest.ndjson.zst       what there was to check, and in which shard
/// shards/00000.ndjson.zst   the records
/// tables/                   the same as Parquet, once it is complete
/// stamps                    by which the next scan knows unchanged files; not results
/// work/                     what was in work where a process died; not results
/// ```
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    manifest: Manifest,
    run: Run,
}

/// A shard to work on.
#[derive(Debug)]
pub enum Shard<'m> {
    /// It is there already, whole.
    There(ShardTotals),
    /// It is to be written.
    ToDo(Box<ShardWriter<'m>>),
}

impl Store {
    /// The store of a manifest's scan in `folder`: made where there is none, opened where it is of
    /// the same scan. What dead writers have left is removed. Any number of processes may do so at
    /// once.
    ///
    /// # Errors
    /// [`Error::Foreign`] where another scan's store is there, [`Error::Io`], and
    /// [`Error::Defect`] where its `run.json` is damaged.
    pub fn create(folder: &Path, manifest: Manifest) -> Result<Store> {
        durable::make_folder(&folder.join(SHARDS))?;
        durable::sweep(folder)?;
        durable::sweep(&folder.join(SHARDS))?;
        let (run_path, manifest_path) = (folder.join(RUN), folder.join(MANIFEST));
        // The manifest first: where there is a run.json, there is all that it speaks of.
        if !run_path.exists() {
            if !manifest_path.exists() {
                manifest.save(&manifest_path)?;
            }
            Run::of(&manifest).draft(folder)?.publish(&run_path)?;
        }
        let run = Run::read(&run_path)?;
        if run.manifest != manifest.hash() {
            let reason = format!("its manifest is {}, not {}", run.manifest, manifest.hash());
            return Err(Error::Foreign { path: run_path, reason });
        }
        Ok(Store { folder: folder.to_owned(), manifest, run })
    }

    /// Opens a store.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Defect`] and [`Error::Damaged`], and [`Error::Foreign`] where its
    /// manifest is not the one that it was made with.
    pub fn open(folder: &Path) -> Result<Store> {
        let run = Run::read(&folder.join(RUN))?;
        let path = folder.join(MANIFEST);
        let manifest = Manifest::open(&path)?;
        if run.manifest != manifest.hash() {
            let reason = format!("its hash is {}, not {}", manifest.hash(), run.manifest);
            return Err(Error::Foreign { path, reason });
        }
        Ok(Store { folder: folder.to_owned(), manifest, run })
    }

    /// The folder it is in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What there is to check.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What it is, and what it holds once it is complete.
    #[must_use]
    pub const fn run(&self) -> &Run {
        &self.run
    }

    /// Starts to work on a shard, or tells that it is done: there and whole.
    ///
    /// # Errors
    /// [`Error::Usage`] where the manifest has no such shard, [`Error::Foreign`] where another
    /// scan's stands in its place, and [`Error::Io`].
    pub fn begin(&self, shard: u32) -> Result<Shard<'_>> {
        let path = self.shard_path(shard)?;
        match shard::state(&path, &self.manifest, shard)? {
            ShardState::Whole(totals) => Ok(Shard::There(totals)),
            ShardState::Foreign(reason) => Err(Error::Foreign { path, reason }),
            ShardState::Absent | ShardState::Damaged(_) => {
                let writer = ShardWriter::new(&self.manifest, shard, path)?;
                Ok(Shard::ToDo(Box::new(writer)))
            }
        }
    }

    /// Starts a journal of what is in work of a shard; one serves all threads of a process.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn journal(&self, shard: u32) -> Result<Journal> {
        Journal::start(&self.folder, shard)
    }

    /// The items of a shard that were in work when processes died, and at how many deaths.
    ///
    /// A death proves nothing: the process may have been ended from outside, and whatever other
    /// threads worked on is suspect with the culprit. So suspects are best tried first and one at a
    /// time, in a process of their own.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn suspects(&self, shard: u32) -> Result<BTreeMap<u32, u32>> {
        journal::suspects(&self.folder, shard)
    }

    /// What is known of a shard; all of it is read.
    ///
    /// # Errors
    /// [`Error::Usage`] where the manifest has no such shard, and [`Error::Io`].
    pub fn state(&self, shard: u32) -> Result<ShardState> {
        shard::state(&self.shard_path(shard)?, &self.manifest, shard)
    }

    /// Reads a shard.
    ///
    /// # Errors
    /// [`Error::Usage`] where the manifest has no such shard, [`Error::Io`] also where it is not
    /// there.
    pub fn read(&self, shard: u32) -> Result<ShardReader<'_>> {
        ShardReader::open(self.shard_path(shard)?, &self.manifest, shard)
    }

    /// What of the scan is there; all shards are read.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn status(&self) -> Result<Status> {
        status::status(&self.manifest, &self.folder)
    }

    /// Marks the store as complete, where every shard is there exactly once, whole and of this
    /// scan; before, writes the tables (feature `parquet`) and removes what dead writers have left.
    /// A store that is complete stays as it is.
    ///
    /// # Errors
    /// [`Error::Unmergeable`] tells what is missing; [`Error::Busy`] where another merges; and
    /// [`Error::Io`].
    pub fn merge(&mut self) -> Result<Totals> {
        let busy = || Error::Busy { path: self.folder.clone() };
        let lock = durable::lock_folder(&self.folder)?.ok_or_else(busy)?;
        durable::sweep(&self.folder)?;
        durable::sweep(&self.folder.join(SHARDS))?;
        let (status, totals) = status::examine(&self.manifest, &self.folder)?;
        if !status.is_whole() {
            return Err(Error::Unmergeable(Box::new(status)));
        }
        let (items, records, mut without) = status::sum(&totals);
        without.add_all(self.manifest.without());
        let run = Run { totals: Some(Totals { items, records, without }), ..self.run.clone() };
        #[cfg(feature = "parquet")]
        if self.run != run || !self.folder.join(tables::TABLES).is_dir() {
            tables::write(&self.folder, &self.manifest)?;
        }
        if self.run != run {
            run.draft(&self.folder)?.replace(&self.folder.join(RUN))?;
        }
        journal::sweep(&self.folder)?;
        drop(lock);
        self.run = run;
        Ok(self.run.totals.clone().unwrap_or_default())
    }

    fn shard_path(&self, shard: u32) -> Result<PathBuf> {
        if shard < self.manifest.shards() {
            return Ok(shard_path(&self.folder, shard));
        }
        let last = self.manifest.shards() - 1;
        Err(Error::Usage(format!("shard {shard}, allowed: 0 to {last}")))
    }
}

/// Where a shard stands in a store.
pub(crate) fn shard_path(folder: &Path, shard: u32) -> PathBuf {
    folder.join(SHARDS).join(format!("{shard:05}{EXTENSION}"))
}

/// The number of the shard that a file's name stands for.
pub(crate) fn shard_of(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(EXTENSION)?;
    let plain = digits.len() == 5 && digits.bytes().all(|digit| digit.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}
