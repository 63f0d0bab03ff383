//! Finds the indexes of a repository: `Packages` in its root, or one for each suite, component and architecture below
//! `dists`.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};

use super::base::{Base, stays_inside};
use super::{Stream, Wanted};
use crate::identity::control_field;
use crate::plain_error;

/// The supported forms of an index, the smallest first.
const FORMS: [&str; 5] = [".xz", ".zst", ".gz", ".bz2", ""];
/// How many bytes of a `Release` file are read: its fields precede its long lists.
const RELEASE: u64 = 1 << 16;
/// The maximum number of indexes. A suite of Debian has about 100.
const MOST: usize = 10_000;
/// How many packages are remembered in order to check each only once. Beyond this, packages are checked as often as
/// they are listed.
const REMEMBERED: usize = 1 << 20;

/// An index that exists.
pub(super) struct Index {
    /// The path relative to the repository.
    pub(super) path: String,
    pub(super) stream: Stream,
}

/// The packages listed so far, as two keyed hashes of their paths, since paths may be long.
#[derive(Default)]
pub(super) struct Seen {
    keys: [RandomState; 2],
    seen: HashSet<[u64; 2]>,
}

impl Seen {
    pub(super) fn is_new(&mut self, path: &str) -> bool {
        let hash = self.keys.each_ref().map(|key| key.hash_one(path));
        match self.seen.len() < REMEMBERED {
            true => self.seen.insert(hash),
            false => !self.seen.contains(&hash),
        }
    }
}

/// The indexes of the selected suites, opened one at a time.
pub(super) fn find<'b>(
    base: &'b Base,
    wanted: &Wanted,
) -> Result<impl Iterator<Item = Index> + use<'b>, String> {
    let names = [wanted.suites.as_slice(), &wanted.components, &wanted.architectures].concat();
    if !names.iter().all(|name| stays_inside(name)) {
        return Err(
            "the name of a suite, component or architecture leads out of the repository".to_owned()
        );
    }
    // With an explicit suite, the index in the root is not used: it belongs to no suite.
    let flat = match wanted.suites.as_slice() {
        [] => open(base, "Packages").map_err(|error| plain_error(&error))?,
        _ => None,
    };
    let paths = match &flat {
        Some(_) => Vec::new(),
        None => below_dists(base, wanted)?,
    };
    if flat.is_none() && paths.is_empty() {
        return Err("no index found: neither Packages nor dists/*/*/binary-*/Packages".to_owned());
    }
    let opened = paths.into_iter().filter_map(move |path| match open(base, &path) {
        Ok(index) => index,
        Err(error) => Some(Index { path, stream: Box::new(Failed(Some(error))) }),
    });
    Ok(flat.into_iter().chain(opened))
}

/// The first form of an index that exists, if any does.
fn open(base: &Base, path: &str) -> io::Result<Option<Index>> {
    for form in FORMS {
        let path = format!("{path}{form}");
        match base.open(&path) {
            Ok(stream) => return Ok(Some(Index { path, stream })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// A stream that fails with an error from opening it, so that the error is reported in order.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

fn below_dists(base: &Base, wanted: &Wanted) -> Result<Vec<String>, String> {
    let suites = match wanted.suites.as_slice() {
        [] => base.folders("dists").ok_or("it has no Packages in its root: name a suite")?,
        named => named.to_vec(),
    };
    let mut paths = Vec::new();
    for suite in suites {
        let suite = format!("dists/{suite}");
        let release = release(base, &suite);
        let selected = |field: &str, wanted: &[String]| match wanted {
            [] => release.as_deref().and_then(|text| words(text, field)),
            named => Some(named.to_vec()),
        };
        let components =
            selected("Components", &wanted.components).or_else(|| base.folders(&suite));
        for component in components.unwrap_or_default() {
            let folder = format!("{suite}/{component}");
            let machines = selected("Architectures", &wanted.architectures)
                .or_else(|| machines(base, &folder));
            for machine in machines.unwrap_or_default() {
                let path = format!("{folder}/binary-{machine}/Packages");
                if paths.len() == MOST {
                    return Err(format!("it has more than {MOST} indexes"));
                }
                if stays_inside(&path) {
                    paths.push(path);
                }
            }
        }
    }
    Ok(paths)
}

/// The architectures for which a component has folders.
fn machines(base: &Base, component: &str) -> Option<Vec<String>> {
    let folders = base.folders(component)?;
    Some(folders.iter().filter_map(|name| Some(name.strip_prefix("binary-")?.to_owned())).collect())
}

/// The beginning of a suite's `Release` file.
fn release(base: &Base, suite: &str) -> Option<Vec<u8>> {
    let read = |name: &str| {
        let mut text = Vec::new();
        base.open(&format!("{suite}/{name}")).ok()?.take(RELEASE).read_to_end(&mut text).ok()?;
        Some(text)
    };
    read("Release").or_else(|| {
        let signed = read("InRelease")?;
        // The message follows the armor header and an empty line (RFC 9580, 7).
        let start = signed.windows(2).position(|pair| pair == b"\n\n")?;
        Some(signed.get(start + 2..)?.to_vec())
    })
}

fn words(text: &[u8], field: &str) -> Option<Vec<String>> {
    let value = str::from_utf8(control_field(text, field.as_bytes())?).ok()?;
    Some(value.split_ascii_whitespace().map(str::to_owned).collect())
}
