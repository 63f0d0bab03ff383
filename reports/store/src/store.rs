//! A store: the folder that holds the results of one scan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Manifest;
use crate::durable;
use crate::error::{Error, Result};
use crate::examine;
use crate::files::{FILES, Files};
use crate::journal::{self, Journal};
use crate::layout::{MANIFEST, RUN, SHARDS, shard_name, shard_path};
use crate::run::{Run, Totals};
use crate::shard::{self, ShardReader, ShardState, ShardTotals, ShardWriter};
use crate::status::{DamagedFile, Remedy, Status};
use crate::tables;
use crate::verify::MISSING;

/// The folder that holds the results of one scan:
///
/// ```text
/// run.json                  what was scanned, with what, and whether all of it is there
/// manifest.ndjson.zst       what there was to check, and in which shard
/// shards/00000.ndjson.zst   the records
/// tables/                   the same as Parquet, once it is complete
/// files.ndjson              size and hash of each of these files, once it is complete
/// stamps                    by which the next scan knows unchanged files; not results
/// work/                     what was in work where a process died; not results
/// ```
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    manifest: Manifest,
    run: Run,
    /// The hashes of its files, where it was opened as a complete one.
    files: Option<Files>,
    /// A `run.json` that was missing of what had been complete, and is there again, incomplete.
    lost: Option<DamagedFile>,
}

/// What merging has found and done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// What the store holds.
    pub totals: Totals,
    /// What was not as it was written in a store that had been complete. All is written again but
    /// what has to be removed.
    pub found: Vec<DamagedFile>,
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
        let mut lost = None;
        if !run_path.exists() {
            lost = (folder.join(FILES).exists())
                .then(|| DamagedFile::new(RUN, MISSING, Remedy::Merge));
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
        Ok(Store { folder: folder.to_owned(), manifest, run, files: None, lost })
    }

    /// Opens a store. Of a complete one, the manifest and each shard that is read are held against
    /// the hashes of its files.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Defect`] and [`Error::Damaged`], and [`Error::Foreign`] where its
    /// manifest is not the one that it was made with.
    pub fn open(folder: &Path) -> Result<Store> {
        let run = Run::read(&folder.join(RUN))?;
        let path = folder.join(MANIFEST);
        let files = run.files.map(|hash| Files::read(folder, hash)).transpose()?;
        if let Some(reason) =
            files.iter().find_map(|files| files.check(folder, MANIFEST).transpose())
        {
            return Err(Error::Damaged { path, reason: reason? });
        }
        let manifest = Manifest::open(&path)?;
        if run.manifest != manifest.hash() {
            let reason = format!("its hash is {}, not {}", manifest.hash(), run.manifest);
            return Err(Error::Foreign { path, reason });
        }
        Ok(Store { folder: folder.to_owned(), manifest, run, files, lost: None })
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

    /// Whether it is complete and has no hashes of its files, for an earlier version merged it.
    #[must_use]
    pub fn lacks_hashes(&self) -> bool {
        self.run.totals.is_some() && self.run.files.is_none()
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
        match self.changed(shard)? {
            Some(reason) => Ok(ShardState::Damaged(reason)),
            None => shard::state(&self.shard_path(shard)?, &self.manifest, shard),
        }
    }

    /// Why the file of a shard that is there is not the one of the complete store.
    fn changed(&self, shard: u32) -> Result<Option<String>> {
        let path = self.shard_path(shard)?;
        match &self.files {
            Some(files) if path.exists() => files.check(&self.folder, &shard_name(shard)),
            _ => Ok(None),
        }
    }

    /// Reads a shard.
    ///
    /// # Errors
    /// [`Error::Usage`] where the manifest has no such shard, [`Error::Io`] also where it is not
    /// there, and [`Error::Damaged`] where it is not the file of the complete store.
    pub fn read(&self, shard: u32) -> Result<ShardReader<'_>> {
        let path = self.shard_path(shard)?;
        match self.changed(shard)? {
            Some(reason) => Err(Error::Damaged { path, reason }),
            None => ShardReader::open(path, &self.manifest, shard),
        }
    }

    /// What of the scan is there; all files are read.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn status(&self) -> Result<Status> {
        examine::status(&self.manifest, &self.folder)
    }

    /// Marks the store as complete, where every shard is there exactly once, whole and of this
    /// scan; before, writes the tables (feature `parquet`) and the hashes of all files, and removes
    /// what dead writers have left. A store that is complete and sound stays as it is.
    ///
    /// # Errors
    /// [`Error::Unmergeable`] tells what is missing; [`Error::Busy`] where another merges; and
    /// [`Error::Io`].
    pub fn merge(&mut self) -> Result<Merged> {
        let busy = || Error::Busy { path: self.folder.clone() };
        let lock = durable::lock_folder(&self.folder)?.ok_or_else(busy)?;
        durable::sweep(&self.folder)?;
        durable::sweep(&self.folder.join(SHARDS))?;
        let (status, totals) = examine::examine(&self.manifest, &self.folder)?;
        if !status.is_whole() {
            return Err(Error::Unmergeable(Box::new(status)));
        }
        let (items, records, mut without) = examine::sum(&totals);
        without.add_all(self.manifest.without());
        let totals = Totals { items, records, without };
        let is_done = |file: &DamagedFile| file.remedy == Remedy::Remove;
        if !(status.hashes && status.files.iter().all(is_done)) {
            self.complete(totals.clone())?;
        } else {
            // Another may have merged it since it was opened.
            self.run = Run::read(&self.folder.join(RUN))?;
        }
        journal::sweep(&self.folder)?;
        drop(lock);
        let found = self.lost.take().into_iter().chain(status.files).collect();
        Ok(Merged { totals, found })
    }

    /// Writes everything that follows from manifest and shards, `run.json` last.
    fn complete(&mut self, totals: Totals) -> Result<()> {
        let (folder, run_path) = (&self.folder, self.folder.join(RUN));
        let incomplete = Run::of(&self.manifest);
        if self.run != incomplete {
            // Until all is written again, the list of files is not to be relied on.
            incomplete.draft(folder)?.replace(&run_path)?;
        }
        self.manifest.save(&folder.join(MANIFEST))?;
        tables::write(folder, &self.manifest)?;
        let files = Files::of(folder, self.manifest.shards())?;
        let hash = files.save(folder)?;
        let run = Run { totals: Some(totals), files: Some(hash), ..incomplete };
        run.draft(folder)?.replace(&run_path)?;
        (self.run, self.files) = (run, Some(files));
        Ok(())
    }

    fn shard_path(&self, shard: u32) -> Result<PathBuf> {
        if shard < self.manifest.shards() {
            return Ok(shard_path(&self.folder, shard));
        }
        let last = self.manifest.shards() - 1;
        Err(Error::Usage(format!("shard {shard}, allowed: 0 to {last}")))
    }
}
