//! Reads the records of a store, and sums them up.

use sframe_policy::{Judge, Policy};
use sframe_record::{Events, Summary, Text};
use sframe_store::{Counts, ShardLine, Store};

use super::record::{EMPTY, NOT_ELF};
use super::{Error, Result};
use sframe_input::Special;

/// Sums up the records in `shards` of a store, without those that do not exist, and hands each record, as `policy` judges it, over to
/// `to`.
///
/// # Errors
/// Returns an error if a shard is damaged or cannot be read, and errors of `to`.
pub fn summary(
    store: &Store,
    shards: impl IntoIterator<Item = u32>,
    policy: Policy,
    to: &mut dyn Events,
) -> Result<Summary<'static>> {
    let (mut summary, mut judge) = (Summary::default(), Judge::new(policy));
    count(&mut summary, store.manifest().without());
    for shard in shards {
        let reader = match store.read(shard) {
            Ok(reader) => reader,
            Err(error) if error.is_absence() => continue,
            Err(error) => return Err(error.into()),
        };
        reader.each_line(|line| {
            match line {
                ShardLine::Record { record, .. } => {
                    let found = judge.judge(*record);
                    summary.add(&found);
                    found.hand_over(to)?;
                }
                ShardLine::Item(item) => count(&mut summary, &item.without),
            }
            Ok::<(), Error>(())
        })?;
    }
    summary.notes = judge.notes().into_iter().map(Text::from).collect();
    Ok(summary)
}

fn count(summary: &mut Summary<'_>, without: &Counts) {
    // An archive without files is not a file that was checked.
    for (kind, number) in without.iter().filter(|(kind, _)| *kind != EMPTY) {
        summary.inputs = summary.inputs.saturating_add(number);
        match Special::of_id(kind) {
            Some(special) => summary.add_special(special.id(), number),
            None if kind == NOT_ELF => {
                summary.not_elf = summary.not_elf.saturating_add(number);
            }
            None => summary.unreadable = summary.unreadable.saturating_add(number),
        }
    }
}
