//! Which file of the new scan is which of the old one.
//!
//! Names that are the same come first; then, among those that are left, names without versions,
//! ever more freely. Of several files with one name, those that have the same content belong
//! together, and the last two; others stay apart, and it is not known what became of them.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::kept::{File, Name};
use super::names::{self, Versions};
use super::strings::Strings;
use crate::changes::Matched;

/// Files of both scans.
pub(super) struct Pairs<'f> {
    pub(super) matched: Vec<(&'f File, &'f File, Matched)>,
    pub(super) old: Vec<Single<'f>>,
    pub(super) new: Vec<Single<'f>>,
}

/// A file of one scan alone.
#[derive(Clone, Copy)]
pub(super) struct Single<'f> {
    pub(super) file: &'f File,
    /// The other scan has files of that name without versions, and which it is is not known.
    pub(super) ambiguous: bool,
}

/// Pairs the files; both lists are sorted by name.
pub(super) fn pair<'f>(old: &'f [File], new: &'f [File], strings: &Strings) -> Pairs<'f> {
    let mut pairing = Pairing {
        pairs: Vec::new(),
        old: old.iter().map(|file| Single { file, ambiguous: false }).collect(),
        new: new.iter().map(|file| Single { file, ambiguous: false }).collect(),
    };
    pairing.by(Matched::Name, |file, _| Some((file.path, file.inside, file.member)));
    let roots = (root(old, strings), root(new, strings));
    let tell = Tell { strings, roots };
    pairing.by(Matched::Version, |file, _| tell.in_package(file));
    for versions in [Versions::KeepMajor, Versions::LeaveOut] {
        pairing.by(Matched::Version, |file, _| Some(tell.without_versions(file, versions)));
    }
    pairing.by(Matched::Root, |file, old| tell.below_root(file, old, None));
    pairing.by(Matched::Root, |file, old| tell.below_root(file, old, Some(Versions::LeaveOut)));
    pairing.by(Matched::Content, |file, _| file.content);
    pairing.by(Matched::Folder, |file, _| tell.file_name(file));
    Pairs { matched: pairing.pairs, old: pairing.old, new: pairing.new }
}

/// Pairs as they are found.
struct Pairing<'f> {
    pairs: Vec<(&'f File, &'f File, Matched)>,
    old: Vec<Single<'f>>,
    new: Vec<Single<'f>>,
}

impl<'f> Pairing<'f> {
    /// Pairs what is left by a key; which of the scans a file is of is told with it.
    fn by<K: Hash + Eq>(&mut self, how: Matched, key: impl Fn(&File, bool) -> Option<K>) {
        if self.old.is_empty() || self.new.is_empty() {
            return;
        }
        let mut buckets: HashMap<K, [Vec<usize>; 2]> = HashMap::new();
        for (place, single) in self.old.iter().enumerate() {
            if let Some(key) = key(single.file, true) {
                buckets.entry(key).or_default()[0].push(place);
            }
        }
        for (place, single) in self.new.iter().enumerate() {
            // Only what both sides have is of use.
            if let Some(bucket) = key(single.file, false).and_then(|key| buckets.get_mut(&key)) {
                bucket[1].push(place);
            }
        }
        let (mut paired_old, mut paired_new) = (HashSet::new(), HashSet::new());
        for [old, new] in buckets.into_values().filter(|[_, new]| !new.is_empty()) {
            for (one, other) in self.bucket(how, old, new) {
                let files = self.old.get(one).zip(self.new.get(other));
                self.pairs.extend(files.map(|(one, other)| (one.file, other.file, how)));
                paired_old.insert(one);
                paired_new.insert(other);
            }
        }
        retain(&mut self.old, &paired_old);
        retain(&mut self.new, &paired_new);
    }

    /// The pairs among files of one key. What is left over of both is ambiguous.
    fn bucket(
        &mut self,
        how: Matched,
        mut old: Vec<usize>,
        mut new: Vec<usize>,
    ) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        if old.len() > 1 || new.len() > 1 {
            pairs =
                self.alike(&mut old, &mut new, |file| file.content.map(|content| digest(&content)));
        }
        if let ([one], [other]) = (old.as_slice(), new.as_slice()) {
            pairs.push((*one, *other));
            return pairs;
        }
        // That two files have no findings makes them one only if their name says so, or if nobody
        // else could be meant.
        let (mut left_old, mut left_new) = (old.clone(), new.clone());
        let others = self.alike(&mut left_old, &mut left_new, |file| Some(digest_of(file)));
        if how == Matched::Name || left_old.is_empty() && left_new.is_empty() {
            pairs.extend(others);
            (old, new) = (left_old, left_new);
        }
        if let ([one], [other]) = (old.as_slice(), new.as_slice()) {
            pairs.push((*one, *other));
        } else if !old.is_empty() && !new.is_empty() {
            mark(&mut self.old, &old);
            mark(&mut self.new, &new);
        }
        pairs
    }

    /// Takes those out that have the same digest, in the order of their names.
    fn alike(
        &self,
        old: &mut Vec<usize>,
        new: &mut Vec<usize>,
        digest: impl Fn(&File) -> Option<u64>,
    ) -> Vec<(usize, usize)> {
        let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
        for &place in old.iter().rev() {
            if let Some(digest) = self.old.get(place).and_then(|single| digest(single.file)) {
                known.entry(digest).or_default().push(place);
            }
        }
        let mut pairs = Vec::new();
        new.retain(|&place| {
            let digest = self.new.get(place).and_then(|single| digest(single.file));
            let one = digest.and_then(|digest| known.get_mut(&digest)?.pop());
            pairs.extend(one.map(|one| (one, place)));
            one.is_none()
        });
        let paired: HashSet<usize> = pairs.iter().map(|(one, _)| *one).collect();
        old.retain(|place| !paired.contains(place));
        pairs
    }
}

fn mark(singles: &mut [Single<'_>], places: &[usize]) {
    for place in places {
        singles.get_mut(*place).into_iter().for_each(|single| single.ambiguous = true);
    }
}

fn retain(singles: &mut Vec<Single<'_>>, paired: &HashSet<usize>) {
    let mut place = 0;
    singles.retain(|_| {
        place += 1;
        !paired.contains(&(place - 1))
    });
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A number for all that a change is seen by, without addresses.
fn digest_of(file: &File) -> u64 {
    let mut hasher = DefaultHasher::new();
    (file.content, file.status, file.code_bytes, file.covered_bytes).hash(&mut hasher);
    (file.functions, &file.counts).hash(&mut hasher);
    for item in &file.items {
        (item.rule, item.symbol, item.relative(), item.shape).hash(&mut hasher);
        item.told().for_each(|told| told.hash(&mut hasher));
    }
    for lost in file.coverage.iter().flat_map(|coverage| &coverage.losses) {
        (lost.cause, lost.functions, &lost.examples).hash(&mut hasher);
    }
    hasher.finish()
}

/// Names as keys.
struct Tell<'s> {
    strings: &'s Strings,
    /// Of the old scan and the new one.
    roots: (&'s str, &'s str),
}

impl Tell<'_> {
    fn text(&self, name: Option<Name>) -> &str {
        name.map_or("", |name| self.strings.text(name.text))
    }

    /// `NAME:ARCHITECTURE` of the package.
    fn package(&self, file: &File) -> Option<String> {
        let (name, machine) = file.package?;
        let machine = machine.map_or("", |machine| self.strings.text(machine));
        Some(format!("{}:{machine}", self.strings.text(name)))
    }

    /// The same path in the same package, wherever that lies.
    fn in_package(&self, file: &File) -> Option<String> {
        let package = self.package(file)?;
        Some(format!("{package}\0{}\0{}", self.text(file.inside), self.text(file.member)))
    }

    fn without_versions(&self, file: &File, versions: Versions) -> String {
        // Where there is something inside, the path is a package's, whose version does not matter.
        let of_path = if file.inside.is_some() { Versions::LeaveOut } else { versions };
        let path = || names::path(self.strings.text(file.path.text), of_path);
        let container = self.package(file).unwrap_or_else(path);
        let inside = names::path(self.text(file.inside), versions);
        let member = names::path(self.text(file.member), versions);
        format!("{container}\0{inside}\0{member}")
    }

    fn below_root(&self, file: &File, old: bool, versions: Option<Versions>) -> Option<String> {
        let (old_root, new_root) = self.roots;
        if old_root == new_root {
            return None;
        }
        let path = self.strings.text(file.path.text);
        let below = path.strip_prefix(if old { old_root } else { new_root })?;
        let cut = |text: &str| match versions {
            Some(versions) => names::path(text, versions),
            None => text.to_owned(),
        };
        let (inside, member) = (cut(self.text(file.inside)), cut(self.text(file.member)));
        Some(format!("{}\0{inside}\0{member}", cut(below)))
    }

    /// The same file name in the same package.
    fn file_name(&self, file: &File) -> Option<String> {
        let package = self.package(file)?;
        let name = names::file_name(self.text(file.inside));
        let name = names::path(name, Versions::LeaveOut);
        Some(format!("{package}\0{name}\0{}", self.text(file.member)))
    }
}

/// The folder that all files are in, with its `/`; empty where there is none.
fn root<'s>(files: &[File], strings: &'s Strings) -> &'s str {
    let mut paths = files.iter().map(|file| strings.text(file.path.text));
    let Some(first) = paths.next() else { return "" };
    let folder = |path: &'s str| path.rfind('/').and_then(|end| path.get(..=end)).unwrap_or("");
    let mut root = folder(first);
    for path in paths {
        while !path.starts_with(root) {
            root = folder(root.strip_suffix('/').unwrap_or(""));
        }
    }
    root
}
