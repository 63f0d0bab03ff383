//! Looks at all files of a store: which shards are there, and which files are as they were written.

use std::path::Path;

use crate::durable;
use crate::error::Result;
use crate::layout::{SHARDS, shard_of, shard_path};
use crate::shard::{self, ShardState, ShardTotals};
use crate::status::{DamagedShard, Status};
use crate::verify::{self, Examined};
use crate::{Counts, Manifest};

/// What of the manifest's scan is there in the store at `folder`; nothing where there is no store.
/// All files are read.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io).
pub fn status(manifest: &Manifest, folder: &Path) -> Result<Status> {
    examine(manifest, folder).map(|(status, _)| status)
}

/// The status, and what the whole shards hold.
pub(crate) fn examine(manifest: &Manifest, folder: &Path) -> Result<(Status, Vec<ShardTotals>)> {
    let mut status = Status { shards: manifest.shards(), ..Status::default() };
    let mut totals = Vec::new();
    for shard in 0..manifest.shards() {
        match shard::state(&shard_path(folder, shard), manifest, shard)? {
            ShardState::Absent => status.missing.push(shard),
            ShardState::Whole(whole) => {
                status.whole.push(shard);
                totals.push(whole);
            }
            other => {
                status.damaged.push(DamagedShard { shard, reason: other.to_string() });
            }
        }
    }
    status.strange = strange(manifest, &folder.join(SHARDS))?;
    let Examined { complete, hashes, damaged } = verify::examine(manifest, folder, &status.whole)?;
    (status.complete, status.hashes, status.files) = (complete, hashes, damaged);
    Ok((status, totals))
}

/// Names among the shards that are none of this scan. Names that start with a dot are temporary
/// ones, ours and file systems'.
fn strange(manifest: &Manifest, shards: &Path) -> Result<Vec<String>> {
    let names = durable::names_in(shards)?.into_iter().filter_map(|path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let number = shard_of(&name).filter(|&shard| shard < manifest.shards());
        (number.is_none() && !name.starts_with('.')).then_some(name)
    });
    Ok(names.collect())
}

/// The sums of what whole shards hold.
pub(crate) fn sum(totals: &[ShardTotals]) -> (u64, u64, Counts) {
    let mut without = Counts::default();
    totals.iter().for_each(|shard| without.add_all(&shard.without));
    let sum = |of: fn(&ShardTotals) -> u64| {
        totals.iter().map(of).fold(0, |sum: u64, number| sum.saturating_add(number))
    };
    (sum(|shard| shard.items), sum(|shard| shard.records), without)
}
