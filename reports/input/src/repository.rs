//! Debian repositories: packages by their index (Debian wiki, "Debian Repository Format"), in a folder or, with the
//! feature `http`, on a server.
//!
//! An index is read as a stream, stanza by stanza, while the packages that it has listed are checked.
//! Each has to have the size and SHA-256 that its stanza says. The signature of a suite's `Release` file is not
//! looked at: what is checked here is SFrame, not trust.

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

use super::package::{Limits, Visitor, visit_stream};
use super::plain_error;
use base::Base;
use indexes::Index;

/// How many packages may be listed and not checked yet.
const AHEAD: usize = 64;
/// How many buffered bytes of an index or a package are taken at once.
const BUFFER: usize = 1 << 17;

/// Which packages of a repository are wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Their names; all, where this is `None`.
    pub names: Option<GlobSet>,
    /// Their sections, as `libs` or `contrib/libs`; all, where this is `None`.
    pub sections: Option<GlobSet>,
    /// Bytes of the package itself, at least.
    pub least: u64,
    /// Bytes of the package itself, at most.
    pub most: u64,
    /// Machines; packages for all machines are wanted as well. All, where there are none.
    pub architectures: Vec<String>,
    /// Suites, as `trixie`; those of a folder, where there are none.
    pub suites: Vec<String>,
    /// Components, as `main`; those that the suite has, where there are none.
    pub components: Vec<String>,
}

/// A repository.
#[derive(Clone, Debug)]
pub struct Repository {
    base: Arc<Base>,
}

/// What an index lists.
#[derive(Debug)]
pub enum Entry {
    /// A package.
    Package(Listed),
    /// What could not be read, and why: an index, or a stanza of one.
    Unreadable(PathBuf, String),
}

impl Entry {
    /// Bytes of memory that it takes.
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
    /// Relative to the repository.
    path: String,
    size: u64,
    sha256: String,
}

impl Repository {
    /// The repository at a path, a `file:` or, with the feature `http`, an `http:` or `https:` URL.
    ///
    /// # Errors
    /// Why there can be none.
    pub fn new(location: &OsStr) -> Result<Repository, String> {
        Ok(Repository { base: Arc::new(Base::new(location)?) })
    }

    /// The packages that are wanted, in the order of the indexes, each once.
    pub fn packages(&self, wanted: Wanted) -> impl Iterator<Item = Entry> + use<> {
        let (sender, entries) = sync_channel(AHEAD);
        let base = self.base.clone();
        // Indexes are decompressed while packages are checked. Where nobody waits for them any more, sending
        // fails, and the thread ends.
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
        let told = stanza::read(stream, &mut |stanza| {
            let entry = match stanza.listed(base, wanted) {
                Ok(None) => return true,
                Ok(Some(listed)) if !seen.is_new(&listed.path) => return true,
                Ok(Some(listed)) => Entry::Package(listed),
                Err(why) => Entry::Unreadable(base.address(&path), why),
            };
            entries.send(entry).is_ok()
        });
        if let Err(error) = told {
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
    /// Why reading ended early, or that these are not the bytes that the index lists.
    pub fn visit(&self, limits: &Limits, visitor: &mut dyn Visitor) -> Result<(), String> {
        let stream = self.base.open(&self.path).map_err(|error| plain_error(&error))?;
        // One byte more shows that it is another one.
        let stream = BufReader::with_capacity(BUFFER, stream.take(self.size.saturating_add(1)));
        let (size, sha256) = visit_stream(stream, self.size, limits, visitor)?;
        if size != self.size {
            let most = if size > self.size { "more than " } else { "" };
            let found = size.min(self.size);
            return Err(format!("it has {most}{found} bytes, its index says {}", self.size));
        }
        match sha256 == self.sha256 {
            true => Ok(()),
            false => Err("its SHA-256 is not the one that its index says".to_owned()),
        }
    }
}

/// A stream out of a repository.
type Stream = Box<dyn Read + Send>;

/// A failure that is none of the system's.
fn other(text: &str) -> io::Error {
    io::Error::other(text.to_owned())
}
