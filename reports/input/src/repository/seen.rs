//! Which packages were listed before.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// How many packages are remembered in order to check each only once. Beyond this, packages are checked as often as
/// they are listed.
const REMEMBERED: usize = 1 << 20;

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
