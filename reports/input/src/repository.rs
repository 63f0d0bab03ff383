//! Debian repositories: packages listed in an index (Debian wiki, "Debian Repository Format"), in a folder or, with the
//! feature `http`, on a server.
//!
//! An index is read as a stream, stanza by stanza, while the packages already listed are being checked. Each package
//! must have the size and SHA-256 that its stanza states. The signature of a suite's `Release` file is not verified:
//! this program checks SFrame, not trust.

mod base;
mod indexes;
mod stanza;
mod url;
#[cfg(feature = "http")]
mod web;

use std::ffi::OsStr;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use globset::GlobSet;
use sframe_record::numbers::{counted, grouped};

use super::package::{Limits, Visitor, visit_stream};
use super::plain_error;
use base::Base;
use indexes::Index;

/// How many listed packages may wait to be checked.
const AHEAD: usize = 64;
/// The buffer size for reading an index or a package.
const BUFFER: usize = 1 << 17;

/// Selects packages of a repository.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The package names; `None` selects all.
    pub names: Option<GlobSet>,
    /// The sections, such as `libs` or `contrib/libs`; `None` selects all.
    pub sections: Option<GlobSet>,
    /// The minimum size of the package file in bytes.
    pub least: u64,
    /// The maximum size of the package file in bytes.
    pub most: u64,
    /// The architectures, such as `amd64`; packages for `all` are always included. An empty list selects all.
    pub architectures: Vec<String>,
    /// The suites, such as `trixie`; an empty list selects those that the repository's folder contains.
    pub suites: Vec<String>,
    /// The components, such as `main`; an empty list selects those of the suite.
    pub components: Vec<String>,
}

/// A repository.
#[derive(Clone, Debug)]
pub struct Repository {
    base: Arc<Base>,
}

/// An entry of an index.
#[derive(Debug)]
pub enum Entry {
    /// A package.
    Package(Listed),
    /// An index, or a stanza of one, that could not be read, and the reason.
    Unreadable(PathBuf, String),
}

impl Entry {
    /// The number of bytes of memory that it takes.
    #[must_use]
    pub fn held(&self) -> usize {
        let texts = match self {
            Entry::Package(listed) => listed.path.len() + listed.sha256.len(),
            Entry::Unreadable(path, why) => path.as_os_str().len() + why.len(),
        };
        size_of::<Entry>() + texts
    }
}

/// A package in a repository.
#[derive(Debug)]
pub struct Listed {
    base: Arc<Base>,
    /// The path relative to the repository.
    path: String,
    size: u64,
    sha256: String,
}

impl Repository {
    /// The repository at a path, a `file:` URL or, with the feature `http`, an `http:` or `https:` URL.
    ///
    /// # Errors
    /// Returns the reason if `location` cannot be a repository.
    pub fn new(location: &OsStr) -> Result<Repository, String> {
        Ok(Repository { base: Arc::new(Base::new(location)?) })
    }

    /// The selected packages in the order of the indexes, each once.
    pub fn packages(&self, wanted: Wanted) -> impl Iterator<Item = Entry> + use<> {
        let (sender, entries) = sync_channel(AHEAD);
        let base = self.base.clone();
        // Indexes are decompressed while packages are checked. When the receiver is dropped, sending fails and the
        // thread ends.
        std::thread::spawn(move || list(&base, &wanted, &sender));
        entries.into_iter()
    }
}

fn list(base: &Arc<Base>, wanted: &Wanted, entries: &SyncSender<Entry>) {
    let indexes = match indexes::find(base, wanted) {
        Ok(indexes) => indexes,
        Err(why) => {
            let _ = entries.send(Entry::Unreadable(base.address(""), why));
            return;
        }
    };
    let mut seen = indexes::Seen::default();
    for Index { path, stream } in indexes {
        let read = stanza::read(stream, &mut |stanza| {
            let entry = match stanza.listed(base, wanted) {
                Ok(None) => return true,
                Ok(Some(listed)) if !seen.is_new(&listed.path) => return true,
                Ok(Some(listed)) => Entry::Package(listed),
                Err(why) => Entry::Unreadable(base.address(&path), why),
            };
            entries.send(entry).is_ok()
        });
        if let Err(error) = read {
            let _ = entries.send(Entry::Unreadable(base.address(&path), plain_error(&error)));
        }
    }
}

impl Listed {
    /// The package's path or URL.
    #[must_use]
    pub fn address(&self) -> PathBuf {
        self.base.address(&self.path)
    }

    /// Hands every file in the package to `visitor`, in stored order.
    ///
    /// # Errors
    /// Returns the reason if reading ended early, or if the bytes differ from those that the index lists.
    pub fn visit(&self, limits: &Limits, visitor: &mut dyn Visitor) -> Result<(), String> {
        let stream = self.base.open(&self.path).map_err(|error| plain_error(&error))?;
        // Reading one more byte reveals a file that is too large.
        let stream = BufReader::with_capacity(BUFFER, stream.take(self.size.saturating_add(1)));
        let (size, sha256) = visit_stream(stream, self.size, limits, visitor)?;
        if size != self.size {
            let most = if size > self.size { "more than " } else { "" };
            let found = counted(size.min(self.size), "byte");
            let listed = grouped(self.size);
            return Err(format!("it has {most}{found}, but its index states {listed}"));
        }
        match sha256 == self.sha256 {
            true => Ok(()),
            false => Err("its SHA-256 differs from the one in its index".to_owned()),
        }
    }
}

/// A file of a repository as a stream.
type Stream = Box<dyn Read + Send>;

/// An error that does not come from the system.
fn other(text: &str) -> io::Error {
    io::Error::other(text.to_owned())
}
