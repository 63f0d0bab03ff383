//! The records of a store that can be read.

use std::path::Path;

use sframe_store::{NO_HASHES, Store};

use super::complain;
use sframe_scan::stored::Result;

/// The maximum number of shards and files that are named.
const COMPLAINTS: usize = 20;

/// The part of a store that can be read.
pub(super) struct Readable {
    /// The shards.
    pub(super) shards: Vec<u32>,
    /// Whether the store was merged.
    pub(super) merged: bool,
    /// Whether nothing of what the store should hold by now is missing or contradicts the rest.
    pub(super) sound: bool,
}

/// Finds the shards that can be read, by the same rules as `status`, `scan` and `merge`. Reports everything else, and how
/// to repair it; messages call the store `name`.
pub(super) fn readable(store: &Store, name: &Path) -> Result<Readable> {
    let status = store.status_of_records()?;
    let merged = store.run().totals.is_some();
    let no_hashes = store.lacks_hashes().then(|| NO_HASHES.to_owned());
    let missing = status.missing.iter();
    let missing = missing.map(|shard| format!("shard {shard} is missing: its files are unknown"));
    let damaged = status.damaged.iter().map(|shard| format!("{shard}; its files are unknown"));
    let files = status.files.iter().map(|file| format!("{file}: {}", file.remedy));
    let complaints: Vec<String> =
        no_hashes.into_iter().chain(missing).chain(damaged).chain(files).collect();
    let name = name.display();
    for complaint in complaints.iter().take(COMPLAINTS) {
        complain(&format!("{name}: {complaint}"))?;
    }
    if complaints.len() > COMPLAINTS {
        complain(&format!("{name}: and {} more", complaints.len() - COMPLAINTS))?;
    }
    let sound = status.damaged.is_empty() && status.files.is_empty();
    Ok(Readable {
        shards: status.whole,
        merged,
        sound: sound && (status.missing.is_empty() || !merged),
    })
}
