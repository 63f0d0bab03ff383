//! Repositories: packages listed in indexes of Debian, of rpm-md (Fedora and others), of Alpine or of Arch, in a folder
//! or, with the feature `http`, on a server.
//!
//! An index is read as a stream, package by package, while the packages already listed are being checked. Each package
//! must have the size and the checksum that its index states. Signatures are not verified: this program checks SFrame,
//! not trust.

mod alpine;
mod arch;
mod base;
mod checksum;
mod debian;
mod error;
mod index_kind;
mod layout;
mod listing;
mod offer;
mod problems;
mod rpm_md;
mod seen;
mod stanza;
mod unpacked;
mod url;
#[cfg(feature = "http")]
mod web;

pub use error::{ListedError, OpenError};
#[cfg(feature = "http")]
pub(crate) use url::without_credentials;

use std::ffi::OsStr;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use super::package::{Unpacker, Visitor};
use super::pattern::Pattern;
use base::Base;
use checksum::Checksum;
use index_kind::Kind;
use layout::Index;
use listing::Listing;
use problems::Problem;
use unpacked::Room;

/// How many listed packages may wait to be checked.
const AHEAD: usize = 64;
/// The buffer size for reading an index or a package.
const BUFFER: usize = 1 << 17;
/// The maximum number of indexes. A suite of Debian has about 100.
const MOST: usize = 10_000;

/// Selects packages of a repository.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The package names; `None` selects all.
    pub names: Option<Vec<Pattern>>,
    /// The sections, such as `libs` or `contrib/libs`, or the groups of RPM packages and of Arch; `None` selects all.
    pub sections: Option<Vec<Pattern>>,
    /// The minimum size of the package file in bytes.
    pub least: u64,
    /// The maximum size of the package file in bytes.
    pub most: u64,
    /// The architectures, such as `amd64`; packages for all machines are always included. An empty list selects all.
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
    /// The only index, if it was named.
    index: Option<String>,
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
            Entry::Package(listed) => listed.path.len() + listed.checksum.text().len(),
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
    checksum: Checksum,
}

impl Repository {
    /// The repository at a path, a `file:` URL or, with the feature `http`, an `http:` or `https:` URL; or that of the
    /// database of pacman there.
    ///
    /// # Errors
    /// Returns the reason if `location` cannot be a repository.
    pub fn new(location: &OsStr) -> Result<Repository, OpenError> {
        let (folder, name) = base::split(location);
        let is_database = arch::stem(name).is_some() && !Path::new(location).is_dir();
        let (location, index) =
            if is_database { (folder, Some(name.to_owned())) } else { (location, None) };
        Ok(Repository { base: Arc::new(Base::new(location)?), index })
    }

    /// The selected packages in the order of the indexes, each once.
    pub fn packages(&self, wanted: Wanted) -> impl Iterator<Item = Entry> + use<> {
        let (sender, entries) = sync_channel(AHEAD);
        let Repository { base, index } = self.clone();
        // Indexes are decompressed while packages are checked. When the receiver is dropped, sending fails and the
        // thread ends.
        std::thread::spawn(move || list(&base, index.as_deref(), &wanted, &sender));
        entries.into_iter()
    }
}

/// Receives the packages of an index, those that are not selected as `None`, and problems about others, until it
/// returns `false`.
type Visit<'f> = dyn FnMut(Result<Option<Listed>, Problem>) -> bool + 'f;

fn list(base: &Arc<Base>, named: Option<&str>, wanted: &Wanted, entries: &SyncSender<Entry>) {
    let indexes = match layout::find(base, named, wanted) {
        Ok(indexes) => indexes,
        Err(why) => {
            let _ = entries.send(Entry::Unreadable(base.address(""), why.to_string()));
            return;
        }
    };
    let mut listing = Listing::new(base, entries);
    let room = Room::default();
    for Index { kind, path, stream } in indexes {
        listing.next_index();
        let read = stream.and_then(|stream| {
            let visit = &mut |listed| listing.package(&path, listed);
            match kind {
                Kind::Packages => debian::read(base, stream, wanted, &room, visit),
                Kind::Apkindex => alpine::read(base, (&path, stream), wanted, &room, visit),
                Kind::Database => arch::read(base, (&path, stream), wanted, &room, visit),
                Kind::Repomd => rpm_md::read(base, stream, wanted, &room, &mut listing),
            }
        });
        if let Err(error) = read {
            listing.failed(&path, &error);
        }
        if room.is_used_up() {
            break;
        }
    }
    listing.finish();
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
    /// Returns an error if reading ended early, or if the bytes differ from those that the index lists.
    pub fn visit(&self, unpacker: &Unpacker, visitor: &mut dyn Visitor) -> Result<(), ListedError> {
        let stream = self.base.open(&self.path).map_err(ListedError::Open)?;
        // Reading one more byte reveals a file that is too large.
        let stream = BufReader::with_capacity(BUFFER, stream.take(self.size.saturating_add(1)));
        let (size, verdict) = match &self.checksum {
            Checksum::Control(checksum) => {
                let (size, verdict) = unpacker.visit_apk(stream, self.size, checksum, visitor)?;
                (size, verdict.map_err(ListedError::Apk))
            }
            Checksum::Whole(algorithm, listed) => {
                let (size, hash) = unpacker.visit_stream(stream, self.size, *algorithm, visitor)?;
                let differs = Err(ListedError::Hash(algorithm.name()));
                (size, if hash == *listed { Ok(()) } else { differs })
            }
        };
        if size != self.size {
            return Err(ListedError::Size { found: size, listed: self.size });
        }
        verdict
    }
}

/// A file of a repository as a stream.
type Stream = Box<dyn Read + Send>;

/// An error that does not come from the system.
fn other(text: &str) -> io::Error {
    io::Error::other(text.to_owned())
}
