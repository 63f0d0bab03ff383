//! One shard: its items are checked, and what is said of them is kept.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use sframe_store::{
    ContentHash, Counts, Finished, Item, Journal, Known, Previous, Shard, ShardTotals, Stamps,
    StampsWriter, Store,
};

use super::alone::{Alone, run_alone};
use super::planner::hash_of;
use super::record::{self, Kept};
use super::{Error, Result};
use crate::report::FileReport;
use crate::scan::{Checker, Event, in_order};
use sframe_input::Input;

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

/// An item that is done.
struct Done {
    item: u32,
    hash: Option<ContentHash>,
    records: Vec<Vec<u8>>,
    without: Counts,
    /// What the system said of the file before it was read.
    metadata: Option<Metadata>,
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
    let work = |(number, item)| work(number, item, scanner, &suspects, &journal);
    in_order(items, scanner.threads, work, |event| -> Result<()> {
        let done = match event {
            Event::Done(done) => done?,
            Event::Waiting => {
                each(None);
                return Ok(());
            }
        };
        for record in &done.records {
            writer.record(record)?;
        }
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
    let (records, without) = match unchanged {
        Some(unchanged) => (unchanged.records, unchanged.without),
        None if suspects.contains_key(&number) => {
            let Alone { records, without } = run_alone(number, &item.path)?;
            (records, without)
        }
        None => {
            let working = journal.working(number)?;
            let kept = check(&item.path, scanner.checker)?;
            drop(working);
            kept
        }
    };
    Ok(Done { item: number, hash, records, without, metadata })
}

/// Checks a file: its records, and how many of which kind have none.
pub(super) fn check(path: &Path, checker: &Checker<'_>) -> io::Result<(Vec<Vec<u8>>, Counts)> {
    keep(&checker.input(Input::File(path.to_owned())))
}

fn keep(reports: &[FileReport]) -> io::Result<(Vec<Vec<u8>>, Counts)> {
    let (mut records, mut without) = (Vec::new(), Counts::default());
    for report in reports {
        match record::of(report)? {
            Kept::Record(record) => records.push(record),
            Kept::Count(kind) => without.add(kind, 1),
        }
    }
    Ok((records, without))
}
