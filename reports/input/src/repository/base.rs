//! The location of a repository.

use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::Stream;
use super::error::OpenError;
use super::url::without_credentials;
use crate::{NAME, open_file};

/// A folder, or the address of a server.
#[derive(Debug)]
pub(super) enum Base {
    Folder(PathBuf),
    #[cfg(feature = "http")]
    Web(super::web::Web),
}

impl Base {
    pub(super) fn new(location: &OsStr) -> Result<Base, OpenError> {
        let text = location.to_str().unwrap_or_default();
        if text.starts_with("http:") || text.starts_with("https:") {
            #[cfg(feature = "http")]
            return Ok(Base::Web(super::web::Web::new(text)));
            #[cfg(not(feature = "http"))]
            return Err(OpenError::WithoutHttp);
        }
        let bytes = location.as_bytes();
        // RFC 8089: with an empty host, or without a host.
        let path =
            bytes.strip_prefix(b"file:").map(|path| path.strip_prefix(b"//").unwrap_or(path));
        let folder = PathBuf::from(OsStr::from_bytes(path.unwrap_or(bytes)));
        match folder.is_dir() {
            true => Ok(Base::Folder(folder)),
            false => {
                let name = without_credentials(&sframe_record::text::printable_path(&folder));
                Err(OpenError::NotAFolder(name))
            }
        }
    }

    /// The path or URL of a file of the repository, as shown in messages.
    pub(super) fn address(&self, path: &str) -> PathBuf {
        match self {
            Base::Folder(folder) if path.is_empty() => folder.clone(),
            Base::Folder(folder) => folder.join(path.trim_start_matches("./")),
            #[cfg(feature = "http")]
            Base::Web(web) => web.shown(path.trim_start_matches("./")).into(),
        }
    }

    /// Opens a file of the repository. Anything but a regular file is an error.
    pub(super) fn open(&self, path: &str) -> io::Result<Stream> {
        match self {
            Base::Folder(folder) => Ok(Box::new(open_file(&folder.join(path))?)),
            #[cfg(feature = "http")]
            Base::Web(web) => web.open(path.trim_start_matches("./")),
        }
    }

    /// Opens a file of the repository, if it exists.
    pub(super) fn open_any(&self, path: &str) -> io::Result<Option<Stream>> {
        match self.open(path) {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.is_link(path) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether there is a symbolic link at a path, which may lead to nothing.
    fn is_link(&self, path: &str) -> bool {
        match self {
            Base::Folder(folder) => folder.join(path).is_symlink(),
            #[cfg(feature = "http")]
            Base::Web(_) => false,
        }
    }

    /// The names of the folders in a folder, in byte order, without symbolic links, because a suite may have several
    /// names. `None` if folders cannot be listed.
    pub(super) fn folders(&self, path: &str) -> Option<Vec<String>> {
        self.entries(path, |kind| kind.is_dir())
    }

    /// The names of the files and symbolic links in a folder, in byte order. `None` if folders cannot be listed.
    pub(super) fn files(&self, path: &str) -> Option<Vec<String>> {
        self.entries(path, |kind| kind.is_file() || kind.is_symlink())
    }

    fn entries(&self, path: &str, is_wanted: fn(FileType) -> bool) -> Option<Vec<String>> {
        match self {
            Base::Folder(folder) => {
                let entries = fs::read_dir(folder.join(path)).ok()?.filter_map(Result::ok);
                let wanted = entries.filter(|entry| entry.file_type().is_ok_and(is_wanted));
                let mut names: Vec<String> =
                    wanted.filter_map(|entry| entry.file_name().into_string().ok()).collect();
                names.sort_unstable();
                Some(names)
            }
            #[cfg(feature = "http")]
            Base::Web(_) => None,
        }
    }

    /// Whether there is a folder at a path, as far as that can be found out.
    pub(super) fn is_folder(&self, path: &str) -> bool {
        match self {
            Base::Folder(folder) => folder.join(path).is_dir(),
            #[cfg(feature = "http")]
            Base::Web(_) => false,
        }
    }

    /// The names of the innermost folders of the path to a repository on a server, from the inside outwards.
    pub(super) fn folders_around(&self) -> Vec<String> {
        match self {
            Base::Folder(_) => Vec::new(),
            #[cfg(feature = "http")]
            Base::Web(web) => web.folders_around(),
        }
    }
}

/// The folder of a file, and the file's name.
pub(super) fn split(location: &OsStr) -> (&OsStr, &str) {
    let bytes = location.as_bytes();
    let start = bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let (folder, name) = bytes.split_at_checked(start).unwrap_or((bytes, b""));
    let folder = if folder.is_empty() { b"." } else { folder };
    (OsStr::from_bytes(folder), str::from_utf8(name).unwrap_or_default())
}

/// The path of a file in the same folder as the one at `path`.
pub(super) fn beside(path: &str, name: &str) -> String {
    match path.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{name}"),
        None => name.to_owned(),
    }
}

/// Whether a path from a repository or the user stays inside the repository.
pub(super) fn stays_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    (1..=NAME).contains(&path.len())
        && path.bytes().all(|byte| byte >= b' ' && byte != 0x7f)
        && parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}
