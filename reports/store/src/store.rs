//! A store: the folder that holds the results of one scan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Manifest;
use crate::claim;
use crate::durable;
use crate::error::{Error, Result};
use crate::examine;
use crate::files::{FILES, Files, MISSING};
use crate::journal::{self, Journal};
use crate::layout::{MANIFEST, RUN, SHARDS, TABLES, shard_path};
use crate::run::{Run, Totals};
use crate::shard::{self, ShardReader, ShardState, ShardTotals, ShardWriter};
use crate::status::{DamagedFile, Remedy, Status};
use crate::verify;

/// The folder that holds the results of one scan:
///
/// ```text
/// run.json                  inputs, program and options, and whether the store is complete
/// manifest.ndjson.zst       the items to check, and in which shard
/// shards/00000.ndjson.zst   the records
/// tables/                   the records as Parquet, once complete, if the build writes them
/// files.ndjson              size and hash of each of these files, once complete
/// stamps                    by which the next scan recognizes unchanged files; not results
/// work/                     the items that a process was working on when it died; not results
/// ```
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    manifest: Manifest,
    run: Run,
    /// The hashes of its files, if it was complete when opened.
    files: Option<Files>,
    /// Set if the `run.json` of a complete store was missing and has been rewritten as incomplete.
    lost: Option<DamagedFile>,
}

/// Whether this build writes the tables of a store. The `parquet` crate writes numbers in the order of the host, so that tables of a
/// big-endian one could not be read.
const WRITES_TABLES: bool = cfg!(all(feature = "tables", target_endian = "little"));

/// The result of merging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The totals of the store.
    pub totals: Totals,
    /// The damage found in a store that was complete before. Everything has been rewritten; files to be removed are
    /// left to the user.
    pub found: Vec<DamagedFile>,
}

/// A shard to work on.
#[derive(Debug)]
pub enum Shard<'m> {
    /// It is complete already.
    There(ShardTotals),
    /// It has to be written.
    ToDo(Box<ShardWriter<'m>>),
}

impl Store {
    /// Whether a store may be made, or continued, in `folder`.
    ///
    /// # Errors
    /// [`Error::NotOurs`] if the folder contains other files, [`Error::Defect`] and [`Error::Damaged`] if it has a
    /// `run.json` that is not a store's, and [`Error::Io`].
    pub fn claim(folder: &Path) -> Result<()> {
        claim::claim(folder, None)
    }

    /// Opens the store in `folder` if it is of this manifest's scan, or creates it. Removes the files of dead writers.
    /// Any number of processes may do this at once.
    ///
    /// # Errors
    /// [`Error::Foreign`] if the folder contains the store of another scan, [`Error::NotOurs`] if it contains something
    /// else, [`Error::Io`], and [`Error::Defect`] if its `run.json` is damaged.
    pub fn create(folder: &Path, manifest: Manifest) -> Result<Store> {
        claim::claim(folder, Some(&manifest))?;
        Store::create_copy(folder, manifest)
    }

    /// Like [`Store::create`], in the local copy of a bucket: a temporary folder, which is the store's whatever was
    /// fetched.
    ///
    /// # Errors
    /// As for [`Store::create`].
    pub fn create_copy(folder: &Path, manifest: Manifest) -> Result<Store> {
        durable::make_folder(&folder.join(SHARDS))?;
        durable::sweep(folder)?;
        durable::sweep(&folder.join(SHARDS))?;
        let (run_path, manifest_path) = (folder.join(RUN), folder.join(MANIFEST));
        // The manifest comes first: if run.json exists, so do the files that it refers to.
        let mut lost = None;
        if !run_path.exists() {
            lost = (folder.join(FILES).exists())
                .then(|| DamagedFile::new(RUN, MISSING, Remedy::Merge));
            if !manifest_path.exists() {
                manifest.save(&manifest_path)?;
            }
            Run::of(&manifest).draft(folder)?.publish(&run_path)?;
        }
        let run = Run::open(folder)?;
        if run.manifest != manifest.hash() {
            let reason = format!("its manifest is {}, not {}", run.manifest, manifest.hash());
            return Err(Error::Foreign { path: run_path, reason });
        }
        Ok(Store { folder: folder.to_owned(), manifest, run, files: None, lost })
    }

    /// Opens a store. If it is complete, the manifest and each shard that is read are checked against their hashes.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Defect`], [`Error::Damaged`], and [`Error::Foreign`] if its manifest is not the one that
    /// it was created with.
    pub fn open(folder: &Path) -> Result<Store> {
        let run = Run::open(folder)?;
        let path = folder.join(MANIFEST);
        let merge = |error: Error| error.with_remedy(Remedy::Merge);
        let files = run.files.map(|hash| Files::read(folder, hash)).transpose().map_err(merge)?;
        if let Some(reason) =
            files.iter().find_map(|files| files.check(folder, MANIFEST).transpose())
        {
            return Err(merge(Error::Damaged { path, reason: reason? }));
        }
        let manifest = Manifest::open_own(folder).map_err(merge)?;
        if run.manifest != manifest.hash() {
            let reason = format!(
                "its hash is {}, not {}: {}",
                manifest.hash(),
                run.manifest,
                "merge the store again with the manifest of its scan"
            );
            return Err(Error::Foreign { path, reason });
        }
        Ok(Store { folder: folder.to_owned(), manifest, run, files, lost: None })
    }

    /// The folder it is in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The manifest: what there is to check.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// What it is, and what it holds once it is complete.
    #[must_use]
    pub const fn run(&self) -> &Run {
        &self.run
    }

    /// Whether it is complete but has no hashes of its files, because an earlier version merged it.
    #[must_use]
    pub fn lacks_hashes(&self) -> bool {
        self.run.totals.is_some() && self.run.files.is_none()
    }

    /// Starts writing a shard, or reports that it is complete already.
    ///
    /// # Errors
    /// [`Error::Usage`] if the manifest has no such shard, [`Error::Foreign`] if a shard of another scan is in its
    /// place, and [`Error::Io`].
    pub fn begin(&self, shard: u32) -> Result<Shard<'_>> {
        match self.state(shard)? {
            ShardState::Whole(totals) => Ok(Shard::There(totals)),
            ShardState::Foreign(reason) => {
                let reason = format!("{reason}: {}", Remedy::MoveAwayAndScan);
                Err(Error::Foreign { path: shard_path(&self.folder, shard), reason })
            }
            ShardState::Absent | ShardState::Damaged(_) => {
                let writer = ShardWriter::new(&self.manifest, shard, &self.folder)?;
                Ok(Shard::ToDo(Box::new(writer)))
            }
        }
    }

    /// Starts a journal of the items of a shard being worked on; all threads of a process share it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn journal(&self, shard: u32) -> Result<Journal> {
        Journal::start(&self.folder, shard)
    }

    /// The items of a shard that were being worked on when processes died, and in how many deaths.
    ///
    /// A death proves nothing: the process may have been killed from outside, and the items of its other threads are
    /// suspects too. So suspects are best retried first, one at a time, in a process of their own.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn suspects(&self, shard: u32) -> Result<BTreeMap<u32, u32>> {
        journal::suspects(&self.folder, shard)
    }

    /// The state of a shard. Reads all of it.
    ///
    /// # Errors
    /// [`Error::Usage`] if the manifest has no such shard, and [`Error::Io`].
    pub fn state(&self, shard: u32) -> Result<ShardState> {
        self.check_number(shard)?;
        shard::state(&self.folder, &self.manifest, shard)
    }

    /// Reads a shard.
    ///
    /// # Errors
    /// [`Error::Usage`] if the manifest has no such shard, and [`Error::Io`], also if the shard does not exist.
    pub fn read(&self, shard: u32) -> Result<ShardReader<'_>> {
        self.check_number(shard)?;
        ShardReader::open(&self.folder, &self.manifest, shard)
    }

    /// The status of what a reader of records needs: the shards, and the description of the scan. Tables and other files
    /// are neither read nor missed.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn status_of_records(&self) -> Result<Status> {
        let (mut status, totals) = examine::shards(&self.manifest, &self.folder)?;
        status.files = verify::other_kinds(&self.folder)?;
        if let Some(files) = &self.files {
            status.files.extend(verify::changed_shards(files, &self.folder, &status.whole)?);
        }
        let sums = examine::sums(&self.manifest, &status, &totals);
        status.files.extend(verify::examine_run(&self.run, &self.manifest, sums.as_ref()));
        let is_merged = self.run.totals.is_some();
        status.complete = is_merged && status.missing.is_empty() && status.damaged.is_empty();
        status.hashes = self.run.files.is_some();
        Ok(status)
    }

    /// The status of the store. Reads all files.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn status(&self) -> Result<Status> {
        examine::status(&self.manifest, &self.folder)
    }

    /// Whether it has tables: they are written when it is complete, by a build with the feature `tables`.
    #[must_use]
    pub fn has_tables(&self) -> bool {
        self.folder.join(TABLES).is_dir()
    }

    /// Marks the store as complete if every shard is. Writes the tables, with the feature `tables`, and the hashes
    /// of all files first, and removes the files of dead writers. A store that is complete and sound is not changed, but
    /// gets the tables that it does not have.
    ///
    /// # Errors
    /// [`Error::Unmergeable`] with the missing shards, [`Error::Busy`] if another process is merging, and
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
        let totals = examine::sum(&self.manifest, &totals);
        let is_done = |file: &DamagedFile| file.remedy == Remedy::MoveAway;
        let lacks_tables = WRITES_TABLES && !self.has_tables();
        if lacks_tables || !(status.hashes && status.files.iter().all(is_done)) {
            claim::refuse(&self.folder, claim::strange_tables(&self.folder)?)?;
            self.complete(totals.clone())?;
        } else {
            // Another process may have merged the store since it was opened.
            self.run = Run::read(&self.folder)?;
        }
        journal::sweep(&self.folder)?;
        drop(lock);
        let found = self.lost.take().into_iter().chain(status.files).collect();
        Ok(Merged { totals, found })
    }

    /// Writes everything that follows from manifest and shards; `run.json` is written last.
    fn complete(&mut self, totals: Totals) -> Result<()> {
        let (folder, run_path) = (&self.folder, self.folder.join(RUN));
        let incomplete = Run::of(&self.manifest);
        if self.run != incomplete {
            // The list of files is not valid until everything has been rewritten.
            incomplete.draft(folder)?.replace(&run_path)?;
        }
        self.manifest.save(&folder.join(MANIFEST))?;
        write_tables(folder, &self.manifest)?;
        let files = Files::of(folder, self.manifest.shards())?;
        let hash = files.save(folder)?;
        let run = Run { totals: Some(totals), files: Some(hash), ..incomplete };
        run.draft(folder)?.replace(&run_path)?;
        (self.run, self.files) = (run, Some(files));
        Ok(())
    }

    fn check_number(&self, shard: u32) -> Result<()> {
        if shard < self.manifest.shards() {
            return Ok(());
        }
        let last = self.manifest.shards() - 1;
        Err(Error::Usage(format!("there is no shard {shard}: the last one is shard {last}")))
    }
}

#[cfg(all(feature = "tables", target_endian = "little"))]
fn write_tables(folder: &Path, manifest: &Manifest) -> Result<()> {
    crate::tables::write(folder, manifest)
}

/// Removes the tables of an earlier merge, which may not be those of these shards.
#[cfg(not(all(feature = "tables", target_endian = "little")))]
fn write_tables(folder: &Path, _: &Manifest) -> Result<()> {
    claim::remove_tables(folder)
}
