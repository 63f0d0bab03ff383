//! What of a scan is there.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::durable;
use crate::error::Result;
use crate::shard::{self, ShardState, ShardTotals};
use crate::store::{self, SHARDS};
use crate::verify::{self, DamagedFile, Examined};
use crate::{Counts, Manifest};

/// How many shards a message names.
const NAMED: usize = 10;
/// What is said of a complete store whose `run.json` speaks of no list.
pub const NO_HASHES: &str = "it has no hashes of its files, so damage in its tables goes unnoticed: \
                             merge the store again";

/// What of a scan is there: each shard is in one of the lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// How many shards the scan has.
    pub shards: u32,
    /// Those that are there, whole and of this scan.
    pub whole: Vec<u32>,
    /// Those that are not there.
    pub missing: Vec<u32>,
    /// Those that are there and cannot be used.
    pub damaged: Vec<DamagedShard>,
    /// What stands between the shards and is none of this scan.
    pub strange: Vec<String>,
    /// Whether the store was merged.
    pub complete: bool,
    /// Whether the store has the hashes of its files: every complete one, but for those of earlier
    /// versions.
    pub hashes: bool,
    /// Other files that are not as they were written, and shards whose lines are whole in a file
    /// that has changed.
    pub files: Vec<DamagedFile>,
}

/// A shard that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedShard {
    /// Its number.
    pub shard: u32,
    /// What is wrong with it.
    pub reason: String,
}

impl Status {
    /// Whether every shard is there exactly once, whole and of this scan.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.damaged.is_empty() && self.strange.is_empty()
    }

    /// Whether, besides, every other file is as it was written.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.is_whole() && self.files.is_empty()
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} whole", self.whole.len(), self.shards)?;
        for shard in self.missing.iter().take(NAMED) {
            write!(f, "; shard {shard} is missing")?;
        }
        for DamagedShard { shard, reason } in self.damaged.iter().take(NAMED) {
            write!(f, "; shard {shard} is {reason}: scan it again")?;
        }
        for name in self.strange.iter().take(NAMED) {
            write!(f, "; {name:?} is no shard of this scan")?;
        }
        for file in self.files.iter().take(NAMED) {
            write!(f, "; {file}: {}", file.remedy)?;
        }
        let lists =
            [&self.missing.len(), &self.damaged.len(), &self.strange.len(), &self.files.len()];
        match lists.iter().map(|length| length.saturating_sub(NAMED)).sum() {
            0 => {}
            more => write!(f, "; and {more} more")?,
        }
        if self.complete && !self.hashes {
            write!(f, "; {NO_HASHES}")?;
        }
        Ok(())
    }
}

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
        match shard::state(&store::shard_path(folder, shard), manifest, shard)? {
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
        let number = store::shard_of(&name).filter(|&shard| shard < manifest.shards());
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
