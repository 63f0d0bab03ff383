//! Reads shards and checks whether they are complete.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::ShardState;
use super::line::{END, EndLine, ITEM, ItemLine, RECORD, ShardTotals};
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
    Record(&'a [u8]),
    /// A finished item.
    Item(ItemLine),
}

/// Reads the lines of a shard in order and holds one in memory at a time.
///
/// Whether the shard is complete is known only at its end. Until then the lines read may be damaged, unless the shard's
/// state was checked before. Each record can be read: the first that cannot, and the lines after it, are not returned.
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

    /// The next line; `None` at the end of a complete shard.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Damaged`], and [`Error::Foreign`] at the end of a shard of another scan.
    pub fn next_line(&mut self) -> Result<Option<ShardLine<'_>>> {
        Ok(self.next_place()?.map(|(_, line)| line))
    }

    /// The next line and its position.
    pub(crate) fn next_place(&mut self) -> Result<Option<(LinePlace, ShardLine<'_>)>> {
        while let Some(place) = self.lines.advance().map_err(|error| self.broken(error))? {
            let step = self.check.line(self.lines.line());
            match step.map_err(|reason| self.damaged(reason))? {
                Step::Record => return Ok(Some((place, ShardLine::Record(self.lines.line())))),
                Step::Item(item) => return Ok(Some((place, ShardLine::Item(item)))),
                Step::Other => {}
            }
        }
        self.check.whole().map_err(|wrong| match wrong {
            Wrong::Damaged(reason) => self.damaged(reason),
            Wrong::Foreign(reason) => Error::Foreign { path: self.path.clone(), reason },
        })?;
        Ok(None)
    }

    fn broken(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.damaged("it is truncated".to_owned()),
            _ if is_damage(&error) => self.damaged(error.to_string()),
            _ => Error::io("read", &self.path)(error),
        }
    }

    fn damaged(&self, reason: String) -> Error {
        Error::Damaged { path: self.path.clone(), reason }
    }
}

/// The state of a shard of the store at `folder`. Reads all of it.
pub(crate) fn state(folder: &Path, manifest: &Manifest, shard: u32) -> Result<ShardState> {
    let totals = ShardReader::open(folder, manifest, shard).and_then(|mut reader| {
        while reader.next_line()?.is_some() {}
        Ok(reader.check.totals())
    });
    match totals {
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

/// The type of a line.
enum Step {
    Record,
    Item(ItemLine),
    /// The last line, or a line after one that makes the shard unusable.
    Other,
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

    fn line(&mut self, text: &[u8]) -> std::result::Result<Step, String> {
        self.lines += 1;
        if self.end.is_some() {
            return Err("lines follow its last one".to_owned());
        }
        let (step, checked) = if text.starts_with(RECORD) {
            (Step::Record, self.tally.record(text))
        } else if text.starts_with(ITEM) {
            let item = ItemLine::read(self.lines, text).map_err(|defect| defect.to_string())?;
            let checked = self.tally.item(&item);
            (Step::Item(item), checked)
        } else if text.starts_with(END) {
            self.end = Some(EndLine::read(self.lines, text).map_err(|defect| defect.to_string())?);
            return Ok(Step::Other);
        } else {
            return Err(format!("line {} is neither a record nor an item", self.lines));
        };
        self.hasher.update(text);
        self.hasher.update(b"\n");
        if let Err(reason) = checked {
            self.stray.get_or_insert_with(|| format!("line {}: {reason}", self.lines));
        }
        Ok(if self.stray.is_none() { step } else { Step::Other })
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
