//! Writing a shard.

use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

use super::ShardState;
use super::line::{EndLine, ItemLine, RECORD, ShardTotals};
use super::read;
use crate::counts::MAX_KINDS;
use crate::durable::{self, Draft};
use crate::error::{Error, Result};
use crate::lines::{LinesWriter, MAX_LINE};
use crate::{ContentHash, Counts, Manifest};

/// Writes a shard: of each of its items in order the records, then that it is done. Until it is
/// finished nothing is there under its name; dropped before, it leaves nothing.
#[derive(Debug)]
pub struct ShardWriter<'m> {
    manifest: &'m Manifest,
    shard: u32,
    /// What it will be called.
    path: PathBuf,
    lines: LinesWriter<Draft>,
    /// Items that are done.
    items: u64,
    /// Records of the item that is being written.
    of_item: u64,
    records: u64,
    without: Counts,
}

/// How a shard came to be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finished {
    /// It was written.
    Written(ShardTotals),
    /// Another writer was faster, and has written the same.
    There(ShardTotals),
}

impl<'m> ShardWriter<'m> {
    pub(crate) fn new(manifest: &'m Manifest, shard: u32, path: PathBuf) -> Result<Self> {
        let draft = Draft::new(path.parent().unwrap_or(Path::new(".")))?;
        let lines = LinesWriter::new(draft).map_err(Error::io("write", &path))?;
        let (items, of_item, records, without) = (0, 0, 0, Counts::default());
        Ok(ShardWriter { manifest, shard, path, lines, items, of_item, records, without })
    }

    /// The number of the item that comes next, or whose records are being written; `None` where
    /// all are done.
    #[must_use]
    pub fn next_item(&self) -> Option<u32> {
        self.manifest.number_in(self.shard, self.items)
    }

    /// Writes a record of the next item: one line of JSON that starts `{"type":"file",`, without
    /// its line feed.
    ///
    /// # Errors
    /// [`Error::Usage`] where it is no such line, or is longer than 256 MiB; [`Error::Io`].
    pub fn record(&mut self, record: &[u8]) -> Result<()> {
        check_record(record).map_err(Error::Usage)?;
        self.lines.line(record).map_err(Error::io("write", &self.path))?;
        self.of_item += 1;
        Ok(())
    }

    /// Notes that an item is done: the hash of its bytes, where they could be read, and what was
    /// met in it and has no record.
    ///
    /// # Errors
    /// [`Error::Usage`] where another item is next, or there are more than 100 kinds;
    /// [`Error::Io`].
    pub fn item_done(
        &mut self,
        item: u32,
        hash: Option<ContentHash>,
        without: Counts,
    ) -> Result<()> {
        if self.next_item() != Some(item) {
            let what = match self.next_item() {
                Some(next) => format!("item {item} of shard {}, where {next} is next", self.shard),
                None => format!("item {item} of shard {}, which has no more", self.shard),
            };
            return Err(Error::Usage(what));
        }
        self.without.add_all(&without);
        if self.without.kinds() > MAX_KINDS {
            return Err(Error::Usage(format!("more than {MAX_KINDS} kinds without a record")));
        }
        let records = std::mem::take(&mut self.of_item);
        self.records += records;
        self.items += 1;
        let line = ItemLine { item, hash, records, without }.write();
        self.lines.line(&line).map_err(Error::io("write", &self.path))
    }

    /// Makes the shard durable under its name: on return, it outlasts a loss of power. A damaged
    /// shard is replaced; a whole one never is.
    ///
    /// # Errors
    /// [`Error::Usage`] where items are missing, [`Error::Different`] where a whole shard is there
    /// that says something else, [`Error::Foreign`] where one of another scan is, and
    /// [`Error::Io`].
    pub fn finish(self) -> Result<Finished> {
        if let Some(next) = self.next_item() {
            let what = format!("shard {} is not done: item {next} is next", self.shard);
            return Err(Error::Usage(what));
        }
        if self.of_item > 0 {
            let what = format!("shard {} has records behind its last item", self.shard);
            return Err(Error::Usage(what));
        }
        let ShardWriter { manifest, shard, path, mut lines, items, records, without, .. } = self;
        let totals = ShardTotals { items, records, without, hash: lines.hash() };
        let end = EndLine::new(manifest, shard, totals.clone()).write();
        lines.line(&end).map_err(Error::io("write", &path))?;
        let draft = lines.finish().map_err(Error::io("write", &path))?;
        publish(draft, &path, manifest, shard, totals)
    }
}

/// Puts a shard in its place. Who replaces a damaged one holds the folder's lock, so that of two
/// the second finds the first one's.
fn publish(
    draft: Draft,
    path: &Path,
    manifest: &Manifest,
    shard: u32,
    totals: ShardTotals,
) -> Result<Finished> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let _lock = durable::wait_for_folder(folder)?;
    let path_of = || path.to_owned();
    match read::state(path, manifest, shard)? {
        ShardState::Absent => match draft.publish(path)? {
            true => Ok(Finished::Written(totals)),
            // Only where the file system's locks do not hold: another time, it is there.
            false => Err(Error::Busy { path: path_of() }),
        },
        ShardState::Whole(there) if there == totals => Ok(Finished::There(there)),
        ShardState::Whole(_) => Err(Error::Different { path: path_of() }),
        ShardState::Damaged(_) => {
            draft.replace(path)?;
            Ok(Finished::Written(totals))
        }
        ShardState::Foreign(reason) => Err(Error::Foreign { path: path_of(), reason }),
    }
}

/// Why a record is none.
fn check_record(record: &[u8]) -> std::result::Result<(), String> {
    if record.len() > MAX_LINE {
        return Err(format!("a record of {} bytes, allowed: {MAX_LINE}", record.len()));
    }
    if !record.starts_with(RECORD) {
        return Err("a record that does not start with {\"type\":\"file\",".to_owned());
    }
    // JSON allows it between values, and lines do not.
    if record.contains(&b'\n') {
        return Err("a record that holds a line feed".to_owned());
    }
    match serde_json::from_slice::<IgnoredAny>(record) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("a record that is no JSON: {error}")),
    }
}
