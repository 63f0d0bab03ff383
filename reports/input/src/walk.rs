//! Walks a folder: everything in it, or everything that matches a pattern.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::found::{Input, Special, classify, plain_error};
use super::pattern::{Pattern, PatternError, Wildcards};

/// An iterator over files in the byte order of their paths, folder by folder.
///
/// A symbolic link is skipped if it leads into a folder that is walked anyway, or to a file that another link has led
/// to. A link that leads out of all named folders is followed only on request.
#[derive(Debug)]
pub(super) struct Walk {
    /// The entries still to visit, last first.
    pending: Vec<Pending>,
    filter: Option<Filter>,
    /// Resolved paths of the folders being walked: links into them need not be followed.
    roots: Vec<PathBuf>,
    /// Resolved paths of the files reached through links or matched by a pattern.
    seen: HashSet<PathBuf>,
    links: Links,
}

/// Which symbolic links are followed.
#[derive(Clone, Debug)]
pub(super) enum Links {
    All,
    /// Links into the folder being walked or into one of these folders, given as resolved paths.
    Within(Arc<[PathBuf]>),
}

impl Links {
    /// Links into a folder that one of `arguments` names.
    pub(super) fn within(arguments: &[OsString]) -> Links {
        let folder = |argument| fs::canonicalize(argument).ok().filter(|path| path.is_dir());
        Links::Within(arguments.iter().filter_map(folder).collect())
    }

    fn lead_to(&self, target: &Path) -> bool {
        match self {
            Links::All => true,
            Links::Within(folders) => folders.iter().any(|folder| target.starts_with(folder)),
        }
    }
}

#[derive(Debug)]
struct Pending {
    path: PathBuf,
    /// The file type, if the folder's listing contains it, which saves a system call for each file.
    kind: Option<FileType>,
    /// The number of folders between the start and the entry.
    depth: usize,
    /// The entry is below a folder that matches the pattern, and is therefore included.
    included: bool,
}

impl Pending {
    /// The start of a walk, which is not included itself.
    const fn start(path: PathBuf) -> Pending {
        Pending { path, kind: None, depth: 0, included: false }
    }

    fn kind(&self) -> io::Result<FileType> {
        match self.kind {
            Some(kind) => Ok(kind),
            None => Ok(fs::symlink_metadata(here(&self.path))?.file_type()),
        }
    }
}

#[derive(Debug)]
struct Filter {
    matcher: Pattern,
    pattern: PathBuf,
    /// The maximum number of folders between the start and a match.
    depth: usize,
    /// Whether anything has matched yet.
    matched: bool,
}

/// Why a name of no file leads nowhere.
#[derive(Debug)]
pub(super) enum NoWalk {
    /// It cannot be a pattern, because it is not UTF-8.
    NotText,
    /// It is no pattern.
    NoPattern(PatternError),
}

impl fmt::Display for NoWalk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoWalk::NotText => f.write_str("no such file; a pattern must be valid UTF-8"),
            NoWalk::NoPattern(error) => write!(f, "no such file, and no pattern: {error}"),
        }
    }
}

impl Walk {
    /// Walks everything in a folder.
    pub(super) fn tree(root: PathBuf, links: Links) -> Walk {
        let roots = fs::canonicalize(&root).into_iter().collect();
        let pending = vec![Pending { included: true, ..Pending::start(root) }];
        Walk { pending, filter: None, roots, seen: HashSet::new(), links }
    }

    /// Walks everything that matches a pattern: `*` and `?` match within a name, `**` matches any number of folders.
    pub(super) fn pattern(pattern: &OsStr, links: Links) -> Result<Walk, NoWalk> {
        let text = pattern.to_str().ok_or(NoWalk::NotText)?;
        let matcher = Pattern::new(text, Wildcards::WithinNames).map_err(NoWalk::NoPattern)?;
        let pattern = PathBuf::from(pattern);
        let literal = |part: &Component<'_>| !is_pattern(part.as_os_str());
        let base: PathBuf = pattern.components().take_while(literal).collect();
        let below: Vec<Component<'_>> = pattern.components().skip_while(literal).collect();
        let unbounded = below.iter().any(|part| part.as_os_str() == "**");
        let depth = if unbounded { usize::MAX } else { below.len() };
        let roots = fs::canonicalize(here(&base)).into_iter().collect();
        let pending = vec![Pending::start(base)];
        let filter = Some(Filter { matcher, pattern, depth, matched: false });
        Ok(Walk { pending, filter, roots, seen: HashSet::new(), links })
    }

    fn visit(&mut self, mut entry: Pending) -> Option<Input> {
        if entry.depth > 0 {
            entry.included |= self.matches(&entry.path);
        }
        let kind = match entry.kind() {
            Ok(kind) => kind,
            // The folder where a pattern starts is unreadable. That nothing matches is reported at the end.
            Err(_) if !entry.included => return None,
            Err(error) => return Some(Input::Unreadable(entry.path, plain_error(&error))),
        };
        if kind.is_symlink() && entry.depth > 0 {
            return self.link(entry);
        }
        // The start may be a link: a user who names a link to a folder means the folder.
        if kind.is_dir() || kind.is_symlink() {
            return self.enter(entry);
        }
        let resolved = (entry.included && self.filter.is_some())
            .then(|| fs::canonicalize(&entry.path).unwrap_or_else(|_| entry.path.clone()));
        self.admit(entry, kind, resolved)
    }

    fn matches(&mut self, path: &Path) -> bool {
        let Some(filter) = &mut self.filter else { return true };
        let matches = filter.matcher.is_match(path);
        filter.matched |= matches;
        matches
    }

    fn link(&mut self, entry: Pending) -> Option<Input> {
        let resolved = fs::canonicalize(&entry.path)
            .and_then(|target| Ok((fs::metadata(&target)?.file_type(), target)));
        let Ok((kind, target)) = resolved else {
            return entry.included.then_some(Input::Special(entry.path, Special::DanglingLink));
        };
        let inside = self.roots.iter().any(|root| target.starts_with(root));
        // A pattern may match the link but not its target.
        let met_anyway = inside && (kind.is_dir() || self.filter.is_none());
        if met_anyway {
            return entry.included.then_some(Input::Special(entry.path, Special::Link));
        }
        if !inside && !self.links.lead_to(&target) {
            return entry.included.then_some(Input::Special(entry.path, Special::LinkOut));
        }
        if kind.is_dir() {
            self.roots.push(target);
            return self.enter(entry);
        }
        self.admit(entry, kind, Some(target))
    }

    /// The input at an entry, if it is included. One that leads to another path, or may be met again, is given with its
    /// resolved path, and is an input only once.
    fn admit(
        &mut self,
        entry: Pending,
        kind: FileType,
        resolved: Option<PathBuf>,
    ) -> Option<Input> {
        if !entry.included {
            return None;
        }
        if resolved.is_some_and(|resolved| !self.seen.insert(resolved)) {
            return Some(Input::Special(entry.path, Special::Link));
        }
        Some(classify(entry.path, kind))
    }

    fn enter(&mut self, folder: Pending) -> Option<Input> {
        let bounded = self.filter.as_ref().is_some_and(|filter| folder.depth >= filter.depth);
        if bounded && !folder.included {
            return None;
        }
        let entries = match fs::read_dir(here(&folder.path)) {
            Ok(entries) => entries,
            Err(error) => return Some(Input::Unreadable(folder.path, plain_error(&error))),
        };
        // The type comes with the listing, except on file systems that do not store it in folders.
        let named = |entry: DirEntry| (entry.file_name(), entry.file_type().ok());
        let mut failed = None;
        let read = entries.filter_map(|entry| entry.map_err(|error| failed = Some(error)).ok());
        let mut names: Vec<_> = read.map(named).collect();
        if folder.included && is_image(&names) {
            return Some(Input::Image(folder.path));
        }
        names.sort_unstable_by(|(a, _), (b, _)| b.as_bytes().cmp(a.as_bytes()));
        let (depth, included) = (folder.depth + 1, folder.included);
        let inside = names.into_iter().map(|(name, kind)| Pending {
            path: folder.path.join(name),
            kind,
            depth,
            included,
        });
        self.pending.extend(inside);
        failed.map(|error| Input::Unreadable(folder.path, plain_error(&error)))
    }
}

impl Iterator for Walk {
    type Item = Input;

    fn next(&mut self) -> Option<Input> {
        while let Some(entry) = self.pending.pop() {
            if let Some(input) = self.visit(entry) {
                return Some(input);
            }
        }
        let filter = self.filter.take_if(|filter| !filter.matched)?;
        Some(Input::Unreadable(filter.pattern, "no file matches the pattern".to_owned()))
    }
}

/// Whether a folder with these names is a container image (OCI Image Layout Specification, "Content").
fn is_image(names: &[(OsString, Option<FileType>)]) -> bool {
    let has = |wanted: &str| names.iter().any(|(name, _)| name == wanted);
    has("oci-layout") && has("index.json") && has("blobs")
}

/// Replaces the empty path by `.`, the current folder.
fn here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// Whether a name contains wildcards, and so can be a pattern if no such file exists.
#[must_use]
pub fn is_pattern(name: &OsStr) -> bool {
    name.as_bytes().iter().any(|byte| b"*?[{".contains(byte))
}
