//! Which packages were listed before, and as what.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};

use super::checksum::Checksum;

/// How many packages are remembered in order to check each only once. Beyond this, packages are checked as often as
/// they are listed.
const REMEMBERED: usize = 1 << 20;

/// The packages listed so far: keyed hashes of their paths, since paths may be long, with hashes of what their indexes
/// state.
#[derive(Default)]
pub(super) struct Seen {
    keys: [RandomState; 2],
    seen: HashMap<[u64; 2], [u64; 2]>,
}

/// How a package relates to those listed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    /// It was not listed before.
    New,
    /// It was listed before with the same size and checksum.
    Known,
    /// It was listed before with another size or checksum.
    Contradicts,
}

impl Seen {
    /// Remembers a package. It is another one if its checksum is of another kind, so that each is compared.
    pub(super) fn add(&mut self, path: &str, size: u64, checksum: &Checksum) -> Novelty {
        let hash = |text: &(&str, &str)| self.keys.each_ref().map(|key| key.hash_one(text));
        let place = hash(&(path, checksum.kind()));
        let stated = hash(&(&size.to_string(), checksum.text()));
        let is_full = self.seen.len() >= REMEMBERED;
        match self.seen.entry(place) {
            Entry::Occupied(known) if *known.get() == stated => Novelty::Known,
            Entry::Occupied(_) => Novelty::Contradicts,
            Entry::Vacant(place) => {
                if !is_full {
                    place.insert(stated);
                }
                Novelty::New
            }
        }
    }
}
