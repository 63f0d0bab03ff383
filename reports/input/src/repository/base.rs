//! Where a repository is.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::Stream;
use super::url::without_credentials;
use crate::{NAME, open_file};

/// A folder or a server's address.
#[derive(Debug)]
pub(super) enum Base {
    Folder(PathBuf),
    #[cfg(feature = "http")]
    Web(super::web::Web),
}

impl Base {
    pub(super) fn new(location: &OsStr) -> Result<Base, String> {
        let text = location.to_str().unwrap_or_default();
        if text.starts_with("http:") || text.starts_with("https:") {
            #[cfg(feature = "http")]
            return Ok(Base::Web(super::web::Web::new(text)));
            #[cfg(not(feature = "http"))]
            return Err("this program was built without the feature http".to_owned());
        }
        let bytes = location.as_bytes();
        // RFC 8089: with an empty host, or none.
        let path =
            bytes.strip_prefix(b"file:").map(|path| path.strip_prefix(b"//").unwrap_or(path));
        let folder = PathBuf::from(OsStr::from_bytes(path.unwrap_or(bytes)));
        match folder.is_dir() {
            true => Ok(Base::Folder(folder)),
            false => {
                let name = without_credentials(&sframe_record::text::printable_path(&folder));
                Err(format!("{name} is no folder"))
            }
        }
    }

    /// A file of the repository, to be named.
    pub(super) fn address(&self, path: &str) -> PathBuf {
        match self {
            Base::Folder(folder) if path.is_empty() => folder.clone(),
            Base::Folder(folder) => folder.join(path.trim_start_matches("./")),
            #[cfg(feature = "http")]
            Base::Web(web) => web.shown(path.trim_start_matches("./")).into(),
        }
    }

    /// The bytes of a file; of any other kind of file, an error.
    pub(super) fn open(&self, path: &str) -> io::Result<Stream> {
        match self {
            Base::Folder(folder) => Ok(Box::new(open_file(&folder.join(path))?)),
            #[cfg(feature = "http")]
            Base::Web(web) => web.open(path.trim_start_matches("./")),
        }
    }

    /// The names of the folders in a folder, in the order of their bytes, without links: a suite may have
    /// several names. `None` where nobody can tell.
    pub(super) fn folders(&self, path: &str) -> Option<Vec<String>> {
        match self {
            Base::Folder(folder) => {
                let entries = fs::read_dir(folder.join(path)).ok()?.filter_map(Result::ok);
                let folders =
                    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
                let mut names: Vec<String> =
                    folders.filter_map(|entry| entry.file_name().into_string().ok()).collect();
                names.sort_unstable();
                Some(names)
            }
            #[cfg(feature = "http")]
            Base::Web(_) => None,
        }
    }
}

/// Whether a path that a repository or user names stays in the repository.
pub(super) fn stays_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    (1..=NAME).contains(&path.len())
        && path.bytes().all(|byte| byte >= b' ' && byte != 0x7f)
        && parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}
