//! Writes shards.

use std::path::{Path, PathBuf};

use super::ShardState;
use super::line::{EndLine, ItemLine, RECORD, ShardTotals};
use super::line_error::LineError;
use super::read;
use super::tally::Tally;
use crate::durable::{self, Draft};
use crate::error::{Error, Result};
use crate::layout::{SHARDS, shard_path};
use crate::lines::{LinesWriter, MAX_LINE};
use crate::{ContentHash, Counts, Manifest};

/// Writes a shard: for each of its items in order, the records, then a line for the finished item. The file appears
/// under its name only when finished; dropping the writer earlier removes it.
#[derive(Debug)]
pub struct ShardWriter<'m> {
    manifest: &'m Manifest,
    shard: u32,
    /// The folder of the store.
    folder: PathBuf,
    /// The final path of the file.
    path: PathBuf,
    lines: LinesWriter<Draft>,
    tally: Tally<'m>,
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
    pub(crate) fn new(manifest: &'m Manifest, shard: u32, folder: &Path) -> Result<Self> {
        let (folder, path) = (folder.to_owned(), shard_path(folder, shard));
        let draft = Draft::new(&folder.join(SHARDS))?;
        let lines = LinesWriter::new(draft).map_err(Error::io("write", &path))?;
        Ok(ShardWriter { manifest, shard, folder, path, lines, tally: Tally::new(manifest, shard) })
    }

    /// The number of the current item, whose records are being written; `None` if all are done.
    #[must_use]
    pub fn next_item(&self) -> Option<u32> {
        self.tally.next_item()
    }

    /// Writes a record of the current item: a line of JSON that starts with `{"type":"file",`, without its line feed.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is not such a line, is longer than 256 MiB, cannot be read as a record, or is about
    /// another file; [`Error::Io`].
    pub fn record(&mut self, record: &[u8]) -> Result<()> {
        check_line(record).map_err(usage)?;
        self.tally.record(record).map_err(usage)?;
        self.lines.line(record).map_err(Error::io("write", &self.path))
    }

    /// Notes that an item is done, with the hash of its bytes, if they could be read, and the counts of files in it
    /// that have no record.
    ///
    /// # Errors
    /// [`Error::Usage`] if another item is next, it has another hash in the manifest, it has neither a record nor a
    /// count, or there are more than 100 kinds; [`Error::Io`].
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
        let line = ItemLine { item, hash, records: self.tally.of_item(), without };
        self.tally.item(&line).map_err(usage)?;
        let line = line.write();
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
        if self.tally.is_within_item() {
            let what = format!("shard {} has records after its last item", self.shard);
            return Err(Error::Usage(what));
        }
        let ShardWriter { manifest, shard, folder, path, mut lines, tally } = self;
        let totals = tally.totals(lines.hash());
        let end = EndLine::new(manifest, shard, totals.clone()).write();
        lines.line(&end).map_err(Error::io("write", &path))?;
        let draft = lines.finish().map_err(Error::io("write", &path))?;
        publish(draft, &folder, manifest, shard, totals)
    }
}

/// Moves a shard to its final path. Replacing a damaged shard needs the folder's lock, so that the second of two
/// writers finds the first one's shard.
fn publish(
    draft: Draft,
    folder: &Path,
    manifest: &Manifest,
    shard: u32,
    totals: ShardTotals,
) -> Result<Finished> {
    let _lock = durable::wait_for_folder(&folder.join(SHARDS))?;
    let path_of = || shard_path(folder, shard);
    match read::state(folder, manifest, shard)? {
        ShardState::Absent => match draft.publish(&path_of())? {
            true => Ok(Finished::Written(totals)),
            // Possible only if locks do not work on this file system; a retry will find the shard.
            false => Err(Error::Busy { path: path_of() }),
        },
        ShardState::Whole(there) if there == totals => Ok(Finished::There(there)),
        ShardState::Whole(_) => Err(Error::Different { path: path_of() }),
        ShardState::Damaged(_) => {
            draft.replace(&path_of())?;
            Ok(Finished::Written(totals))
        }
        ShardState::Foreign(reason) => Err(Error::Foreign { path: path_of(), reason }),
    }
}

fn usage(error: LineError) -> Error {
    Error::Usage(error.to_string())
}

/// Checks that a record can be a line of a shard.
fn check_line(record: &[u8]) -> std::result::Result<(), LineError> {
    if record.len() > MAX_LINE {
        return Err(LineError::TooLong(record.len()));
    }
    if !record.starts_with(RECORD) {
        return Err(LineError::NotARecord);
    }
    // JSON allows line feeds between values, but a line must not contain one.
    if record.contains(&b'\n') {
        return Err(LineError::LineFeed);
    }
    Ok(())
}
