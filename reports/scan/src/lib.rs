//! Scans: checks inputs in parallel, and hands over their records in input order, whatever the number of threads.
//!
//! `sframe_input` finds and maps files, a [`Checker`] checks one of them, [`describe`] makes a record of what was found, and
//! a [`Sink`] takes the records. [`stored`] keeps them, so that a scan can be divided, resumed and compared.
//!
//! Nothing here decides whether a section is valid: `sframe-validator` does, and `sframe-oracle` compares it with
//! CFI.

#![forbid(unsafe_code)]

mod call_sites;
mod check;
mod compare;
pub mod describe;
pub mod disassembly;
mod elf_file;
mod file;
mod forecast;
mod held;
mod judged;
mod link_inputs;
mod options;
mod order;
mod package;
mod piece;
mod readings;
mod seen;
pub mod stored;
mod tables;
mod verdict;

pub use check::Checker;
pub use options::{Against, CheckOptions};
pub use piece::{Collector, Piece, Visit};

pub use compare::{sections, table_of};
pub(crate) use order::{Event, Resources, Weigh, in_order};
pub use order::{MAX_THREADS, number_of_threads};
pub use tables::{Tables, with_tables};

use std::io;

use judged::Judged;
use sframe_input::Input;
use sframe_input::repository::Entry;
use sframe_policy::Judge;
use sframe_record::{Events, Summary};

/// Takes what a scan finds, in input order. An error ends the scan.
pub trait Sink: Events {
    /// Called when some time has passed without a record.
    fn tick(&mut self, summary: &Summary<'_>);
}

/// Checks every input on `threads` threads; 0 is one thread per processor.
///
/// # Errors
/// Returns errors of the sink, and an error if threads cannot be started.
pub fn scan(
    inputs: impl Iterator<Item = Input>,
    options: &CheckOptions,
    threads: usize,
    sink: &mut dyn Sink,
) -> io::Result<Summary<'static>> {
    let checker = Checker::new(options);
    let check = |input, visit: Visit<'_>| checker.input(input, visit);
    reported(inputs, options, check, threads, sink)
}

/// Checks the packages that a repository lists, like [`scan`].
///
/// # Errors
/// Returns errors of the sink, and an error if threads cannot be started.
pub fn scan_repository(
    entries: impl Iterator<Item = Entry>,
    options: &CheckOptions,
    threads: usize,
    sink: &mut dyn Sink,
) -> io::Result<Summary<'static>> {
    let checker = Checker::new(options);
    let check = |entry, visit: Visit<'_>| checker.entry(entry, visit);
    reported(entries, options, check, threads, sink)
}

fn reported<I: Send>(
    inputs: impl Iterator<Item = I>,
    options: &CheckOptions,
    check: impl Fn(I, Visit<'_>) + Sync,
    threads: usize,
    sink: &mut dyn Sink,
) -> io::Result<Summary<'static>> {
    let judge = Judge::new(options.policy.clone()).without(options.unchecked());
    let mut judged = Judged::new(judge, options, sink);
    let check = |input, visit: Visit<'_>| {
        if !options.is_stopped() {
            check(input, visit);
        }
    };
    let inputs = inputs.take_while(|_| !options.is_stopped());
    let resources = Resources { threads, waiting: options.waiting };
    in_order(inputs, resources, check, |event| match event {
        Event::Done(piece) => judged.take(piece),
        Event::Waiting => {
            judged.tick();
            Ok(())
        }
    })?;
    Ok(judged.finish())
}
