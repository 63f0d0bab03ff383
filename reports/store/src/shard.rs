//! A shard's file: the records of its items as lines, a line for each item that is done, and a
//! last line by which a reader knows that it is whole and whose it is.
//!
//! ```text
//! {"type":"file","path":"lib/a.so",...}                  a record of the next item
//! {"type":"item","item":7,"hash":"...","records":1}      item 7 is done: 1 record before this line
//! {"type":"item","item":9,"records":0,"without":{"not-elf":3}}
//! {"type":"end","format":1,"manifest":"...","key":"...","shard":0,"items":2,"records":1,
//!  "without":{"not-elf":3},"hash":"..."}                 BLAKE3 of all lines before, on one line
//! ```

mod line;
mod read;
mod writer;

pub use line::{ItemLine, ShardTotals};
pub use read::{ShardLine, ShardReader};
pub use writer::{Finished, ShardWriter};

pub(crate) use read::state;

use std::fmt;

/// What is known of a shard's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardState {
    /// There is none.
    Absent,
    /// It is whole, and of this manifest.
    Whole(ShardTotals),
    /// It is not what its writer has written.
    Damaged(String),
    /// It is whole, and of another manifest, key or number.
    Foreign(String),
}

impl fmt::Display for ShardState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShardState::Absent => f.write_str("absent"),
            ShardState::Whole(_) => f.write_str("whole"),
            ShardState::Damaged(reason) => write!(f, "damaged: {reason}"),
            ShardState::Foreign(reason) => write!(f, "of another scan: {reason}"),
        }
    }
}
