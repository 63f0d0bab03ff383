//! Writes shards.

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

/// Writes a shard: for each of its items in order, the records, then a line for the finished item. The file appears
/// under its name only when finished; dropping the writer earlier removes it.
#[derive(Debug)]
pub struct ShardWriter<'m> {
    manifest: &'m Manifest,
    shard: u32,
    /// The final path of the file.
    path: PathBuf,
    lines: LinesWriter<Draft>,
    /// The number of finished items.
    items: u64,
    /// The number of records of the current item.
    of_item: u64,
    records: u64,
    without: Counts,
}

/// How a shard was completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finished {
    /// This writer completed it.
    Written(ShardTotals),
    /// Another writer was faster and wrote the same contents.
    There(ShardTotals),
}

impl<'m> ShardWriter<'m> {
    pub(crate) fn new(manifest: &'m Manifest, shard: u32, path: PathBuf) -> Result<Self> {
        let draft = Draft::new(path.parent().unwrap_or(Path::new(".")))?;
        let lines = LinesWriter::new(draft).map_err(Error::io("write", &path))?;
        let (items, of_item, records, without) = (0, 0, 0, Counts::default());
        Ok(ShardWriter { manifest, shard, path, lines, items, of_item, records, without })
    }

    /// The number of the current item, whose records are being written; `None` if all are done.
    #[must_use]
    pub fn next_item(&self) -> Option<u32> {
        self.manifest.number_in(self.shard, self.items)
    }

    /// Writes a record of the current item: a line of JSON that starts with `{"type":"file",`, without its line feed.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is not such a line or is longer than 256 MiB; [`Error::Io`].
    pub fn record(&mut self, record: &[u8]) -> Result<()> {
        check_record(record).map_err(Error::Usage)?;
        self.lines.line(record).map_err(Error::io("write", &self.path))?;
        self.of_item += 1;
        Ok(())
    }

    /// Notes that an item is done, with the hash of its bytes, if they could be read, and the counts of files in it
    /// that have no record.
    ///
    /// # Errors
    /// [`Error::Usage`] if another item is next, or there are more than 100 kinds; [`Error::Io`].
    pub fn item_done(
        &mut self,
        item: u32,
        hash: Option<ContentHash>,
        without: Counts,
    ) -> Result<()> {
        if self.next_item() != Some(item) {
            let what = match self.next_item() {
                Some(next) => {
                    format!("item {item} of shard {}, but item {next} is next", self.shard)
                }
                None => format!("item {item} of shard {}, which has no items left", self.shard),
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

    /// Makes the shard durable under its name: on return, it survives a power failure. A damaged shard is replaced, a
    /// sound one never.
    ///
    /// # Errors
    /// [`Error::Usage`] if items are missing, [`Error::Different`] if a sound shard with other contents exists,
    /// [`Error::Foreign`] if one of another scan exists, and [`Error::Io`].
    pub fn finish(self) -> Result<Finished> {
        if let Some(next) = self.next_item() {
            let what = format!("shard {} is not done: item {next} is next", self.shard);
            return Err(Error::Usage(what));
        }
        if self.of_item > 0 {
            let what = format!("shard {} has records after its last item", self.shard);
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

/// Moves a shard to its final path. Replacing a damaged shard needs the folder's lock, so that the second of two
/// writers finds the first one's shard.
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
            // Possible only if locks do not work on this file system; a retry will find the shard.
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

/// Checks that a record is a valid line.
fn check_record(record: &[u8]) -> std::result::Result<(), String> {
    if record.len() > MAX_LINE {
        return Err(format!("a record of {} bytes, allowed: {MAX_LINE}", record.len()));
    }
    if !record.starts_with(RECORD) {
        return Err("a record that does not start with {\"type\":\"file\",".to_owned());
    }
    // JSON allows line feeds between values, but a line must not contain one.
    if record.contains(&b'\n') {
        return Err("a record that holds a line feed".to_owned());
    }
    match serde_json::from_slice::<IgnoredAny>(record) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("a record that is not JSON: {error}")),
    }
}
