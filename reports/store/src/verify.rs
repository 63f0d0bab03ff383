//! Whether the files of a store are those that were written, besides its shards.

use std::path::Path;

use crate::Manifest;
use crate::durable;
use crate::error::{Error, Result};
use crate::files::{self, FILES, Files};
use crate::journal::WORK;
use crate::layout::{MANIFEST, RUN, SHARDS, TABLES, shard_name};
use crate::run::Run;
use crate::stamps::{self, Stamps};
use crate::status::{DamagedFile, Remedy};

/// Every name in a store's folder; those that start with a dot are temporary ones, ours and file
/// systems'.
const NAMES: [&str; 7] = [RUN, MANIFEST, FILES, SHARDS, TABLES, WORK, stamps::NAME];
pub(crate) const MISSING: &str = "it is missing";
const NOT_OURS: &str = "it is no file of this store";

/// What is known of a store's files besides what its shards hold.
#[derive(Debug, Default)]
pub(crate) struct Examined {
    /// It was merged.
    pub(crate) complete: bool,
    /// It has the hashes of its files.
    pub(crate) hashes: bool,
    /// What is not as it was written.
    pub(crate) damaged: Vec<DamagedFile>,
}

/// Examines the store at `folder`, of whose shards those in `whole` have whole lines. Where there is
/// no store, nothing is wrong with it.
///
/// # Errors
/// [`Error::Io`].
pub(crate) fn examine(manifest: &Manifest, folder: &Path, whole: &[u32]) -> Result<Examined> {
    let mut examined = Examined::default();
    let run = match Run::read(&folder.join(RUN)) {
        Ok(run) if run.manifest == manifest.hash() => run,
        Ok(run) => {
            let reason = format!("its manifest is {}, not {}", run.manifest, manifest.hash());
            examined.damaged.push(DamagedFile::new(RUN, reason, Remedy::RemoveAndMerge));
            return Ok(examined);
        }
        Err(error) if error.is_absence() => {
            // Only what was complete has a list.
            if folder.join(FILES).exists() {
                examined.damaged.push(DamagedFile::new(RUN, MISSING, Remedy::Merge));
            }
            return Ok(examined);
        }
        Err(error) => {
            let reason = reason(error)?;
            examined.damaged.push(DamagedFile::new(RUN, reason, Remedy::RemoveAndMerge));
            return Ok(examined);
        }
    };
    examined.complete = run.totals.is_some();
    examined.hashes = run.files.is_some();
    examined.damaged = match run.files.map(|hash| Files::read(folder, hash)) {
        Some(Ok(files)) => examine_listed(&files, folder, whole)?,
        Some(Err(error)) => {
            let mut damaged = vec![DamagedFile::new(FILES, reason(error)?, Remedy::Merge)];
            damaged.extend(examine_manifest(manifest, folder)?);
            damaged
        }
        None => examine_manifest(manifest, folder)?.into_iter().collect(),
    };
    if let Err(error) = Stamps::load(folder, manifest.key()) {
        examined.damaged.push(DamagedFile::new(stamps::NAME, reason(error)?, Remedy::Remove));
    }
    Ok(examined)
}

/// Why a file is damaged.
///
/// # Errors
/// Errors of the system, which say nothing of the file.
fn reason(error: Error) -> Result<String> {
    match error {
        Error::Damaged { reason, .. } | Error::Foreign { reason, .. } => Ok(reason),
        Error::Defect { defect, .. } => Ok(defect.to_string()),
        error => Err(error),
    }
}

/// Holds the store's own manifest against the scan's, where no hash of its file is known.
fn examine_manifest(manifest: &Manifest, folder: &Path) -> Result<Option<DamagedFile>> {
    let reason = match Manifest::open(&folder.join(MANIFEST)) {
        Ok(there) if there.hash() == manifest.hash() => return Ok(None),
        Ok(there) => format!("its hash is {}, not {}", there.hash(), manifest.hash()),
        Err(error) if error.is_absence() => MISSING.to_owned(),
        Err(error) => reason(error)?,
    };
    Ok(Some(DamagedFile::new(MANIFEST, reason, Remedy::Merge)))
}

/// Holds all files against the list of a complete store. Shards that are not whole are in no need
/// of a second look.
fn examine_listed(files: &Files, folder: &Path, whole: &[u32]) -> Result<Vec<DamagedFile>> {
    let mut damaged = Vec::new();
    let whole: Vec<String> = whole.iter().map(|&shard| shard_name(shard)).collect();
    let others = files.names().filter(|name| !name.starts_with(SHARDS));
    for name in whole.iter().map(String::as_str).chain(others) {
        if let Some(reason) = files.check(folder, name)? {
            damaged.push(DamagedFile::new(name, reason, Remedy::Merge));
        }
    }
    for name in files.surplus_tables(folder)? {
        damaged.push(DamagedFile::new(&name, NOT_OURS, Remedy::Merge));
    }
    for path in durable::names_in(folder)? {
        let name = files::name_of(folder, &path);
        if !NAMES.contains(&name.as_str()) && !name.starts_with('.') {
            damaged.push(DamagedFile::new(&name, NOT_OURS, Remedy::Remove));
        }
    }
    Ok(damaged)
}
