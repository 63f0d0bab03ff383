//! Checks the items of a shard, and stores the results.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;

use sframe_store::{
    ContentHash, Counts, Finished, Item, Journal, Known, Previous, Shard, ShardTotals, Stamps,
    StampsWriter, Store,
};

use super::alone::{Alone, run_alone};
use super::file::{check, hash_of};
use super::{Error, Result};
use crate::{Checker, Event, Resources, Weigh, in_order};

/// Checks items.
#[derive(Clone, Copy, Debug)]
pub struct Scanner<'s> {
    /// Checks a file.
    pub checker: &'s Checker<'s>,
    /// The results of an earlier scan.
    pub previous: &'s Previous,
    /// The stamps by which it recognises unchanged files.
    pub known: &'s Stamps,
    /// The number of threads; 0 is one per processor.
    pub threads: usize,
}

impl Scanner<'_> {
    /// The limits of a scan.
    pub(super) const fn resources(&self) -> Resources {
        Resources { threads: self.threads, waiting: self.checker.options.waiting }
    }
}

/// A result for an item: a record or, at the end, that the item is done.
enum Step {
    Record(Vec<u8>),
    Done(Done),
    Failed(Error),
}

/// An item that is done.
struct Done {
    item: u32,
    hash: Option<ContentHash>,
    without: Counts,
    /// The metadata of the file before it was read.
    metadata: Option<Metadata>,
}

impl Weigh for Step {
    fn weight(&self) -> usize {
        let record = match self {
            Step::Record(record) => record.len(),
            Step::Done(_) | Step::Failed(_) => 0,
        };
        size_of::<Step>() + record
    }
}

/// Checks the items of a shard, unless it is complete already. Calls `each` for each item that is done, with its size
/// in bytes, and with `None` if some time passes without one.
///
/// An item during which a process died is checked in a separate process. If that process dies too, the item's record
/// says so.
///
/// # Errors
/// Returns errors of the store, of threads and of processes, and [`Error::Changed`] if the hash of a file differs
/// from the one in the manifest.
pub fn check_shard(
    store: &Store,
    shard: u32,
    scanner: Scanner<'_>,
    mut stamps: Option<&mut StampsWriter>,
    each: &mut dyn FnMut(Option<&Item>),
) -> Result<ShardTotals> {
    let mut writer = match store.begin(shard)? {
        Shard::There(totals) => return Ok(totals),
        Shard::ToDo(writer) => writer,
    };
    let suspects = store.suspects(shard)?;
    let journal = store.journal(shard)?;
    let items = store.manifest().items_of(shard);
    let worker = Worker { scanner, suspects, journal };
    let work = |(number, item), steps: &mut dyn FnMut(Step)| {
        let done = worker.check(number, item, &mut |record| steps(Step::Record(record)));
        steps(done.map_or_else(Step::Failed, Step::Done));
    };
    in_order(items, scanner.resources(), work, |event| -> Result<()> {
        let done = match event {
            Event::Done(Step::Done(done)) => done,
            Event::Done(Step::Failed(error)) => return Err(error),
            Event::Done(Step::Record(record)) => return Ok(writer.record(&record)?),
            Event::Waiting => {
                each(None);
                return Ok(());
            }
        };
        if let (Some(stamps), Some(metadata), Some(hash)) = (&mut stamps, &done.metadata, done.hash)
        {
            stamps.note(metadata, Known::Content(hash));
        }
        writer.item_done(done.item, done.hash, done.without)?;
        each(store.manifest().items().get(usize::try_from(done.item).unwrap_or(usize::MAX)));
        Ok(())
    })?;
    let (Finished::Written(totals) | Finished::There(totals)) = writer.finish()?;
    Ok(totals)
}

/// What checks the items of a shard.
struct Worker<'s> {
    scanner: Scanner<'s>,
    /// The items during which a process died.
    suspects: BTreeMap<u32, u32>,
    journal: Journal,
}

impl Worker<'_> {
    /// Checks an item, and passes its records to `record`.
    fn check(&self, number: u32, item: &Item, record: &mut dyn FnMut(Vec<u8>)) -> Result<Done> {
        let Worker { scanner, suspects, journal } = self;
        let metadata = fs::metadata(&item.path).ok();
        let known = metadata.as_ref().and_then(|metadata| match scanner.known.find(metadata) {
            Some(Known::Content(hash)) => Some(hash),
            Some(Known::Without(_)) | None => None,
        });
        // The check reports files that cannot be read, except those that the planner could read: then a disk may be
        // missing on this machine, and another attempt may succeed.
        let hash = known.or_else(|| hash_of(&item.path).ok());
        if item.hash.is_some() && item.hash != hash {
            return Err(Error::Changed(item.path.clone()));
        }
        let unchanged = match &hash {
            Some(hash) => scanner.previous.find(&item.path, hash)?,
            None => None,
        };
        let without = match unchanged {
            Some(unchanged) => {
                unchanged.records.into_iter().for_each(record);
                unchanged.without
            }
            None if suspects.contains_key(&number) => {
                let Alone { records, without } = run_alone(number, &item.path)?;
                records.into_iter().for_each(record);
                without
            }
            None => {
                let working = journal.working(number)?;
                let without = check(&item.path, scanner.checker, record)?;
                drop(working);
                without
            }
        };
        // If a file has changed in the meantime, its hash does not belong to the results.
        let same = metadata.as_ref().zip(fs::metadata(&item.path).ok());
        let hash =
            hash.filter(|_| same.is_some_and(|(before, after)| is_unchanged(before, &after)));
        Ok(Done { item: number, hash, without, metadata })
    }
}

/// Whether a file is still the same and was not written to.
fn is_unchanged(before: &Metadata, after: &Metadata) -> bool {
    let stamp = |of: &Metadata| {
        let modified = (of.mtime(), of.mtime_nsec());
        (of.dev(), of.ino(), of.len(), modified, (of.ctime(), of.ctime_nsec()))
    };
    stamp(before) == stamp(after)
}
