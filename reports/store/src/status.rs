//! What of a scan is there.

use std::fmt;

use serde::Serialize;

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

/// A file of a store that is not as it was written, or is none of the store's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedFile {
    /// Its path within the store.
    pub file: String,
    /// What is wrong with it.
    pub reason: String,
    /// What to do.
    pub remedy: Remedy,
}

/// What makes a store sound again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remedy {
    /// To merge again, which writes everything again that follows from manifest and shards.
    Merge,
    /// To remove the file.
    Remove,
    /// To remove the file, and to merge again.
    RemoveAndMerge,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Remedy::Merge => "merge the store again",
            Remedy::Remove => "remove it",
            Remedy::RemoveAndMerge => "remove it, and merge the store again",
        })
    }
}

impl DamagedFile {
    pub(crate) fn new(file: &str, reason: impl Into<String>, remedy: Remedy) -> DamagedFile {
        DamagedFile { file: file.to_owned(), reason: reason.into(), remedy }
    }
}

impl fmt::Display for DamagedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.reason)
    }
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
