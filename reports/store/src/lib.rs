//! Results of scans that last: what `sframe-check` has to say of a tree, a pile of packages or a
//! whole distribution, kept so that it can be resumed, spread over machines, and asked for years.
//!
//! A [`Manifest`] says what is to be checked and in which shard. A [`Store`] is the folder that
//! holds the results, a file for each shard; a shard is there whole, or not there. When all shards
//! are, [`Store::merge`] marks it complete.
//!
//! A *record* is what a scan has to say of one file or member: a line of JSON, here kept as it
//! is. Files that are no ELF files have none, and are counted. Nothing in a store speaks of times,
//! machines or threads: the same inputs give the same bytes.
//!
//! With the feature `s3`, a `Bucket` is a store that machines have in common which share no folder.

#![forbid(unsafe_code)]

#[cfg(feature = "s3")]
mod bucket;
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
