//! A walk that runs ahead of the scan, so that the number of inputs is known long before the last one is checked.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// Bytes of memory handed over in one batch: several hundred names.
const BATCH: usize = 1 << 14;
/// How many batches may wait: 64 MiB in all, about half a million names. If there are more inputs, their number is not
/// known until the remaining names fit.
const BATCHES: usize = 1 << 12;

/// The number of inputs that a walk has found so far.
#[derive(Debug, Default)]
pub struct Tally {
    walked: AtomicU64,
    ended: AtomicBool,
}

impl Tally {
    /// The number of inputs; `None` until the walk has finished.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        // Acquire pairs with the release in `walk`: a thread that sees the end also sees the final count.
        self.ended.load(Ordering::Acquire).then(|| self.walked.load(Ordering::Relaxed))
    }
}

/// The inputs in their order, and a tally of how many there are. A separate thread walks as far ahead as the
/// names fit into memory; `size` returns the bytes of memory that one input takes. The walk ends when the returned
/// iterator is dropped.
///
/// # Errors
/// Returns an error if the thread cannot be started.
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
        tally.walked.fetch_add(batch.len() as u64, Ordering::Relaxed);
        if batches.send(batch).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// Inputs of 1 KiB each, and a channel that receives each one as it is walked.
    fn inputs(count: u64) -> (impl Iterator<Item = u64> + Send, std::sync::mpsc::Receiver<u64>) {
        let (sender, walked) = channel();
        let numbers = (0..count).inspect(move |number| {
            let _ = sender.send(*number);
        });
        (numbers, walked)
    }

    #[test]
    fn the_total_is_known_before_anything_is_received() {
        let (numbers, walked) = inputs(10_000);
        let (taken, tally) = ahead(numbers, |_| 1 << 10).expect("a thread");
        assert_eq!(walked.iter().count(), 10_000);
        // The walk has dropped the inputs, so it has finished or is about to.
        while tally.total().is_none() {
            thread::yield_now();
        }
        assert_eq!(tally.total(), Some(10_000));
        assert!(taken.eq(0..10_000));
    }

    /// The limit is 64 MiB, plus one batch waiting to be sent, and one that was received.
    #[test]
    fn names_stay_within_their_memory_limit() {
        let (numbers, walked) = inputs(200_000);
        let (mut taken, tally) = ahead(numbers, |_| 1 << 10).expect("a thread");
        assert_eq!(taken.next(), Some(0));
        let most = (64 << 10) + 2 * 16;
        let before = walked.iter().take(most).count();
        thread::sleep(std::time::Duration::from_millis(50));
        assert_eq!((before, walked.try_iter().count()), (most, 0));
        assert_eq!(tally.total(), None);
        drop(taken);
        // The walk notices that the receiver is gone.
        assert_eq!(walked.iter().count(), 0);
        assert_eq!(tally.total(), None);
    }
}
