//! The status of a store: which parts of a scan are complete.

use std::fmt;

use serde::Serialize;

/// The maximum number of entries of each list in a message.
pub(crate) const NAMED: usize = 10;
/// The message about a complete store whose `run.json` has no hash of the list of files.
pub const NO_HASHES: &str = "it has no hashes of its files, so damage in its tables goes unnoticed: \
                             merge the store again";

/// The status of a store; each shard is in exactly one of the lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// The number of shards of the scan.
    pub shards: u32,
    /// The shards that are complete and belong to this scan.
    pub whole: Vec<u32>,
    /// The shards that do not exist.
    pub missing: Vec<u32>,
    /// The shards that exist but cannot be used.
    pub damaged: Vec<DamagedShard>,
    /// Files among the shards that do not belong to this scan.
    pub strange: Vec<String>,
    /// Whether the store was merged, and none of its shards has been lost or damaged since.
    pub complete: bool,
    /// Whether the store has the hashes of its files. Merged stores have them, except those of earlier versions.
    pub hashes: bool,
    /// Other files that have changed since they were written, including shards with intact lines whose file has
    /// changed.
    pub files: Vec<DamagedFile>,
}

/// A shard that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedShard {
    /// Its number.
    pub shard: u32,
    /// The defect.
    pub reason: String,
    /// How to repair it.
    pub remedy: Remedy,
}

/// A file of a store that has changed since it was written, or does not belong to the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedFile {
    /// The path relative to the store.
    pub file: String,
    /// The defect.
    pub reason: String,
    /// How to repair it.
    pub remedy: Remedy,
}

/// How to make a store sound again. Nothing that the store may not have made is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remedy {
    /// Merge again, which rewrites everything that follows from manifest and shards.
    Merge,
    /// Move the file away.
    MoveAway,
    /// Move the file away, and merge again.
    MoveAwayAndMerge,
    /// Scan the shard again, and merge.
    Scan,
    /// Move the shard away, scan it again, and merge.
    MoveAwayAndScan,
    /// Put what the link leads to in its place.
    ReplaceLink,
    /// Name the manifest of the store's own scan, or another folder.
    NameAnother,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Remedy::Merge => "merge the store again",
            Remedy::MoveAway => "move it away",
            Remedy::MoveAwayAndMerge => "move it away, and merge the store again",
            Remedy::Scan => "scan it again, with `scan` or --resume, and merge the store",
            Remedy::MoveAwayAndScan => {
                "move it away, scan it again, with `scan` or --resume, and merge the store"
            }
            Remedy::ReplaceLink => "put what it leads to in its place",
            Remedy::NameAnother => "name the manifest of this store, or another folder",
        })
    }
}

impl fmt::Display for DamagedShard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DamagedShard { shard, reason, remedy } = self;
        write!(f, "shard {shard} cannot be used: {reason}: {remedy}")
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
    /// Whether every shard is complete and belongs to this scan, and there are no other files among them.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.damaged.is_empty() && self.strange.is_empty()
    }

    /// Whether, in addition, all other files are unchanged.
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
        for shard in self.damaged.iter().take(NAMED) {
            write!(f, "; {shard}")?;
        }
        for name in self.strange.iter().take(NAMED) {
            write!(f, "; {name:?} is not a shard of this scan: {}", Remedy::MoveAway)?;
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
