//! Scans whose results last: planned as shards, each of which is checked and kept whole.
//!
//! The folder that keeps them, and what makes them durable, is `sframe-store`'s; here files become
//! its items and reports its records. [`plan`] finds what there is to check, [`check_shard`] checks
//! a part of it, [`summary`] reads what a store has kept.

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
