//! Reads shards and checks whether they are complete.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use sframe_record::Record;

use super::ShardState;
use super::line::{END, EndLine, ITEM, ItemLine, RECORD, ShardTotals};
use super::line_error::LineError;
use super::tally::Tally;
use crate::Manifest;
use crate::durable;
use crate::error::{Error, Result};
use crate::layout::shard_name;
use crate::lines::{LinePlace, LinesReader, is_damage};

/// A line of a shard.
#[derive(Debug)]
pub enum ShardLine<'a> {
    /// A record of the item in the next item line.
    Record {
        /// The line, without its line feed.
        text: &'a [u8],
        /// What it says.
        record: Box<Record<'a>>,
    },
    /// A finished item.
    Item(ItemLine),
}

/// Reads the lines of a shard in order and holds one in memory at a time.
#[derive(Debug)]
pub struct ShardReader<'m> {
    path: PathBuf,
    lines: LinesReader<File>,
    check: Check<'m>,
}

impl<'m> ShardReader<'m> {
    /// A reader of this shard in the store at `folder`.
    pub(crate) fn open(folder: &Path, manifest: &'m Manifest, shard: u32) -> Result<Self> {
        let name = shard_name(shard);
        let path = folder.join(&name);
        let file = match durable::open_own(folder, &name) {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return Err(Error::Damaged { path, reason: error.to_string() });
            }
            opened => opened.map_err(Error::io("open", &path))?,
        };
        let size = file.metadata().map_err(Error::io("read", &path))?.len();
        let lines = LinesReader::new(file, size);
        Ok(ShardReader { path, lines, check: Check::new(manifest, shard) })
    }

    /// The shard's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Calls `visit` with each line in order, and returns the totals of the complete shard.
    ///
    /// Whether the shard is complete is known only at its end. Until then the lines may be damaged, unless the shard's
    /// state was checked before. Each record can be read: the first that cannot, and the lines after it, are not visited.
    ///
    /// # Errors
    /// The first error of `visit`, [`Error::Io`], [`Error::Damaged`], and [`Error::Foreign`] at the end of a shard of
    /// another scan.
    pub fn each_line<E: From<Error>>(
        self,
        mut visit: impl FnMut(ShardLine<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<ShardTotals, E> {
        self.each_place(|_, line| visit(line))
    }

    /// Calls `visit` with each line and its position, as [`ShardReader::each_line`] does.
    pub(crate) fn each_place<E: From<Error>>(
        mut self,
        mut visit: impl FnMut(LinePlace, ShardLine<'_>) -> std::result::Result<(), E>,
    ) -> std::result::Result<ShardTotals, E> {
        while let Some(place) = self.lines.advance().map_err(|error| self.broken(error))? {
            let line = self.check.line(self.lines.line());
            if let Some(line) = line.map_err(|reason| damaged(&self.path, reason.to_string()))? {
                visit(place, line)?;
            }
        }
        self.check.whole().map_err(|wrong| match wrong {
            Wrong::Damaged(reason) => damaged(&self.path, reason),
            Wrong::Foreign(reason) => Error::Foreign { path: self.path.clone(), reason },
        })?;
        Ok(self.check.totals())
    }

    fn broken(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged(&self.path, "it is truncated".to_owned()),
            _ if is_damage(&error) => damaged(&self.path, error.to_string()),
            _ => Error::io("read", &self.path)(error),
        }
    }
}

fn damaged(path: &Path, reason: String) -> Error {
    Error::Damaged { path: path.to_owned(), reason }
}

/// The state of a shard of the store at `folder`. Reads all of it.
pub(crate) fn state(folder: &Path, manifest: &Manifest, shard: u32) -> Result<ShardState> {
    let reader = ShardReader::open(folder, manifest, shard);
    match reader.and_then(|reader| reader.each_line(|_| Ok(()))) {
        Ok(totals) => Ok(ShardState::Whole(totals)),
        Err(error) if error.is_absence() => Ok(ShardState::Absent),
        Err(Error::Damaged { reason, .. }) => Ok(ShardState::Damaged(reason)),
        Err(Error::Foreign { reason, .. }) => Ok(ShardState::Foreign(reason)),
        Err(error) => Err(error),
    }
}

/// Whether a file begins as shards do.
pub(crate) fn begins(path: &Path) -> bool {
    let first = |path: &Path| -> io::Result<bool> {
        let file = durable::open_file(path)?;
        let size = file.metadata()?.len();
        let mut lines = LinesReader::new(file, size);
        let is_line = |line: &[u8]| [RECORD, ITEM, END].iter().any(|kind| line.starts_with(kind));
        Ok(lines.advance()?.is_some() && is_line(lines.line()))
    };
    first(path).unwrap_or(false)
}

/// Why a shard is unusable after it was read to its end.
enum Wrong {
    Damaged(String),
    Foreign(String),
}

/// Checks lines against the last line and the manifest.
#[derive(Debug)]
struct Check<'m> {
    manifest: &'m Manifest,
    shard: u32,
    lines: u64,
    tally: Tally<'m>,
    /// The first line that contradicts the manifest or cannot be read. It is reported at the end, where the whole shard
    /// may turn out to belong to another manifest, or another version of this program.
    stray: Option<String>,
    hasher: blake3::Hasher,
    end: Option<EndLine>,
}

impl<'m> Check<'m> {
    fn new(manifest: &'m Manifest, shard: u32) -> Self {
        Check {
            manifest,
            shard,
            lines: 0,
            tally: Tally::new(manifest, shard),
            stray: None,
            hasher: blake3::Hasher::new(),
            end: None,
        }
    }

    /// The line, if it is a record or an item and none before it makes the shard unusable.
    fn line<'a>(
        &mut self,
        text: &'a [u8],
    ) -> std::result::Result<Option<ShardLine<'a>>, LineError> {
        self.lines += 1;
        if self.end.is_some() {
            return Err(LineError::AfterEnd);
        }
        let line = if text.starts_with(RECORD) {
            let record = self.tally.record(text);
            record.map(|record| ShardLine::Record { text, record: Box::new(record) })
        } else if text.starts_with(ITEM) {
            let item = ItemLine::read(self.lines, text).map_err(LineError::Field)?;
            self.tally.item(&item).map(|()| ShardLine::Item(item))
        } else if text.starts_with(END) {
            self.end = Some(EndLine::read(self.lines, text).map_err(LineError::Field)?);
            return Ok(None);
        } else {
            return Err(LineError::UnknownKind(self.lines));
        };
        self.hasher.update(text);
        self.hasher.update(b"\n");
        let line = line.map_err(|error| {
            self.stray.get_or_insert_with(|| format!("line {}: {error}", self.lines));
        });
        Ok(line.ok().filter(|_| self.stray.is_none()))
    }

    fn totals(&self) -> ShardTotals {
        self.tally.totals(self.hasher.finalize().into())
    }

    fn whole(&self) -> std::result::Result<(), Wrong> {
        let Some(end) = &self.end else {
            return Err(Wrong::Damaged("it is truncated: its last line is missing".to_owned()));
        };
        let totals = self.totals();
        let mismatch = || Wrong::Damaged("its lines do not match its last line".to_owned());
        if self.tally.is_within_item() || end.totals.hash != totals.hash {
            return Err(mismatch());
        }
        if let Some(reason) = end.foreign(self.manifest, self.shard) {
            return Err(Wrong::Foreign(reason));
        }
        if let Some(stray) = &self.stray {
            return Err(Wrong::Damaged(stray.clone()));
        }
        if end.totals != totals {
            return Err(mismatch());
        }
        if self.tally.next_item().is_some() {
            return Err(Wrong::Damaged("it ends before all items are done".to_owned()));
        }
        Ok(())
    }
}
