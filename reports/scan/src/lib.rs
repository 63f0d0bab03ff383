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
mod not_comparable;
mod options;
mod order;
mod package;
mod piece;
mod readings;
mod seen;
pub mod stored;
mod tables;
mod traits;
mod useless;
mod verdict;

pub use check::Checker;
pub use options::{Against, CheckOptions};
pub use piece::{Collector, Piece, Visit};

pub use compare::{sections, table_of};
pub use elf_file::parsed;
pub use not_comparable::{TablesError, UnusableSections};
pub(crate) use order::{Event, Resources, Weigh, in_order};
pub use order::{MAX_THREADS, number_of_threads};
pub use tables::{Tables, with_tables};

use std::io;

use judged::Judged;
use sframe_input::Input;
use sframe_input::repository::Entry;
use sframe_policy::Policy;
use sframe_record::{Events, Summary};

/// Takes what a scan finds, in input order. An error ends the scan.
pub trait Sink: Events {
    /// Called when some time has passed without a record.
    fn tick(&mut self, summary: &Summary<'_>);
}

/// Checks every input on `threads` threads; 0 is one thread per processor. `policy` says which of the findings count.
///
/// # Errors
/// Returns errors of the sink, and an error if threads cannot be started.
pub fn scan(
    inputs: impl Iterator<Item = Input>,
    options: &CheckOptions,
    policy: &Policy,
    threads: usize,
    sink: &mut dyn Sink,
) -> io::Result<Summary<'static>> {
    let checker = Checker::new(options);
    let check = |input, visit: Visit<'_>| checker.input(input, visit);
    let resources = Resources { threads, waiting: options.waiting };
    reported(inputs, check, resources, Judged::new(options, policy, sink))
}

/// Checks the packages that a repository lists, like [`scan`].
///
/// # Errors
/// Returns errors of the sink, and an error if threads cannot be started.
pub fn scan_repository(
    entries: impl Iterator<Item = Entry>,
    options: &CheckOptions,
    policy: &Policy,
    threads: usize,
    sink: &mut dyn Sink,
) -> io::Result<Summary<'static>> {
    let checker = Checker::new(options);
    let check = |entry, visit: Visit<'_>| checker.entry(entry, visit);
    let resources = Resources { threads, waiting: options.waiting };
    reported(entries, check, resources, Judged::new(options, policy, sink))
}

fn reported<I: Send>(
    inputs: impl Iterator<Item = I>,
    check: impl Fn(I, Visit<'_>) + Sync,
    resources: Resources,
    mut judged: Judged<'_>,
) -> io::Result<Summary<'static>> {
    let options = judged.options();
    let check = |input, visit: Visit<'_>| {
        if !options.is_stopped() {
            check(input, visit);
        }
    };
    let inputs = inputs.take_while(|_| !options.is_stopped());
    in_order(inputs, resources, check, |event| match event {
        Event::Done(piece) => judged.take(piece),
        Event::Waiting => {
            judged.tick();
            Ok(())
        }
    })?;
    Ok(judged.finish())
}
