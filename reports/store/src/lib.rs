//! Durable results of scans: what `sframe-check` reports about a directory tree, a set of packages or a whole
//! distribution, stored so that a scan can be resumed, distributed over machines, and queried years later.
//!
//! A [`Manifest`] lists what is to be checked and in which shard. A [`Store`] is the folder with the results, one file
//! for each shard; a shard is either complete or absent. When all shards are complete, [`Store::merge`] marks the store
//! as complete.
//!
//! A *record* is the result for one file or archive member: a line of JSON, stored unchanged. Files that are not ELF
//! files have no record and are only counted. A store contains no times, machine names or thread counts: the same
//! inputs give the same bytes.
//!
//! With the feature `s3`, a `Bucket` is a store for machines without a shared folder. With the feature `tables`, merging
//! also writes the records as tables in Parquet.

#![forbid(unsafe_code)]

#[cfg(feature = "s3")]
mod bucket;
mod claim;
mod counts;
mod durable;
mod error;
mod examine;
mod field;
mod files;
mod hash;
mod journal;
mod key;
mod layout;
mod lines;
mod manifest;
mod path_name;
mod previous;
mod run;
mod shard;
mod stamps;
mod status;
mod store;
#[cfg(feature = "tables")]
pub mod tables;
mod verify;

#[cfg(feature = "s3")]
pub use bucket::Bucket;
pub use counts::Counts;
pub use error::{Error, Result};
pub use examine::status;
pub use field::Defect;
pub use hash::{ContentHash, NotAHash};
pub use journal::{Journal, Working};
pub use key::Key;
pub use manifest::{FORMAT, Item, MAX_ITEMS, MAX_SHARDS, Manifest, Plan};
pub use previous::{Previous, Unchanged};
pub use run::{Run, Totals};
pub use shard::{Finished, ItemLine, ShardLine, ShardReader, ShardState, ShardTotals, ShardWriter};
pub use stamps::{Known, Stamps, StampsWriter};
pub use status::{DamagedFile, DamagedShard, NO_HASHES, Remedy, Status};
pub use store::{Merged, Shard, Store};
