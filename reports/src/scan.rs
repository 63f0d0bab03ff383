//! The parallel driver: inputs in, reports out in the same order, whatever the number of threads.

mod check;
mod compare;
#[cfg(feature = "packages")]
mod package;
mod seen;

pub use check::CheckOptions;
pub use check::Checker;
pub use compare::Against;

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use rayon::prelude::*;

use crate::report::{FileReport, Summary};
use sframe_input::Input;
#[cfg(feature = "packages")]
use sframe_input::repository::Entry;

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
    inputs: impl Iterator<Item = Input>,
    options: &CheckOptions,
    threads: usize,
    sink: &mut dyn Sink,
) -> io::Result<Summary> {
    let checker = Checker::new(options);
    let check = |input| checker.input(input);
    reported(inputs, options, check, threads, sink)
}

/// Checks what a repository lists, in the same way.
///
/// # Errors
/// Those of the sink, and of starting threads.
#[cfg(feature = "packages")]
pub fn scan_repository(
    entries: impl Iterator<Item = Entry>,
    options: &CheckOptions,
    threads: usize,
    sink: &mut dyn Sink,
) -> io::Result<Summary> {
    let checker = Checker::new(options);
    let check = |entry| checker.entry(entry);
    reported(entries, options, check, threads, sink)
}

fn reported<I: Send>(
    inputs: impl Iterator<Item = I>,
    options: &CheckOptions,
    check: impl Fn(I) -> Vec<FileReport> + Sync,
    threads: usize,
    sink: &mut dyn Sink,
) -> io::Result<Summary> {
    let mut summary = Summary::default();
    let check = |input| if options.is_stopped() { Vec::new() } else { check(input) };
    let inputs = inputs.take_while(|_| !options.is_stopped());
    in_order(inputs, threads, check, |event| -> io::Result<()> {
        match event {
            Event::Done(reports) => reports.iter().try_for_each(|report| {
                summary.add(report);
                sink.report(report)
            })?,
            Event::Waiting => sink.tick(&summary),
        }
        Ok(())
    })?;
    Ok(summary)
}

/// What [`in_order`] tells.
pub(crate) enum Event<R> {
    /// The result of the next input.
    Done(R),
    /// Some time has passed without one.
    Waiting,
}

/// Works on every input on `threads` threads, or on as many as the machine has for 0, and tells the
/// results in the order of the inputs.
///
/// # Errors
/// Those of `tell`, which end the work, and of starting threads.
pub(crate) fn in_order<I: Send, R: Send, E: From<io::Error>>(
    mut inputs: impl Iterator<Item = I>,
    threads: usize,
    work: impl Fn(I) -> R + Sync,
    mut tell: impl FnMut(Event<R>) -> Result<(), E>,
) -> Result<(), E> {
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(io::Error::other)?;
    let window = pool.current_num_threads() * WINDOW_PER_THREAD;
    let work = &work;
    pool.in_place_scope(|scope| {
        let mut waiting: VecDeque<Receiver<Vec<R>>> = VecDeque::new();
        let mut drain = |slot: Receiver<Vec<R>>| -> Result<(), E> {
            let results = receive(&slot, || tell(Event::Waiting))?;
            results.into_iter().try_for_each(|result| tell(Event::Done(result)))
        };
        loop {
            let batch: Vec<I> = inputs.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            // One slot a batch, so that results come out in the order of the slots.
            let (sender, slot) = sync_channel(1);
            scope.spawn(move |_| {
                let results = batch.into_par_iter().map(work).collect();
                // The receiver is gone only where telling has failed: nobody misses the results.
                drop(sender.send(results));
            });
            waiting.push_back(slot);
            if waiting.len() >= window
                && let Some(slot) = waiting.pop_front()
            {
                drain(slot)?;
            }
        }
        waiting.into_iter().try_for_each(drain)
    })
}

fn receive<R, E>(
    slot: &Receiver<Vec<R>>,
    mut wait: impl FnMut() -> Result<(), E>,
) -> Result<Vec<R>, E> {
    loop {
        match slot.recv_timeout(TICK) {
            Ok(results) => return Ok(results),
            Err(RecvTimeoutError::Timeout) => wait()?,
            // A worker that panics: the panic itself ends the scope.
            Err(RecvTimeoutError::Disconnected) => return Ok(Vec::new()),
        }
    }
}
