//! The cache that debuginfod's clients share: `BUILDID/debuginfo` below its folder.
//!
//! An empty file means that no server had the file when it was made (observed with elfutils 0.188; older clients made it
//! without permissions). It holds for the seconds in `cache_miss_s`. Other users may be able to write to the folder, so
//! that symbolic links are not followed, and nothing is replaced but empty files.

use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

use super::{CacheObstacle, DebuginfodError};
use crate::{open_file, read_up_to};

/// The file in each folder.
const NAME: &str = "debuginfo";
/// How long it holds that no server has a file, unless `cache_miss_s` has another number of seconds.
const MISS: u64 = 600;

/// A cache.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
}

/// What the cache says about a build ID.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The path of the debug file.
    Here(PathBuf),
    /// No server had it a short time ago.
    Missing,
    /// Servers have to be asked.
    Unknown,
}

impl Cache {
    pub(super) const fn new(folder: PathBuf) -> Cache {
        Cache { folder }
    }

    /// Looks for the file of a build ID.
    ///
    /// # Errors
    /// Returns an error if there is something else with its name.
    pub(super) fn look(&self, id: &str) -> Result<Known, DebuginfodError> {
        let folder = self.folder.join(id);
        match fs::symlink_metadata(&folder) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(unusable(&folder, CacheObstacle::NotAFolder)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Known::Unknown),
            Err(error) => return Err(refused(&folder, error)),
        }
        let path = folder.join(NAME);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if is_miss(&metadata) => Ok(match self.holds(&metadata) {
                true => Known::Missing,
                false => Known::Unknown,
            }),
            Ok(metadata) if metadata.is_file() => Ok(Known::Here(path)),
            Ok(_) => Err(unusable(&path, CacheObstacle::NotAFile)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Known::Unknown),
            Err(error) => Err(refused(&path, error)),
        }
    }

    /// Whether a missing file is still taken for missing. One from the future is not.
    fn holds(&self, metadata: &Metadata) -> bool {
        let setting = open_file(&self.folder.join("cache_miss_s"));
        let setting = setting.and_then(|file| read_up_to(file, 64)).ok();
        let seconds = setting.and_then(|text| str::from_utf8(&text).ok()?.trim().parse().ok());
        let age = metadata.modified().map(|time| SystemTime::now().duration_since(time));
        matches!(age, Ok(Ok(age)) if age <= Duration::from_secs(seconds.unwrap_or(MISS)))
    }

    /// A file into which the file of a build ID is written.
    ///
    /// # Errors
    /// Returns an error if it cannot be made.
    pub(super) fn create(&self, id: &str) -> Result<NamedTempFile, DebuginfodError> {
        let folder = self.folder_of(id)?;
        let created = tempfile::Builder::new().prefix("debuginfo.").tempfile_in(&folder);
        created.map_err(|error| refused(&folder, error))
    }

    /// Gives a complete file its name. If another client was faster, its file is used.
    ///
    /// # Errors
    /// Returns an error if that fails.
    pub(super) fn keep(&self, id: &str, file: NamedTempFile) -> Result<PathBuf, DebuginfodError> {
        let path = self.folder_of(id)?.join(NAME);
        let read_only = Permissions::from_mode(0o400);
        file.as_file().set_permissions(read_only).map_err(|error| refused(&path, error))?;
        forget_miss(&path);
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(path),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(path),
            Err(error) => Err(refused(&path, error.error)),
        }
    }

    /// Notes that no server has the file of a build ID.
    ///
    /// # Errors
    /// Returns an error if that fails.
    pub(super) fn note_missing(&self, id: &str) -> Result<(), DebuginfodError> {
        let path = self.folder_of(id)?.join(NAME);
        forget_miss(&path);
        match File::options().write(true).create_new(true).open(&path) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(refused(&path, error)),
        }
    }

    /// The folder of a build ID, which is made if it is not there.
    fn folder_of(&self, id: &str) -> Result<PathBuf, DebuginfodError> {
        let folder = self.folder.join(id);
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        let made = builder.recursive(true).create(&self.folder);
        let made = made.and_then(|()| builder.recursive(false).create(&folder));
        match made {
            Ok(()) => Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let is_folder = fs::symlink_metadata(&folder).is_ok_and(|of| of.is_dir());
                if is_folder {
                    Ok(folder)
                } else {
                    Err(unusable(&folder, CacheObstacle::NotAFolder))
                }
            }
            Err(error) => Err(refused(&folder, error)),
        }
    }
}

/// Whether a file says that no server has a debug file.
fn is_miss(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.len() == 0
}

/// Removes the note that no server has a file, and nothing else.
fn forget_miss(path: &Path) {
    if fs::symlink_metadata(path).is_ok_and(|metadata| is_miss(&metadata)) {
        // If it cannot be removed, neither can the file get its name, which is reported.
        let _ = fs::remove_file(path);
    }
}

fn unusable(path: &Path, why: CacheObstacle) -> DebuginfodError {
    DebuginfodError::Cache(path.to_owned(), why)
}

fn refused(path: &Path, error: io::Error) -> DebuginfodError {
    unusable(path, CacheObstacle::Io(Arc::new(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    fn cache() -> (TempDir, Cache) {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(folder.path().join("deep/cache"));
        (folder, cache)
    }

    fn kept(cache: &Cache, content: &[u8]) -> Result<PathBuf, DebuginfodError> {
        let mut file = cache.create("ab")?;
        file.write_all(content).expect("writable");
        cache.keep("ab", file)
    }

    fn known(cache: &Cache) -> Known {
        cache.look("ab").expect("a sound cache")
    }

    fn names(cache: &Cache) -> Vec<String> {
        let entries = fs::read_dir(cache.folder.join("ab")).expect("a folder");
        entries
            .map(|entry| entry.expect("readable").file_name().into_string().expect("text"))
            .collect()
    }

    /// debuginfod_find_debuginfo(3), "CACHE".
    #[test]
    fn files_have_the_names_of_elfutils() {
        let (_folder, cache) = cache();
        assert_eq!(known(&cache), Known::Unknown);
        let path = kept(&cache, b"first").expect("kept");
        assert_eq!(path, cache.folder.join("ab/debuginfo"));
        assert_eq!(known(&cache), Known::Here(path.clone()));
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o400);
        // Another client's file stays.
        assert_eq!(kept(&cache, b"second").expect("a file"), path);
        assert_eq!(fs::read(&path).expect("readable"), b"first");
        cache.note_missing("ab").expect("nothing to note");
        assert_eq!(fs::read(&path).expect("readable"), b"first");
        // A file that was not complete leaves nothing.
        drop(cache.create("ab").expect("a file"));
        assert_eq!(names(&cache), ["debuginfo"]);
    }

    #[test]
    fn a_missing_file_is_missing_for_a_while() {
        let (_folder, cache) = cache();
        cache.note_missing("ab").expect("noted");
        let path = cache.folder.join("ab/debuginfo");
        let metadata = fs::metadata(&path).expect("a file");
        assert_eq!(metadata.len(), 0);
        assert_eq!(known(&cache), Known::Missing);
        // Eleven minutes ago, with ten allowed, and with twelve.
        let past = SystemTime::now() - Duration::from_secs(660);
        let age = || {
            let file = File::options().write(true).open(&path).expect("writable");
            file.set_modified(past).expect("a time");
            // As older clients made it.
            fs::set_permissions(&path, Permissions::from_mode(0o000)).expect("ours");
        };
        age();
        assert_eq!(known(&cache), Known::Unknown);
        fs::write(cache.folder.join("cache_miss_s"), "720\n").expect("writable");
        assert_eq!(known(&cache), Known::Missing);
        fs::write(cache.folder.join("cache_miss_s"), "0").expect("writable");
        assert_eq!(known(&cache), Known::Unknown);
        // It is noted anew, and a file that has come to the server takes its place.
        fs::write(cache.folder.join("cache_miss_s"), "600").expect("writable");
        cache.note_missing("ab").expect("noted");
        assert_eq!(known(&cache), Known::Missing);
        assert_eq!(kept(&cache, b"here").expect("a file"), path);
        assert_eq!(fs::read(&path).expect("readable"), b"here");
    }

    #[test]
    fn links_and_files_of_others_are_left_alone() {
        let (folder, cache) = cache();
        let other = folder.path().join("other");
        fs::create_dir(&other).expect("a folder");
        fs::write(other.join("debuginfo"), b"theirs").expect("writable");
        fs::create_dir_all(&cache.folder).expect("a folder");
        symlink(&other, cache.folder.join("ab")).expect("a link");
        for why in [
            cache.look("ab").expect_err("a link"),
            kept(&cache, b"ours").expect_err("a link"),
            cache.note_missing("ab").expect_err("a link"),
        ] {
            assert!(why.to_string().ends_with("cache/ab: it is not a folder"), "{why}");
        }
        fs::remove_file(cache.folder.join("ab")).expect("a link");
        fs::create_dir(cache.folder.join("ab")).expect("a folder");
        let victim = other.join("victim");
        symlink(&victim, cache.folder.join("ab/debuginfo")).expect("a link");
        let why = cache.look("ab").expect_err("a link").to_string();
        assert!(why.ends_with("ab/debuginfo: it is not a regular file"), "{why}");
        let _ = kept(&cache, b"ours");
        let _ = cache.note_missing("ab");
        assert!(!victim.exists());
        assert_eq!(fs::read(other.join("debuginfo")).expect("readable"), b"theirs");
    }
}
