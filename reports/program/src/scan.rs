//! The parallel driver: inputs in, records out in the same order, whatever the number of threads.

mod check;
mod compare;
mod link_inputs;
mod options;
mod order;
mod package;
mod seen;
mod verdict;

pub use check::Checker;
pub use options::{Against, CheckOptions};
pub use verdict::Found;

pub(crate) use order::{Event, Resources, Weigh, in_order};
pub use order::{MAX_THREADS, number_of_threads};

use std::io;

use crate::record;
use sframe_input::Input;
use sframe_input::repository::Entry;
use sframe_record::{Record, Summary};

/// Where records go.
pub trait Sink {
    /// Takes the next record, in input order.
    ///
    /// # Errors
    /// Those of writing; they end the scan.
    fn record(&mut self, record: &Record<'_>) -> io::Result<()>;

    /// Some time has passed without a record.
    fn tick(&mut self, summary: &Summary<'_>);
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
) -> io::Result<Summary<'static>> {
    let checker = Checker::new(options);
    let check = |input, found: &mut dyn FnMut(Record<'static>)| checker.input(input, found);
    reported(inputs, options, check, threads, sink)
}

/// Checks what a repository lists, in the same way.
///
/// # Errors
/// Those of the sink, and of starting threads.
pub fn scan_repository(
    entries: impl Iterator<Item = Entry>,
    options: &CheckOptions,
    threads: usize,
    sink: &mut dyn Sink,
) -> io::Result<Summary<'static>> {
    let checker = Checker::new(options);
    let check = |entry, found: &mut dyn FnMut(Record<'static>)| checker.entry(entry, found);
    reported(entries, options, check, threads, sink)
}

fn reported<I: Send>(
    inputs: impl Iterator<Item = I>,
    options: &CheckOptions,
    check: impl Fn(I, &mut dyn FnMut(Record<'static>)) + Sync,
    threads: usize,
    sink: &mut dyn Sink,
) -> io::Result<Summary<'static>> {
    let mut summary = Summary::default();
    let check = |input, found: &mut dyn FnMut(Record<'static>)| {
        if !options.is_stopped() {
            check(input, found);
        }
    };
    let inputs = inputs.take_while(|_| !options.is_stopped());
    let resources = Resources { threads, waiting: options.waiting };
    in_order(inputs, resources, check, |event| -> io::Result<()> {
        match event {
            Event::Done(record) => {
                summary.add(&record);
                sink.record(&record)?;
            }
            Event::Waiting => sink.tick(&summary),
        }
        Ok(())
    })?;
    Ok(summary)
}

impl Weigh for Record<'static> {
    fn weight(&self) -> usize {
        record::weight(self)
    }
}
