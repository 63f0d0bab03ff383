//! Reads reports and stores, which may come from other machines.

mod reports;
mod stores;

pub use reports::BEFORE;
pub use stores::{FRAME, Hashes, PART};

/// Reads a report, or a store if the input contains [`PART`], which never occurs in JSON.
///
/// # Panics
/// Panics if either violates a guarantee.
pub fn run(data: &[u8]) {
    if data.contains(&PART) { stores::run(data) } else { reports::run(data) }
}
