//! A walk: a folder with all that is in it, or as much of it as matches a pattern.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

use super::found::{Input, Special, classify, plain_error};

/// An iterator over files in the order of their paths' bytes, folder by folder.
///
/// A symbolic link is followed once: not where it leads into a folder that is walked anyway, and
/// not to a file another link has led to; and where it leads out of all folders that are named, only where that is asked for.
#[derive(Debug)]
pub(super) struct Walk {
    /// What is still to visit, last first.
    pending: Vec<Pending>,
    filter: Option<Filter>,
    /// Folders that are walked, resolved: what links into them is met there anyway.
    roots: Vec<PathBuf>,
    /// Files that were met through links, or that a pattern matched; resolved.
    seen: HashSet<PathBuf>,
    links: Links,
}

/// Which symbolic links are followed.
#[derive(Clone, Debug)]
pub(super) enum Links {
    All,
    /// Those into the folder that is walked, or one of these, resolved.
    Within(Arc<[PathBuf]>),
}

impl Links {
    /// Those into a folder that one of `arguments` names.
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
    /// What it is, where its folder has said so: that saves asking the system for each file.
    kind: Option<FileType>,
    /// Folders between the start and the entry.
    depth: usize,
    /// Below a folder that the pattern matches: as the shell would, all of it is meant.
    included: bool,
}

impl Pending {
    /// Where a walk starts.
    const fn start(path: PathBuf, included: bool) -> Pending {
        Pending { path, kind: None, depth: 0, included }
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
    matcher: GlobMatcher,
    pattern: PathBuf,
    /// How many folders below the start a match can be.
    depth: usize,
    /// Whether anything has matched yet.
    matched: bool,
}

impl Walk {
    /// All that is in a folder.
    pub(super) fn tree(root: PathBuf, links: Links) -> Walk {
        let roots = fs::canonicalize(&root).into_iter().collect();
        let pending = vec![Pending::start(root, true)];
        Walk { pending, filter: None, roots, seen: HashSet::new(), links }
    }

    /// All that matches a pattern: `*` and `?` within a name, `**` for any number of folders.
    pub(super) fn pattern(pattern: &OsStr, links: Links) -> Result<Walk, String> {
        let text = pattern.to_str().ok_or("no such file; a pattern has to be valid UTF-8")?;
        let matcher = GlobBuilder::new(text)
            .literal_separator(true)
            .build()
            .map_err(|error| format!("no such file, and no pattern: {}", error.kind()))?
            .compile_matcher();
        let pattern = PathBuf::from(pattern);
        let literal = |part: &Component<'_>| !is_pattern(part.as_os_str());
        let base: PathBuf = pattern.components().take_while(literal).collect();
        let below: Vec<Component<'_>> = pattern.components().skip_while(literal).collect();
        let unbounded = below.iter().any(|part| part.as_os_str() == "**");
        let depth = if unbounded { usize::MAX } else { below.len() };
        let roots = fs::canonicalize(here(&base)).into_iter().collect();
        let pending = vec![Pending::start(base, false)];
        let filter = Some(Filter { matcher, pattern, depth, matched: false });
        Ok(Walk { pending, filter, roots, seen: HashSet::new(), links })
    }

    fn visit(&mut self, mut entry: Pending) -> Option<Input> {
        if entry.depth > 0 {
            entry.included |= self.matches(&entry.path);
        }
        let kind = match entry.kind() {
            Ok(kind) => kind,
            // The folder a pattern starts in: that nothing matches is said at the end.
            Err(_) if !entry.included => return None,
            Err(error) => return Some(Input::Unreadable(entry.path, plain_error(&error))),
        };
        if kind.is_symlink() && entry.depth > 0 {
            return self.link(entry);
        }
        // The start may be a link: whoever names a folder means what it leads to.
        if kind.is_dir() || kind.is_symlink() {
            return self.enter(entry);
        }
        self.admit(entry, kind, false)
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
        // A pattern may match the link and not what it leads to.
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
        self.admit(entry, kind, true)
    }

    fn admit(&mut self, entry: Pending, kind: FileType, linked: bool) -> Option<Input> {
        if !entry.included {
            return None;
        }
        if linked || self.filter.is_some() {
            let target = fs::canonicalize(&entry.path).unwrap_or_else(|_| entry.path.clone());
            if !self.seen.insert(target) {
                return Some(Input::Special(entry.path, Special::Link));
            }
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
        // The kind costs nothing here, save on file systems that do not store it in folders.
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

/// Whether these are the names in a container image (OCI Image Layout Specification, "Content").
fn is_image(names: &[(OsString, Option<FileType>)]) -> bool {
    let has = |wanted: &str| names.iter().any(|(name, _)| name == wanted);
    has("oci-layout") && has("index.json") && has("blobs")
}

/// The empty path is where the program runs.
fn here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// Whether a name that is no file's is a pattern.
#[must_use]
pub fn is_pattern(name: &OsStr) -> bool {
    name.as_bytes().iter().any(|byte| b"*?[{".contains(byte))
}
