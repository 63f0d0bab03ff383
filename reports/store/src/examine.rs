//! Examines all files of a store: which shards it has, and which files have changed since they were written.

use std::path::Path;

use crate::Manifest;
use crate::durable;
use crate::error::Result;
use crate::layout::{SHARDS, shard_of};
use crate::run::Totals;
use crate::shard::{self, ShardState, ShardTotals};
use crate::status::{DamagedShard, Remedy, Status};
use crate::verify::{self, Examined};

/// The status of the store at `folder` as a scan of `manifest`; an empty status if there is no store. Reads all files.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io).
pub fn status(manifest: &Manifest, folder: &Path) -> Result<Status> {
    examine(manifest, folder).map(|(status, _)| status)
}

/// The status, and the totals of the sound shards.
pub(crate) fn examine(manifest: &Manifest, folder: &Path) -> Result<(Status, Vec<ShardTotals>)> {
    let (mut status, totals) = shards(manifest, folder)?;
    status.strange = strange(manifest, &folder.join(SHARDS))?;
    let sums = sums(manifest, &status, &totals);
    let Examined { complete, hashes, damaged } =
        verify::examine(manifest, folder, &status.whole, sums.as_ref())?;
    status.complete = complete && status.missing.is_empty() && status.damaged.is_empty();
    (status.hashes, status.files) = (hashes, damaged);
    Ok((status, totals))
}

/// The states of all shards, and the totals of the sound ones.
pub(crate) fn shards(manifest: &Manifest, folder: &Path) -> Result<(Status, Vec<ShardTotals>)> {
    let mut status = Status { shards: manifest.shards(), ..Status::default() };
    let mut totals = Vec::new();
    for shard in 0..manifest.shards() {
        match shard::state(folder, manifest, shard)? {
            ShardState::Absent => status.missing.push(shard),
            ShardState::Whole(whole) => {
                status.whole.push(shard);
                totals.push(whole);
            }
            ShardState::Damaged(reason) => {
                status.damaged.push(DamagedShard { shard, reason, remedy: Remedy::Scan });
            }
            ShardState::Foreign(difference) => {
                let reason = format!("it belongs to another scan: {difference}");
                let remedy = Remedy::MoveAwayAndScan;
                status.damaged.push(DamagedShard { shard, reason, remedy });
            }
        }
    }
    Ok((status, totals))
}

/// The totals of the store, if all shards are sound.
pub(crate) fn sums(manifest: &Manifest, status: &Status, totals: &[ShardTotals]) -> Option<Totals> {
    (status.whole.len() as u64 == u64::from(manifest.shards())).then(|| sum(manifest, totals))
}

/// The names in the folder of shards that do not belong to this scan. Names with a leading dot are temporary files of
/// ours or of the file system.
fn strange(manifest: &Manifest, shards: &Path) -> Result<Vec<String>> {
    let names = durable::names_in(shards)?.into_iter().filter_map(|path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let number = shard_of(&name).filter(|&shard| shard < manifest.shards());
        (number.is_none() && !name.starts_with('.')).then_some(name)
    });
    Ok(names.collect())
}

/// The sums of the totals of shards, with the files that the planner excluded.
pub(crate) fn sum(manifest: &Manifest, totals: &[ShardTotals]) -> Totals {
    let mut without = manifest.without().clone();
    totals.iter().for_each(|shard| without.add_all(&shard.without));
    let sum = |of: fn(&ShardTotals) -> u64| {
        totals.iter().map(of).fold(0, |sum: u64, number| sum.saturating_add(number))
    };
    Totals { items: sum(|shard| shard.items), records: sum(|shard| shard.records), without }
}
