//! The file of a shard: the records of its items as lines, a line for each finished item, and a last line that shows
//! that the file is complete and which scan it belongs to.
//!
//! ```text
//! {"type":"file","path":"lib/a.so",...}                  a record of the next item
//! {"type":"item","item":7,"hash":"...","records":1}      item 7 is done: 1 record before this line
//! {"type":"item","item":9,"records":0,"without":{"not-elf":3}}
//! {"type":"end","format":1,"manifest":"...","key":"...","shard":0,"items":2,"records":1,
//!  "without":{"not-elf":3},"hash":"..."}                 BLAKE3 of all lines before, on one line
//! ```

mod line;
mod line_error;
mod read;
mod tally;
mod writer;

pub use line::{ItemLine, ShardTotals};
pub use read::{ShardLine, ShardReader};
pub use writer::{Finished, ShardWriter};

pub(crate) use read::{begins, state};

use std::fmt;

/// The state of a shard's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardState {
    /// The file does not exist.
    Absent,
    /// It is complete and belongs to this manifest.
    Whole(ShardTotals),
    /// It is damaged; contains the reason.
    Damaged(String),
    /// It is complete, but belongs to another manifest, key or shard number; contains the difference.
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
