//! Checks the files of a store other than its shards.

use std::io;
use std::path::Path;

use crate::Manifest;
use crate::claim;
use crate::durable;
use crate::error::{Error, Result};
use crate::files::{self, FILES, Files, MISSING};
use crate::journal::WORK;
use crate::layout::{self, MANIFEST, RUN, SHARDS, TABLES, shard_name};
use crate::run::{Run, Totals};
use crate::stamps::{self, Stamps};
use crate::status::{DamagedFile, Remedy};

/// All names in a store's folder. Names with a leading dot are temporary files of ours or of the file system.
const NAMES: [&str; 7] = [RUN, MANIFEST, FILES, SHARDS, TABLES, WORK, stamps::NAME];
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

/// Examines the store at `folder`; `whole` lists the shards with intact lines, and `sums` has the totals if all have. If
/// there is no store, there is no damage.
///
/// # Errors
/// [`Error::Io`].
pub(crate) fn examine(
    manifest: &Manifest,
    folder: &Path,
    whole: &[u32],
    sums: Option<&Totals>,
) -> Result<Examined> {
    let mut examined = Examined::default();
    let run = match Run::read(folder) {
        Ok(run) if run.manifest == manifest.hash() => run,
        Ok(run) => {
            let reason = format!("its manifest is {}, not {}", run.manifest, manifest.hash());
            examined.damaged.push(DamagedFile::new(RUN, reason, Remedy::NameAnother));
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
            let damaged = DamagedFile::new(RUN, reason, Remedy::MoveAwayAndMerge);
            examined.damaged = other_kinds(folder)?;
            if examined.damaged.iter().all(|other| other.file != RUN) {
                examined.damaged.push(damaged);
            }
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
    examined.damaged.extend(examine_run(&run, manifest, sums));
    let others = other_kinds(folder)?;
    examined.damaged.retain(|file| others.iter().all(|other| other.file != file.file));
    examined.damaged.extend(others);
    if let Err(error) = Stamps::load(folder, manifest.key())
        && examined.damaged.iter().all(|file| file.file != stamps::NAME)
    {
        examined.damaged.push(DamagedFile::new(stamps::NAME, reason(error)?, Remedy::MoveAway));
    }
    Ok(examined)
}

/// The store's own files and folders that are links, or otherwise of another kind.
pub(crate) fn other_kinds(folder: &Path) -> Result<Vec<DamagedFile>> {
    let others = claim::other_kinds(folder, &durable::names_in(folder)?);
    let damaged = |(name, is_link): (String, bool)| match is_link {
        true => DamagedFile::new(&name, layout::LINK, Remedy::ReplaceLink),
        false => DamagedFile::new(&name, NOT_OURS, Remedy::MoveAwayAndMerge),
    };
    Ok(others.into_iter().map(damaged).collect())
}

/// What is false in the description of a store of this manifest's scan.
pub(crate) fn examine_run(
    run: &Run,
    manifest: &Manifest,
    sums: Option<&Totals>,
) -> Option<DamagedFile> {
    let Run { key, manifest: _, inputs, shards, totals, files: _ } = run;
    let described = (key, &**inputs, *shards);
    let reason = if described != (manifest.key(), manifest.inputs(), manifest.shards()) {
        "it contradicts the manifest"
    } else if totals.as_ref().zip(sums).is_some_and(|(totals, sums)| totals != sums) {
        "its totals are not the sums of the shards"
    } else {
        return None;
    };
    Some(DamagedFile::new(RUN, reason, Remedy::Merge))
}

/// The damage that an error reports.
///
/// # Errors
/// Returns errors of the system unchanged: they say nothing about the file.
fn reason(error: Error) -> Result<String> {
    match error {
        Error::Damaged { reason, .. } | Error::Foreign { reason, .. } => Ok(reason),
        Error::Defect { defect, .. } => Ok(defect.to_string()),
        Error::Io { source, .. } if source.kind() == io::ErrorKind::InvalidInput => {
            Ok(source.to_string())
        }
        error => Err(error),
    }
}

/// Compares the store's own manifest with the scan's, for stores without a hash of the manifest's file.
fn examine_manifest(manifest: &Manifest, folder: &Path) -> Result<Option<DamagedFile>> {
    let reason = match Manifest::open_own(folder) {
        Ok(there) if there.hash() == manifest.hash() => return Ok(None),
        Ok(there) => format!("its hash is {}, not {}", there.hash(), manifest.hash()),
        Err(error) if error.is_absence() => MISSING.to_owned(),
        Err(error) => reason(error)?,
    };
    Ok(Some(DamagedFile::new(MANIFEST, reason, Remedy::Merge)))
}

/// The whole shards whose files have changed since the store was completed.
pub(crate) fn changed_shards(
    files: &Files,
    folder: &Path,
    whole: &[u32],
) -> Result<Vec<DamagedFile>> {
    let names = whole.iter().map(|&shard| shard_name(shard));
    let damage = names.map(|name| {
        let reason = files.check(folder, &name)?;
        Ok(reason.map(|reason| DamagedFile::new(&name, reason, Remedy::Merge)))
    });
    damage.filter_map(Result::transpose).collect()
}

/// Checks all files against the list of a complete store, except shards that are known to be damaged.
fn examine_listed(files: &Files, folder: &Path, whole: &[u32]) -> Result<Vec<DamagedFile>> {
    let mut damaged = changed_shards(files, folder, whole)?;
    for name in files.names().filter(|name| !name.starts_with(SHARDS)) {
        if let Some(reason) = files.check(folder, name)? {
            damaged.push(DamagedFile::new(name, reason, Remedy::Merge));
        }
    }
    let strange = claim::strange_tables(folder)?;
    for name in files.surplus_tables(folder)? {
        // Merging leaves what no version of this program has written.
        let is_strange = strange.iter().any(|strange| Path::new(&name).starts_with(strange));
        let remedy = if is_strange { Remedy::MoveAway } else { Remedy::Merge };
        damaged.push(DamagedFile::new(&name, NOT_OURS, remedy));
    }
    for path in durable::names_in(folder)? {
        let name = files::name_of(folder, &path);
        if !NAMES.contains(&name.as_str()) && !name.starts_with('.') {
            damaged.push(DamagedFile::new(&name, NOT_OURS, Remedy::MoveAway));
        }
    }
    Ok(damaged)
}
