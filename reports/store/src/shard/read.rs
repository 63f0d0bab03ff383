//! Reads shards and checks whether they are complete.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::ShardState;
use super::line::{END, EndLine, ITEM, ItemLine, RECORD, ShardTotals};
use crate::counts::MAX_KINDS;
use crate::durable;
use crate::error::{Error, Result};
use crate::lines::{LinePlace, LinesReader, is_damage};
use crate::{Counts, Manifest};

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
/// state was checked before.
#[derive(Debug)]
pub struct ShardReader<'m> {
    path: PathBuf,
    lines: LinesReader<File>,
    check: Check<'m>,
}

impl<'m> ShardReader<'m> {
    pub(crate) fn open(path: PathBuf, manifest: &'m Manifest, shard: u32) -> Result<Self> {
        let file = match durable::open_file(&path) {
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
                Step::End => {}
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

/// The state of the shard at `path`. Reads all of it.
pub(crate) fn state(path: &Path, manifest: &Manifest, shard: u32) -> Result<ShardState> {
    let totals = ShardReader::open(path.to_owned(), manifest, shard).and_then(|mut reader| {
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
    End,
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
    items: u64,
    records: u64,
    /// Records since the last item line.
    of_item: u64,
    without: Counts,
    /// The first item that is out of order. It is reported at the end, where the whole shard may turn out to belong to
    /// another manifest.
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
            items: 0,
            records: 0,
            of_item: 0,
            without: Counts::default(),
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
        let step = if text.starts_with(RECORD) {
            self.of_item += 1;
            Step::Record
        } else if text.starts_with(ITEM) {
            let item = ItemLine::read(self.lines, text).map_err(|defect| defect.to_string())?;
            self.item(&item)?;
            Step::Item(item)
        } else if text.starts_with(END) {
            self.end = Some(EndLine::read(self.lines, text).map_err(|defect| defect.to_string())?);
            return Ok(Step::End);
        } else {
            return Err(format!("line {} is neither a record nor an item", self.lines));
        };
        self.hasher.update(text);
        self.hasher.update(b"\n");
        Ok(step)
    }

    fn item(&mut self, item: &ItemLine) -> std::result::Result<(), String> {
        let of_item = std::mem::take(&mut self.of_item);
        if item.records != of_item {
            let (number, records) = (item.item, item.records);
            return Err(format!(
                "item {number} has {of_item} records, but its line states {records}"
            ));
        }
        if self.expected() != Some(item.item) && self.stray.is_none() {
            self.stray = Some(format!(
                "line {} is of item {}, which is out of order",
                self.lines, item.item
            ));
        }
        self.items += 1;
        self.records += of_item;
        self.without.add_all(&item.without);
        if self.without.kinds() > MAX_KINDS {
            return Err(format!("more than {MAX_KINDS} kinds without a record"));
        }
        Ok(())
    }

    /// The number of the item that the manifest lists next.
    fn expected(&self) -> Option<u32> {
        self.manifest.number_in(self.shard, self.items)
    }

    fn totals(&self) -> ShardTotals {
        let Check { items, records, without, hasher, .. } = self;
        let (items, records, without) = (*items, *records, without.clone());
        ShardTotals { items, records, without, hash: hasher.finalize().into() }
    }

    fn whole(&self) -> std::result::Result<(), Wrong> {
        let Some(end) = &self.end else {
            return Err(Wrong::Damaged("it is truncated: its last line is missing".to_owned()));
        };
        if self.of_item > 0 || end.totals != self.totals() {
            let reason = "its lines do not match its last line".to_owned();
            return Err(Wrong::Damaged(reason));
        }
        if let Some(reason) = end.foreign(self.manifest, self.shard) {
            return Err(Wrong::Foreign(reason));
        }
        match &self.stray {
            Some(stray) => Err(Wrong::Damaged(stray.clone())),
            None if self.expected().is_some() => {
                Err(Wrong::Damaged("it ends before all items are done".to_owned()))
            }
            None => Ok(()),
        }
    }
}
