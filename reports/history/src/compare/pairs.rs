//! Matches the files of the old scan with those of the new scan.
//!
//! Equal names come first; then the remaining files are matched by names without versions, less and less strictly. If
//! several files share a name, those with equal content are paired, and so is the last remaining pair; the others stay
//! unmatched, and what happened to them is unknown.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::When;
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

/// A file in only one scan.
#[derive(Clone, Copy)]
pub(super) struct Single<'f> {
    pub(super) file: &'f File,
    /// The other scan has files with this name without versions, but which of them it is is unknown.
    pub(super) ambiguous: bool,
}

/// Pairs the files of both scans; both lists are sorted by name.
pub(super) fn pair<'f>(old: &'f [File], new: &'f [File], strings: &Strings) -> Pairs<'f> {
    let mut pairing = Pairing {
        pairs: Vec::new(),
        old: old.iter().map(|file| Single { file, ambiguous: false }).collect(),
        new: new.iter().map(|file| Single { file, ambiguous: false }).collect(),
    };
    pairing.by(Matched::Name, |file, _| Some((file.path, file.inside, file.member)));
    let roots = (root(old, strings), root(new, strings));
    let keys = Keys { strings, roots };
    pairing.by(Matched::Version, |file, _| keys.in_package(file));
    for versions in [Versions::KeepMajor, Versions::LeaveOut] {
        pairing.by(Matched::Version, |file, _| Some(keys.without_versions(file, versions)));
    }
    pairing.by(Matched::Root, |file, when| keys.below_root(file, when, None));
    pairing.by(Matched::Root, |file, when| keys.below_root(file, when, Some(Versions::LeaveOut)));
    pairing.by(Matched::Content, |file, _| file.content);
    pairing.by(Matched::Folder, |file, _| keys.file_name(file));
    Pairs { matched: pairing.pairs, old: pairing.old, new: pairing.new }
}

/// The pairs found so far, and the remaining files.
struct Pairing<'f> {
    pairs: Vec<(&'f File, &'f File, Matched)>,
    old: Vec<Single<'f>>,
    new: Vec<Single<'f>>,
}

impl<'f> Pairing<'f> {
    /// Pairs remaining files by a key, which may depend on the scan that a file is from.
    fn by<K: Hash + Eq>(&mut self, how: Matched, key: impl Fn(&File, When) -> Option<K>) {
        if self.old.is_empty() || self.new.is_empty() {
            return;
        }
        // Only digests of keys are kept of all files: keys may be long, and there may be millions.
        let mut digests: Vec<(u64, When, u32)> = Vec::new();
        for (when, singles) in [(When::Old, &self.old), (When::New, &self.new)] {
            let places = 0_u32..;
            digests.extend(places.zip(singles).filter_map(|(place, single)| {
                Some((digest(&key(single.file, when)?), when, place))
            }));
        }
        digests.sort_unstable();
        let (mut paired_old, mut paired_new) =
            (vec![false; self.old.len()], vec![false; self.new.len()]);
        for alike in digests.chunk_by(|one, other| one.0 == other.0) {
            let places = |when: When| {
                let of_side = alike.iter().filter(move |(_, of, _)| *of == when);
                of_side.map(|(_, _, place)| *place as usize)
            };
            if places(When::Old).next().is_none() || places(When::New).next().is_none() {
                continue;
            }
            let mut buckets: HashMap<K, [Vec<usize>; 2]> = HashMap::new();
            for (when, singles) in [(When::Old, &self.old), (When::New, &self.new)] {
                for place in places(when) {
                    let single = singles.get(place);
                    let key = single.and_then(|single| key(single.file, when));
                    let Some([old, new]) = key.map(|key| buckets.entry(key).or_default()) else {
                        continue;
                    };
                    if when == When::Old { old.push(place) } else { new.push(place) }
                }
            }
            for [old, new] in buckets.into_values() {
                if old.is_empty() || new.is_empty() {
                    continue;
                }
                for (one, other) in self.bucket(how, old, new) {
                    let files = self.old.get(one).zip(self.new.get(other));
                    self.pairs.extend(files.map(|(one, other)| (one.file, other.file, how)));
                    paired_old.get_mut(one).into_iter().for_each(|paired| *paired = true);
                    paired_new.get_mut(other).into_iter().for_each(|paired| *paired = true);
                }
            }
        }
        retain(&mut self.old, &paired_old);
        retain(&mut self.new, &paired_new);
    }

    /// Pairs files with the same key. Files left over on both sides are ambiguous.
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
        // Two files without findings are the same file only if their names match or no other candidate exists.
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

    /// Pairs files with the same digest, in the order of their names, and removes them from the lists.
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

fn retain(singles: &mut Vec<Single<'_>>, paired: &[bool]) {
    let mut paired = paired.iter();
    singles.retain(|_| !paired.next().copied().unwrap_or(false));
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A hash of everything that can change in a file, without addresses.
fn digest_of(file: &File) -> u64 {
    let mut hasher = DefaultHasher::new();
    (file.content, file.status, file.code_bytes, file.covered_bytes).hash(&mut hasher);
    (file.functions, &file.counts).hash(&mut hasher);
    for item in &file.items {
        (item.rule, item.symbol, item.relative(), item.shape).hash(&mut hasher);
        item.differing().for_each(|value| value.hash(&mut hasher));
    }
    for lost in file.coverage.iter().flat_map(|coverage| &coverage.losses) {
        (lost.cause, lost.functions, &lost.examples).hash(&mut hasher);
    }
    hasher.finish()
}

/// Derives the keys for matching from names.
struct Keys<'s> {
    strings: &'s Strings,
    /// The root folders of the old and the new scan.
    roots: (&'s str, &'s str),
}

impl Keys<'_> {
    fn text(&self, name: Option<Name>) -> &str {
        name.map_or("", |name| self.strings.text(name.text))
    }

    /// The package as `NAME:ARCHITECTURE`.
    fn package(&self, file: &File) -> Option<String> {
        let (name, machine) = file.package?;
        let machine = machine.map_or("", |machine| self.strings.text(machine));
        Some(format!("{}:{machine}", self.strings.text(name)))
    }

    /// The path and member inside a package, wherever the package's file is.
    fn in_package(&self, file: &File) -> Option<String> {
        let package = self.package(file)?;
        Some(format!("{package}\0{}\0{}", self.text(file.inside), self.text(file.member)))
    }

    fn without_versions(&self, file: &File, versions: Versions) -> String {
        // If there is an inner path, this is the path of a package, whose version does not matter.
        let of_path = if file.inside.is_some() { Versions::LeaveOut } else { versions };
        let path = || names::path(self.strings.text(file.path.text), of_path);
        let container = self.package(file).unwrap_or_else(path);
        let inside = names::path(self.text(file.inside), versions);
        let member = names::path(self.text(file.member), versions);
        format!("{container}\0{inside}\0{member}")
    }

    fn below_root(&self, file: &File, when: When, versions: Option<Versions>) -> Option<String> {
        let (old_root, new_root) = self.roots;
        if old_root == new_root {
            return None;
        }
        let path = self.strings.text(file.path.text);
        let below = path.strip_prefix(if when == When::Old { old_root } else { new_root })?;
        let cut = |text: &str| match versions {
            Some(versions) => names::path(text, versions),
            None => text.to_owned(),
        };
        let (inside, member) = (cut(self.text(file.inside)), cut(self.text(file.member)));
        Some(format!("{}\0{inside}\0{member}", cut(below)))
    }

    /// The file name and member in a package, in any folder.
    fn file_name(&self, file: &File) -> Option<String> {
        let package = self.package(file)?;
        let name = names::file_name(self.text(file.inside));
        let name = names::path(name, Versions::LeaveOut);
        Some(format!("{package}\0{name}\0{}", self.text(file.member)))
    }
}

/// The folder that contains all files, with a trailing `/`; empty if there is none.
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
