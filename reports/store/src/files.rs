//! The files of a complete store, each with its size and hash: `files.ndjson`.
//!
//! The list is JSON on lines, in the order of the names, and has every file that the store's results
//! consist of but `run.json`, which holds the hash of the list and a hash of its own text. So each
//! byte of a complete store is covered by a hash. Stamps and journals are no results; stamps have a
//! hash of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use crate::ContentHash;
use crate::durable::{self, Draft};
use crate::error::{Error, Result};
use crate::field::{Defect, Object};
use crate::layout::{MANIFEST, TABLES, shard_path};
use crate::manifest::MAX_SHARDS;

/// The name of the list in a store.
pub(crate) const FILES: &str = "files.ndjson";
/// The longest line, in bytes: a name of ours, a number and a hash.
const MAX_LINE: u64 = 512;
/// How many files a store can have: a manifest, and for each shard its own file and one in each of
/// at most 15 tables.
const MAX_FILES: usize = MAX_SHARDS as usize * 16 + 1;

/// What is written when the bytes of a file are others than when its hash was taken.
pub(crate) const CHANGED: &str = "its bytes are not those that were written";

/// A file as it was when the store was completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recorded {
    size: u64,
    hash: ContentHash,
}

/// The list: by name, which is a path within the store with `/` between its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files(BTreeMap<String, Recorded>);

#[derive(Serialize)]
struct Line<'a> {
    path: &'a str,
    size: u64,
    hash: ContentHash,
}

impl Files {
    /// Takes the hashes of the manifest, the shards and the tables in a store's folder.
    pub(crate) fn of(folder: &Path, shards: u32) -> Result<Files> {
        let shards = (0..shards).map(|shard| shard_path(folder, shard));
        let tables = files_below(&folder.join(TABLES))?;
        let mut files = BTreeMap::new();
        for path in [folder.join(MANIFEST)].into_iter().chain(shards).chain(tables) {
            let recorded = Recorded::of(&path).map_err(Error::io("read", &path))?;
            files.insert(name_of(folder, &path), recorded);
        }
        Ok(Files(files))
    }

    /// Reads the list of the store at `folder`, whose `run.json` has its hash.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Damaged`] where it is not the list that was written.
    pub(crate) fn read(folder: &Path, hash: ContentHash) -> Result<Files> {
        let path = folder.join(FILES);
        let damaged = |reason: String| Error::Damaged { path: path.clone(), reason };
        let file = match durable::open_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(damaged("it is missing".to_owned()));
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
            // The type has text keys only.
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

    /// Why the file with this name is not the one that was recorded; `None` where it is. All of it
    /// is read.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(crate) fn check(&self, folder: &Path, name: &str) -> Result<Option<String>> {
        let Some(recorded) = self.0.get(name) else {
            return Ok(Some(format!("it is not listed in {FILES}")));
        };
        let path = folder.join(name);
        match Recorded::of(&path) {
            Ok(there) if there == *recorded => Ok(None),
            Ok(there) if there.size != recorded.size => {
                Ok(Some(format!("it has {} bytes, not {}", there.size, recorded.size)))
            }
            Ok(_) => Ok(Some(CHANGED.to_owned())),
            Err(error) if is_absent(&error) => Ok(Some("it is missing".to_owned())),
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                Ok(Some(error.to_string()))
            }
            Err(error) => Err(Error::io("read", &path)(error)),
        }
    }

    /// The names of files among the tables that the list does not have. Names that start with a dot
    /// are those of file systems and temporary ones.
    pub(crate) fn surplus_tables(&self, folder: &Path) -> Result<BTreeSet<String>> {
        let there = files_below(&folder.join(TABLES))?;
        let names = there.iter().map(|path| name_of(folder, path));
        Ok(names.filter(|name| !self.0.contains_key(name)).collect())
    }
}

impl Recorded {
    fn of(path: &Path) -> io::Result<Recorded> {
        let file = durable::open_file(path)?;
        let size = file.metadata()?.len();
        Ok(Recorded { size, hash: ContentHash::of_reader(file)? })
    }
}

/// Whether a file is not there; perhaps its folder is none, or nothing can have its name.
fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidFilename)
}

/// A line of the list, line feed with it.
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

/// The name of a path in a store's folder.
pub(crate) fn name_of(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()
}

/// Every file in a folder and the folders in it, but for names that start with a dot; links are not
/// followed. None where there is no such folder.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = if folder.is_dir() { vec![folder.to_owned()] } else { Vec::new() };
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in durable::names_in(&folder)? {
            let name = path.file_name().unwrap_or_default();
            let hidden = name.as_encoded_bytes().starts_with(b".");
            let is_folder = fs::symlink_metadata(&path).is_ok_and(|there| there.is_dir());
            match (hidden, is_folder) {
                (true, _) => {}
                (false, true) => folders.push(path),
                (false, false) => files.push(path),
            }
        }
    }
    files.sort();
    Ok(files)
}
