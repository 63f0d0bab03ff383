//! Which files in a folder belong to a store, before anything there is written, replaced or removed.
//!
//! A folder belongs to a store if it has the store's `run.json`, or, where that was lost, the scan's manifest. Any other
//! folder may only hold what engines put there before the first scan: shards. Everything else is somebody's own.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::Manifest;
use crate::durable;
use crate::error::{Error, Result};
use crate::files::{FILES, name_of};
use crate::journal::WORK;
use crate::layout::{self, MANIFEST, ROWS, RUN, SHARDS, STAMPS, TABLES, shard_of};
use crate::run::Run;
use crate::shard;

/// Checks that a store may be made, or continued, in `folder`. Without a manifest, which is not known before the inputs
/// have been found, any whole manifest counts as the scan's.
///
/// # Errors
/// [`Error::NotOurs`] with the files that belong to somebody else, [`Error::Foreign`] if the store is of another scan,
/// and the errors of [`Run::open`] and [`Manifest::open`].
pub(crate) fn claim(folder: &Path, manifest: Option<&Manifest>) -> Result<()> {
    // Read before anything else: another process may make the store at the same time.
    let names = durable::names_in(folder)?;
    let has = |name: &str| names.iter().any(|path| path.ends_with(name));
    let others = other_kinds(folder, &names);
    let mut strange: Vec<String> = others.into_iter().map(|(name, _)| name).collect();
    if has(RUN) {
        // The tables of a complete store are only replaced if they have changed.
        if Run::open(folder)?.totals.is_none() {
            strange.extend(strange_tables(folder)?);
        }
    } else if has(MANIFEST) && is_manifest(folder, manifest)? {
        strange.extend(strange_tables(folder)?);
    } else {
        strange.extend(strange_names(folder, &names)?);
    }
    refuse(folder, strange)
}

/// An error if there are files that are not the store's.
pub(crate) fn refuse(folder: &Path, mut strange: Vec<String>) -> Result<()> {
    strange.sort();
    strange.dedup();
    if strange.is_empty() {
        return Ok(());
    }
    Err(Error::NotOurs { path: folder.to_owned(), names: strange })
}

/// Whether a file is the manifest of this scan.
fn is_manifest(folder: &Path, manifest: Option<&Manifest>) -> Result<bool> {
    let there = match Manifest::open_own(folder) {
        Ok(there) => there,
        // Something else has this name.
        Err(Error::Defect { .. } | Error::Damaged { .. }) => return Ok(false),
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::InvalidInput => {
            return Ok(false);
        }
        Err(error) => return Err(error),
    };
    match manifest {
        Some(manifest) if there.hash() != manifest.hash() => {
            let reason = format!("its hash is {}, not {}", there.hash(), manifest.hash());
            Err(Error::Foreign { path: folder.join(MANIFEST), reason })
        }
        _ => Ok(true),
    }
}

/// The store's files and folders that are of another kind: links, whose targets are somewhere else, where nothing is the
/// store's; or a folder in place of a file. With whether it is a link.
pub(crate) fn other_kinds(folder: &Path, names: &[PathBuf]) -> Vec<(String, bool)> {
    let folders = [SHARDS, TABLES, WORK];
    let files = [RUN, MANIFEST, FILES, STAMPS];
    let kinds = names.iter().filter_map(|path| Some((name_of(folder, path), kind(path)?)));
    let others = kinds.filter(|(name, kind)| {
        (folders.contains(&&**name) && !kind.is_dir())
            || (files.contains(&&**name) && !kind.is_file())
    });
    others.map(|(name, kind)| (name, kind.is_symlink())).collect()
}

/// Everything in a folder that is no store yet, except shards and temporary files.
fn strange_names(folder: &Path, names: &[PathBuf]) -> Result<Vec<String>> {
    let mut strange = Vec::new();
    for path in names {
        let name = name_of(folder, path);
        if name == SHARDS && is_folder(path) {
            let shards = durable::names_in(path)?.into_iter();
            strange
                .extend(shards.filter(|path| !is_shard(path)).map(|path| name_of(folder, &path)));
        } else if !is_hidden(path) {
            strange.push(name);
        }
    }
    Ok(strange)
}

/// Whether a file is a shard, or the beginning of one, or a temporary file.
fn is_shard(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    is_hidden(path) || (shard_of(name).is_some() && shard::begins(path))
}

/// The files and folders among the tables, also hidden ones, that are not of a store. Links are not followed.
///
/// # Errors
/// [`Error::Io`].
pub(crate) fn strange_tables(folder: &Path) -> Result<Vec<String>> {
    let mut strange = Vec::new();
    each_table(&folder.join(TABLES), &mut |path, is_ours| {
        if !is_ours {
            strange.push(name_of(folder, path));
        }
        Ok(())
    })?;
    Ok(strange)
}

/// Removes the tables of a store, and the folders that are empty then.
///
/// # Errors
/// [`Error::NotOurs`] if there is something else, which stays, and [`Error::Io`].
pub(crate) fn remove_tables(folder: &Path) -> Result<()> {
    refuse(folder, strange_tables(folder)?)?;
    let tables = folder.join(TABLES);
    each_table(&tables, &mut |path, _| match is_folder(path) {
        true => fs::remove_dir(path).map_err(Error::io("remove", path)),
        false => fs::remove_file(path).map_err(Error::io("remove", path)),
    })?;
    match fs::remove_dir(&tables) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", &tables)(error))
        }
        _ => Ok(()),
    }
}

/// Calls `each` for everything below the folder of tables, folders after their contents, with whether it is of a store:
/// `TABLE`, `TABLE/shard=00017`, and `TABLE/shard=00017/rows.parquet`. Does not enter folders that are not.
fn each_table(tables: &Path, each: &mut dyn FnMut(&Path, bool) -> Result<()>) -> Result<()> {
    if !is_folder(tables) {
        return Ok(());
    }
    for table in there(tables)? {
        let is_table = is_folder(&table) && layout::is_table(&last(&table));
        for shard in is_table.then(|| there(&table)).transpose()?.unwrap_or_default() {
            let is_shard = is_folder(&shard) && layout::is_shard_folder(&last(&shard));
            for rows in is_shard.then(|| there(&shard)).transpose()?.unwrap_or_default() {
                let is_file = kind(&rows).is_none_or(|of| of.is_file());
                each(&rows, is_file && last(&rows) == ROWS)?;
            }
            each(&shard, is_shard)?;
        }
        each(&table, is_table)?;
    }
    Ok(())
}

/// The names in a folder, without those that another process has removed in the meantime.
fn there(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut names = durable::names_in(folder)?;
    names.retain(|path| kind(path).is_some());
    Ok(names)
}

/// Whether a name, relative to a store, is that of a table's rows.
#[cfg(feature = "s3")]
pub(crate) fn is_rows(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    matches!(parts[..], [TABLES, table, shard, ROWS]
        if layout::is_table(table) && layout::is_shard_folder(shard))
}

fn last(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().unwrap_or_default().as_encoded_bytes().starts_with(b".")
}

fn is_folder(path: &Path) -> bool {
    kind(path).is_some_and(|of| of.is_dir())
}

/// The metadata of a name itself, not of what a link leads to.
fn kind(path: &Path) -> Option<Metadata> {
    fs::symlink_metadata(path).ok()
}
