//! A walk that runs ahead of the scan: how many inputs there are is known long before the last one is checked.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// Bytes of memory that are handed over at once: some hundred names.
const BATCH: usize = 1 << 14;
/// How many batches may wait, 64 MiB in all: half a million names. Of more inputs, the number is not known before the
/// rest fits.
const BATCHES: usize = 1 << 12;

/// How many inputs a walk has met.
#[derive(Debug, Default)]
pub struct Tally {
    met: AtomicU64,
    ended: AtomicBool,
}

impl Tally {
    /// How many inputs there are, once the walk has met the last one.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        // What was met before the end is seen by who sees the end.
        self.ended.load(Ordering::Acquire).then(|| self.met.load(Ordering::Relaxed))
    }
}

/// The same inputs in the same order, walked on a thread of its own as far ahead as their names may take memory, and how
/// many they are. `size` says how many bytes of memory one takes. Where nobody takes inputs any more, the walk ends.
///
/// # Errors
/// Those of starting a thread.
pub fn ahead<T: Send + 'static>(
    inputs: impl Iterator<Item = T> + Send + 'static,
    size: fn(&T) -> usize,
) -> io::Result<(impl Iterator<Item = T>, Arc<Tally>)> {
    let (sender, batches) = sync_channel(BATCHES);
    let tally = Arc::new(Tally::default());
    let walked = tally.clone();
    thread::Builder::new().spawn(move || walk(inputs, size, &sender, &walked))?;
    Ok((batches.into_iter().flatten(), tally))
}

fn walk<T>(
    mut inputs: impl Iterator<Item = T>,
    size: fn(&T) -> usize,
    batches: &SyncSender<Vec<T>>,
    tally: &Tally,
) {
    loop {
        let (mut batch, mut held) = (Vec::new(), 0);
        while held < BATCH
            && let Some(input) = inputs.next()
        {
            held += size(&input);
            batch.push(input);
        }
        if batch.is_empty() {
            tally.ended.store(true, Ordering::Release);
            return;
        }
        tally.met.fetch_add(batch.len() as u64, Ordering::Relaxed);
        if batches.send(batch).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// Inputs of 1 KiB each, and where the walk tells how many it has met.
    fn inputs(count: u64) -> (impl Iterator<Item = u64> + Send, std::sync::mpsc::Receiver<u64>) {
        let (sender, met) = channel();
        let told = (0..count).inspect(move |number| {
            let _ = sender.send(*number);
        });
        (told, met)
    }

    #[test]
    fn the_total_is_known_before_anything_is_taken() {
        let (told, met) = inputs(10_000);
        let (taken, tally) = ahead(told, |_| 1 << 10).expect("a thread");
        assert_eq!(met.iter().count(), 10_000);
        // The walk has let go of the inputs: it is at its end or nearly so.
        while tally.total().is_none() {
            thread::yield_now();
        }
        assert_eq!(tally.total(), Some(10_000));
        assert!(taken.eq(0..10_000));
    }

    /// 64 MiB, a batch that waits to be handed over, and one that was taken.
    #[test]
    fn names_take_no_more_memory_than_they_may() {
        let (told, met) = inputs(200_000);
        let (mut taken, tally) = ahead(told, |_| 1 << 10).expect("a thread");
        assert_eq!(taken.next(), Some(0));
        let most = (64 << 10) + 2 * 16;
        let before = met.iter().take(most).count();
        thread::sleep(std::time::Duration::from_millis(50));
        assert_eq!((before, met.try_iter().count()), (most, 0));
        assert_eq!(tally.total(), None);
        drop(taken);
        // The walk sees that nobody waits.
        assert_eq!(met.iter().count(), 0);
        assert_eq!(tally.total(), None);
    }
}
