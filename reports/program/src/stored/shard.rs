//! One shard: its items are checked, and what is said of them is kept.

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
use crate::scan::{Checker, Event, Resources, Weigh, in_order};

/// What checks items.
#[derive(Clone, Copy, Debug)]
pub struct Scanner<'s> {
    /// What checks a file.
    pub checker: &'s Checker<'s>,
    /// What an earlier scan has said.
    pub previous: &'s Previous,
    /// By what it knows files that have not changed.
    pub known: &'s Stamps,
    /// How many threads; 0 for as many as the machine has.
    pub threads: usize,
}

impl Scanner<'_> {
    /// What a scan may take.
    pub(super) const fn resources(&self) -> Resources {
        Resources { threads: self.threads, waiting: self.checker.options.waiting }
    }
}

/// What comes of an item: records, and in the end that it is done.
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
    /// What the system said of the file before it was read.
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

/// Checks the items of a shard, or finds it done. `each` is told of items that are done, with the
/// bytes that they have, and of time that passes without.
///
/// An item at which a process has died is checked in a process of its own: what ends that one is
/// told in the item's record.
///
/// # Errors
/// Those of the store, and of threads and processes; and [`Error::Changed`], where the manifest has
/// a file's hash and the file has another one.
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
    let work = |(number, item), steps: &mut dyn FnMut(Step)| {
        let mut record = |record| steps(Step::Record(record));
        let done = work(number, item, scanner, &suspects, &journal, &mut record);
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

fn work(
    number: u32,
    item: &Item,
    scanner: Scanner<'_>,
    suspects: &BTreeMap<u32, u32>,
    journal: &Journal,
    record: &mut dyn FnMut(Vec<u8>),
) -> Result<Done> {
    let metadata = fs::metadata(&item.path).ok();
    let known = metadata.as_ref().and_then(|metadata| match scanner.known.find(metadata) {
        Some(Known::Content(hash)) => Some(hash),
        Some(Known::Without(_)) | None => None,
    });
    // What cannot be read is told by who checks it, unless the planner could read it: then a disk
    // is missing here, and another try may see it.
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
    // What was found in a file that changed meanwhile is nothing that its hash stands for.
    let same = metadata.as_ref().zip(fs::metadata(&item.path).ok());
    let hash = hash.filter(|_| same.is_some_and(|(before, after)| is_unchanged(before, &after)));
    Ok(Done { item: number, hash, without, metadata })
}

/// Whether a file is the one that it was, and was not written to.
fn is_unchanged(before: &Metadata, after: &Metadata) -> bool {
    let stamp = |of: &Metadata| {
        let modified = (of.mtime(), of.mtime_nsec());
        (of.dev(), of.ino(), of.len(), modified, (of.ctime(), of.ctime_nsec()))
    };
    stamp(before) == stamp(after)
}
