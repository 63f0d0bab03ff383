//! Recognises the kinds of a repository by the files in it, and finds its indexes.

use std::collections::HashSet;
use std::io::{self, Read};

use super::base::{Base, stays_inside};
use super::error::LayoutError;
use super::index_kind::Kind;
use super::{MOST, Stream, Wanted, alpine, arch, debian, other, rpm_md};
use crate::kind::{self, HEAD, Package};

/// An index that exists.
pub(super) struct Index {
    pub(super) kind: Kind,
    /// The path relative to the repository.
    pub(super) path: String,
    /// Its bytes, or the error from opening it.
    pub(super) stream: io::Result<Stream>,
}

/// The path of an index that may exist, which is opened when it is its turn.
#[derive(Debug)]
struct Place(Kind, String);

impl Place {
    /// The index at this place, if there is one.
    fn open(self, base: &Base) -> Option<Index> {
        let Place(kind, path) = self;
        let opened = match kind {
            Kind::Packages => debian::open(base, &path),
            _ => base.open_any(&path).map(|stream| Some((path.clone(), stream?))),
        };
        match opened {
            Ok(None) => None,
            Ok(Some((path, stream))) => Some(Index { kind, path, stream: Ok(stream) }),
            Err(error) => Some(Index { kind, path, stream: Err(error) }),
        }
    }
}

/// The indexes from which packages are selected, opened one at a time.
pub(super) fn find<'b>(
    base: &'b Base,
    named: Option<&str>,
    wanted: &Wanted,
) -> Result<impl Iterator<Item = Index> + use<'b>, LayoutError> {
    let names = [wanted.suites.as_slice(), &wanted.components, &wanted.architectures].concat();
    if !names.iter().all(|name| stays_inside(name)) {
        return Err(LayoutError::LeadsOut);
    }
    let (root, places) = match named {
        Some(name) => (vec![database(base, name)], Vec::new()),
        None => in_folder(base, wanted)?,
    };
    if root.is_empty() && places.is_empty() {
        return Err(none(base, wanted));
    }
    let kinds = root.iter().map(|index| index.kind).chain(places.iter().map(|place| place.0));
    for kind in kinds {
        kind.can_select(wanted)?;
    }
    Ok(root.into_iter().chain(places.into_iter().filter_map(move |place| place.open(base))))
}

impl Kind {
    /// Checks that packages can be selected by what an index of this kind states about them.
    fn can_select(self, wanted: &Wanted) -> Result<(), LayoutError> {
        if self == Kind::Packages {
            return Ok(());
        }
        if !wanted.suites.is_empty() || !wanted.components.is_empty() {
            return Err(LayoutError::NoSuites(self));
        }
        if self == Kind::Apkindex && wanted.sections.is_some() {
            return Err(LayoutError::NoSections(self));
        }
        Ok(())
    }
}

/// The indexes in the root of a repository, and the places of others.
fn in_folder(base: &Base, wanted: &Wanted) -> Result<(Vec<Index>, Vec<Place>), LayoutError> {
    let only_debian = !wanted.suites.is_empty() || !wanted.components.is_empty();
    if only_debian {
        let (root, places) = of_debian(base, wanted)?;
        if root.is_some() || !places.is_empty() {
            return Ok((root.into_iter().collect(), places));
        }
    }
    // A folder may be a repository of several kinds. On a server, the first kind counts: files that do not exist have
    // answers there that are errors or pages for people, and Fedora's repositories have a folder called Packages.
    let is_folder = base.folders("").is_some();
    let is_found = |root: &[Index], places: &[Place]| {
        !is_folder && (root.iter().any(|index| index.stream.is_ok()) || !places.is_empty())
    };
    let (mut root, mut places) = (Vec::new(), Vec::new());
    root.extend(Place(Kind::Repomd, rpm_md::NAME.to_owned()).open(base));
    if !is_found(&root, &places) {
        let index = Place(Kind::Apkindex, alpine::NAME.to_owned()).open(base);
        if index.is_none() {
            places.extend(below_architectures(base, wanted)?);
        }
        root.extend(index);
    }
    if !only_debian && !is_found(&root, &places) {
        let (index, below) = of_debian(base, wanted)?;
        root.extend(index);
        places.extend(below);
    }
    if !is_found(&root, &places) {
        places.extend(databases(base)?);
    }
    if is_found(&root, &places) {
        root.retain(|index| index.stream.is_ok());
    }
    Ok((root, places))
}

/// The index of Debian in the root, or the places of those of suites.
fn of_debian(base: &Base, wanted: &Wanted) -> Result<(Option<Index>, Vec<Place>), LayoutError> {
    // With an explicit suite, the index in the root is not used: it belongs to no suite.
    if wanted.suites.is_empty()
        && let Some(index) = Place(Kind::Packages, "Packages".to_owned()).open(base)
    {
        return Ok((Some(index), Vec::new()));
    }
    let paths = debian::below_dists(base, wanted)?;
    Ok((None, paths.into_iter().map(|path| Place(Kind::Packages, path)).collect()))
}

/// The indexes of Alpine in the folders of the selected architectures.
fn below_architectures(base: &Base, wanted: &Wanted) -> Result<Vec<Place>, LayoutError> {
    let folders = match wanted.architectures.as_slice() {
        [] => base.folders("").unwrap_or_default(),
        named => named.to_vec(),
    };
    let paths = folders.into_iter().map(|folder| format!("{folder}/{}", alpine::NAME));
    let places = paths.filter(|path| has(base, path)).map(|path| Place(Kind::Apkindex, path));
    at_most(places)
}

/// The databases of pacman in the root: those in a folder, or on a server one with the name of a folder around it.
fn databases(base: &Base) -> Result<Vec<Place>, LayoutError> {
    let names = base.files("").unwrap_or_else(|| {
        base.folders_around().into_iter().map(|name| format!("{name}.db")).collect()
    });
    // A database usually has two names, one of which is a link.
    let mut stems = HashSet::new();
    let places = names.into_iter().filter_map(|name| {
        let stem = arch::stem(&name)?.to_owned();
        let is_new = !stems.contains(&stem) && is_archive(base, &name);
        (is_new && stems.insert(stem)).then_some(Place(Kind::Database, name))
    });
    at_most(places)
}

fn at_most(places: impl Iterator<Item = Place>) -> Result<Vec<Place>, LayoutError> {
    let places: Vec<Place> = places.take(MOST + 1).collect();
    match places.len() > MOST {
        true => Err(LayoutError::ManyIndexes),
        false => Ok(places),
    }
}

fn has(base: &Base, path: &str) -> bool {
    base.open_any(path).is_ok_and(|stream| stream.is_some())
}

/// The database with this name.
fn database(base: &Base, name: &str) -> Index {
    let stream = base.open(name).and_then(|stream| match is_archive(base, name) {
        true => Ok(stream),
        false => Err(other("it is not a database of pacman")),
    });
    Index { kind: Kind::Database, path: name.to_owned(), stream }
}

/// Whether a file is a tar archive, or compressed. Other programs also have files called `NAME.db`.
fn is_archive(base: &Base, path: &str) -> bool {
    let Ok(Some(mut stream)) = base.open_any(path) else { return false };
    let mut head = Vec::new();
    let read = stream.by_ref().take(HEAD as u64).read_to_end(&mut head);
    let kind = kind::Kind::of(&head);
    read.is_ok() && matches!(kind, kind::Kind::Package(Package::Tar | Package::Compressed(_)))
}

/// Why no index was found.
fn none(base: &Base, wanted: &Wanted) -> LayoutError {
    let is_missing = |suite: &&String| !base.is_folder(&format!("dists/{suite}"));
    let suites = base.folders("dists").filter(|suites| !suites.is_empty());
    if let Some((missing, suites)) = wanted.suites.iter().find(is_missing).zip(suites) {
        return LayoutError::NoSuite { missing: missing.clone(), suites };
    }
    match base.folders("") {
        Some(_) => LayoutError::NoIndex,
        None => LayoutError::NoIndexInRoot,
    }
}
