//! The list of a complete store's files with their sizes and hashes: `files.ndjson`.
//!
//! The list consists of lines of JSON, sorted by name, and contains every result file except `run.json`, which has the
//! hash of the list and a hash of its own text. So hashes cover every byte of a complete store. Stamps and journals are
//! not results; stamps have a hash of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use crate::ContentHash;
use crate::durable::{self, Draft};
use crate::error::{Error, Result};
use crate::field::{Defect, Object};
use crate::layout::{MANIFEST, TABLES, shard_name};
use crate::manifest::MAX_SHARDS;

/// The file name of the list.
pub(crate) const FILES: &str = "files.ndjson";
/// The maximum length of a line in bytes: it contains one of our file names, a number and a hash.
const MAX_LINE: u64 = 512;
/// The maximum number of files of a store: a manifest, plus one file for each shard and one for each shard of at most
/// 15 tables.
const MAX_FILES: usize = MAX_SHARDS as usize * 16 + 1;

/// The reason reported when the bytes of a file no longer have the recorded hash.
pub(crate) const CHANGED: &str = "its bytes have changed since it was written";

/// The reason reported when a file does not exist.
pub(crate) const MISSING: &str = "it is missing";

/// The size and hash of a file when the store was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recorded {
    size: u64,
    hash: ContentHash,
}

/// The list, by name: a path relative to the store, separated by `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files(BTreeMap<String, Recorded>);

#[derive(Serialize)]
struct Line<'a> {
    path: &'a str,
    size: u64,
    hash: ContentHash,
}

impl Files {
    /// Hashes the manifest, the shards and the tables in the store at `folder`.
    pub(crate) fn of(folder: &Path, shards: u32) -> Result<Files> {
        let shards = (0..shards).map(shard_name);
        let tables = files_below(&folder.join(TABLES))?;
        let tables = tables.iter().map(|path| name_of(folder, path));
        let mut files = BTreeMap::new();
        for name in [MANIFEST.to_owned()].into_iter().chain(shards).chain(tables) {
            let recorded =
                Recorded::of(folder, &name).map_err(Error::io("read", &folder.join(&name)))?;
            files.insert(name, recorded);
        }
        Ok(Files(files))
    }

    /// Reads the list of the store at `folder`; `hash` is its hash from `run.json`.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Damaged`] if the list is damaged or has another hash.
    pub(crate) fn read(folder: &Path, hash: ContentHash) -> Result<Files> {
        let path = folder.join(FILES);
        let damaged = |reason: String| Error::Damaged { path: path.clone(), reason };
        let file = match durable::open_own(folder, FILES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(damaged(MISSING.to_owned()));
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return Err(damaged(error.to_string()));
            }
            opened => opened.map_err(Error::io("open", &path))?,
        };
        let mut input = BufReader::new(file);
        let (mut hasher, mut files) = (blake3::Hasher::new(), BTreeMap::new());
        let (mut line, mut defect) = (Vec::new(), None);
        for number in 1.. {
            line.clear();
            let read = (&mut input).take(MAX_LINE).read_until(b'\n', &mut line);
            if read.map_err(Error::io("read", &path))? == 0 {
                break;
            }
            hasher.update(&line);
            if files.len() == MAX_FILES {
                return Err(damaged(format!("it has more than {MAX_FILES} lines")));
            }
            match parse(number, &line) {
                Ok(parsed) => files.extend([parsed]),
                Err(wrong) => defect = defect.or(Some(wrong)),
            }
        }
        match defect {
            _ if ContentHash::from(hasher.finalize()) != hash => Err(damaged(CHANGED.to_owned())),
            Some(defect) => Err(damaged(defect.to_string())),
            None => Ok(Files(files)),
        }
    }

    /// Writes the list to the store at `folder`, and returns its hash.
    pub(crate) fn save(&self, folder: &Path) -> Result<ContentHash> {
        let path = folder.join(FILES);
        let mut draft = Draft::new(folder)?;
        let mut hasher = blake3::Hasher::new();
        for (path_of_line, Recorded { size, hash }) in &self.0 {
            let line = Line { path: path_of_line, size: *size, hash: *hash };
            // Serialization cannot fail: all keys are strings.
            let mut line = serde_json::to_vec(&line).unwrap_or_default();
            line.push(b'\n');
            hasher.update(&line);
            draft.write_all(&line).map_err(Error::io("write", &path))?;
        }
        draft.replace(&path)?;
        Ok(hasher.finalize().into())
    }

    /// The names of the files.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Reads the file with this name completely. Returns why it differs from the recorded one, or `None` if it does
    /// not.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn check(&self, folder: &Path, name: &str) -> Result<Option<String>> {
        let Some(recorded) = self.0.get(name) else {
            return Ok(Some(format!("it is not listed in {FILES}")));
        };
        match Recorded::of(folder, name) {
            Ok(there) if there == *recorded => Ok(None),
            Ok(there) if there.size != recorded.size => {
                Ok(Some(format!("it has {} bytes, not {}", there.size, recorded.size)))
            }
            Ok(_) => Ok(Some(CHANGED.to_owned())),
            Err(error) if is_absent(&error) => Ok(Some(MISSING.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                Ok(Some(error.to_string()))
            }
            Err(error) => Err(Error::io("read", &folder.join(name))(error)),
        }
    }

    /// The names of files among the tables that are not in the list. Names with a leading dot are temporary files of
    /// ours or of the file system.
    pub(crate) fn surplus_tables(&self, folder: &Path) -> Result<BTreeSet<String>> {
        let there = files_below(&folder.join(TABLES))?;
        let names = there.iter().map(|path| name_of(folder, path));
        Ok(names.filter(|name| !self.0.contains_key(name)).collect())
    }
}

impl Recorded {
    /// Reads a file of the store at `folder` completely.
    fn of(folder: &Path, name: &str) -> io::Result<Recorded> {
        let file = durable::open_own(folder, name)?;
        let size = file.metadata()?.len();
        Ok(Recorded { size, hash: ContentHash::of_reader(file)? })
    }
}

/// Whether the error means that there is no such file: also if its folder is not a folder, or the name is invalid.
fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidFilename)
}

/// Parses a line of the list, including its line feed.
fn parse(number: u64, line: &[u8]) -> std::result::Result<(String, Recorded), Defect> {
    let object = Object::parse(number, line, usize::MAX)?;
    let path = object.text("path")?;
    let within = |part: Component<'_>| matches!(part, Component::Normal(_));
    if path.is_empty() || !Path::new(path).components().all(within) {
        return Err(object.defect("path", path, "a name within the store"));
    }
    let recorded =
        Recorded { size: object.number("size", 0..=u64::MAX)?, hash: object.hash("hash")? };
    Ok((path.to_owned(), recorded))
}

/// The name of a path in the store at `folder`.
pub(crate) fn name_of(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()
}

/// All files below a folder, except names with a leading dot; links are not followed. Empty if the folder does not
/// exist.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|there| there.is_dir());
    let mut folders = if is_folder(folder) { vec![folder.to_owned()] } else { Vec::new() };
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in durable::names_in(&folder)? {
            let name = path.file_name().unwrap_or_default();
            let hidden = name.as_encoded_bytes().starts_with(b".");
            match (hidden, is_folder(&path)) {
                (true, _) => {}
                (false, true) => folders.push(path),
                (false, false) => files.push(path),
            }
        }
    }
    files.sort();
    Ok(files)
}
