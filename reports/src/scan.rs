//! The parallel driver: inputs in, reports out in the same order, whatever the number of threads.

mod check;
mod compare;
#[cfg(feature = "packages")]
mod package;
mod seen;

pub use check::CheckOptions;
pub use compare::Against;

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use rayon::prelude::*;

use crate::input::Input;
use crate::report::{FileReport, Summary};

/// How many inputs are handed over at once. Most files of a folder are no ELF files, and to see
/// that takes less time than to hand one over.
const BATCH: usize = 16;
/// How many batches are in work or waiting to be written, for each thread: enough that one slow
/// file does not idle the others, few enough that memory stays bounded.
const WINDOW_PER_THREAD: usize = 32;
/// How often a progress display is told that the scan is alive.
const TICK: Duration = Duration::from_millis(100);

/// Where reports go.
pub trait Sink {
    /// Takes the next report, in input order.
    ///
    /// # Errors
    /// Those of writing; they end the scan.
    fn report(&mut self, report: &FileReport) -> io::Result<()>;

    /// Some time has passed without a report.
    fn tick(&mut self, summary: &Summary);
}

/// Checks every input on `threads` threads, or on as many as the machine has for 0.
///
/// # Errors
/// Those of the sink, and of starting threads.
pub fn scan(
    mut inputs: impl Iterator<Item = Input>,
    options: &CheckOptions,
    threads: usize,
    sink: &mut dyn Sink,
) -> io::Result<Summary> {
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(io::Error::other)?;
    let window = pool.current_num_threads() * WINDOW_PER_THREAD;
    let mut summary = Summary::default();
    let checker = &check::Checker::new(options);
    pool.in_place_scope(|scope| {
        let mut waiting: VecDeque<Receiver<Vec<FileReport>>> = VecDeque::new();
        let mut drain = |slot: Receiver<Vec<FileReport>>| -> io::Result<()> {
            for report in receive(&slot, sink, &summary) {
                summary.add(&report);
                sink.report(&report)?;
            }
            Ok(())
        };
        loop {
            let batch: Vec<Input> = inputs.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            // One slot a batch, so that reports come out in the order of the slots.
            let (sender, slot) = sync_channel(1);
            scope.spawn(move |_| {
                let reports = batch.into_par_iter().flat_map_iter(|input| checker.input(input));
                // The receiver is gone only where writing has failed: nobody misses the reports.
                drop(sender.send(reports.collect()));
            });
            waiting.push_back(slot);
            if waiting.len() >= window
                && let Some(slot) = waiting.pop_front()
            {
                drain(slot)?;
            }
        }
        waiting.into_iter().try_for_each(drain)
    })?;
    Ok(summary)
}

fn receive(
    slot: &Receiver<Vec<FileReport>>,
    sink: &mut dyn Sink,
    summary: &Summary,
) -> Vec<FileReport> {
    loop {
        match slot.recv_timeout(TICK) {
            Ok(reports) => return reports,
            Err(RecvTimeoutError::Timeout) => sink.tick(summary),
            // A worker that panics: the panic itself ends the scope.
            Err(RecvTimeoutError::Disconnected) => return Vec::new(),
        }
    }
}
