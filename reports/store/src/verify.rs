//! Checks the files of a store other than its shards.

use std::path::Path;

use crate::Manifest;
use crate::claim;
use crate::durable;
use crate::error::{Error, Result};
use crate::files::{self, FILES, Files};
use crate::journal::WORK;
use crate::layout::{MANIFEST, RUN, SHARDS, TABLES, shard_name};
use crate::run::Run;
use crate::stamps::{self, Stamps};
use crate::status::{DamagedFile, Remedy};

/// All names in a store's folder. Names with a leading dot are temporary files of ours or of the file system.
const NAMES: [&str; 7] = [RUN, MANIFEST, FILES, SHARDS, TABLES, WORK, stamps::NAME];
pub(crate) const MISSING: &str = "it is missing";
const NOT_OURS: &str = "it is not a file of this store";

/// The result of examining a store's files, apart from the contents of its shards.
#[derive(Debug, Default)]
pub(crate) struct Examined {
    /// The store was merged.
    pub(crate) complete: bool,
    /// It has the hashes of its files.
    pub(crate) hashes: bool,
    /// The files that are damaged, missing or surplus.
    pub(crate) damaged: Vec<DamagedFile>,
}

/// Examines the store at `folder`; `whole` lists the shards with intact lines. If there is no store, there is no
/// damage.
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
            // Only a complete store has a list of files.
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

/// The damage that an error reports.
///
/// # Errors
/// Returns errors of the system unchanged: they say nothing about the file.
fn reason(error: Error) -> Result<String> {
    match error {
        Error::Damaged { reason, .. } | Error::Foreign { reason, .. } => Ok(reason),
        Error::Defect { defect, .. } => Ok(defect.to_string()),
        error => Err(error),
    }
}

/// Compares the store's own manifest with the scan's, for stores without a hash of the manifest's file.
fn examine_manifest(manifest: &Manifest, folder: &Path) -> Result<Option<DamagedFile>> {
    let reason = match Manifest::open(&folder.join(MANIFEST)) {
        Ok(there) if there.hash() == manifest.hash() => return Ok(None),
        Ok(there) => format!("its hash is {}, not {}", there.hash(), manifest.hash()),
        Err(error) if error.is_absence() => MISSING.to_owned(),
        Err(error) => reason(error)?,
    };
    Ok(Some(DamagedFile::new(MANIFEST, reason, Remedy::Merge)))
}

/// Checks all files against the list of a complete store, except shards that are known to be damaged.
fn examine_listed(files: &Files, folder: &Path, whole: &[u32]) -> Result<Vec<DamagedFile>> {
    let mut damaged = Vec::new();
    let whole: Vec<String> = whole.iter().map(|&shard| shard_name(shard)).collect();
    let others = files.names().filter(|name| !name.starts_with(SHARDS));
    for name in whole.iter().map(String::as_str).chain(others) {
        if let Some(reason) = files.check(folder, name)? {
            damaged.push(DamagedFile::new(name, reason, Remedy::Merge));
        }
    }
    let strange = claim::strange_tables(folder)?;
    for name in files.surplus_tables(folder)? {
        // Merging leaves what no version of this program has written.
        let is_strange = strange.iter().any(|strange| Path::new(&name).starts_with(strange));
        let remedy = if is_strange { Remedy::Remove } else { Remedy::Merge };
        damaged.push(DamagedFile::new(&name, NOT_OURS, remedy));
    }
    for path in durable::names_in(folder)? {
        let name = files::name_of(folder, &path);
        if !NAMES.contains(&name.as_str()) && !name.starts_with('.') {
            damaged.push(DamagedFile::new(&name, NOT_OURS, Remedy::Remove));
        }
    }
    Ok(damaged)
}
