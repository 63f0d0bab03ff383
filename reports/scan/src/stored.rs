//! Scans with stored results. A plan divides a scan into shards; each shard is checked and stored as a whole.
//!
//! `sframe-store` manages the folder and makes it durable. This module turns files into its items, and records into
//! its lines. [`plan`] finds the files to check, [`check_shard`] checks a part of them, and [`summary`] reads a
//! store.

mod alone;
mod error;
mod file;
mod key;
mod planner;
mod record;
mod shard;
mod total;

pub use alone::{Alone, check_alone, run_alone};
pub use error::{Error, Result};
pub use key::key;
pub use planner::{Planning, default_shards, plan};
pub use shard::{Scanner, check_shard};
pub use total::summary;
