//! Results of scans, which other machines may have written: reports and stores, read again.

mod reports;
mod stores;

pub use reports::BEFORE;
pub use stores::{FRAME, Hashes, PART};

/// Reads a report, or a store where [`PART`] stands in the input, as it does in no JSON.
///
/// # Panics
/// Where a promise about either is broken.
pub fn run(data: &[u8]) {
    if data.contains(&PART) { stores::run(data) } else { reports::run(data) }
}
