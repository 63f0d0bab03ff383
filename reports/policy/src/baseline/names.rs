//! The names in a baseline, each kept once: most findings have the file and the rule of others.

use std::collections::HashSet;
use std::sync::Arc;

/// The maximum number of bytes of all names of a baseline together.
const MOST: usize = 256 << 20;

/// Names, each kept once.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    known: HashSet<Arc<str>>,
    bytes: usize,
}

impl Names {
    /// The name to share; `None` if there is no room for another one.
    pub(super) fn share(&mut self, name: &str) -> Option<Arc<str>> {
        if let Some(known) = self.known.get(name) {
            return Some(known.clone());
        }
        self.bytes = self.bytes.checked_add(name.len()).filter(|bytes| *bytes <= MOST)?;
        let name: Arc<str> = name.into();
        self.known.insert(name.clone());
        Some(name)
    }
}
