//! Lines that do not belong where they are in a shard.

use std::error::Error;
use std::fmt;
use std::str::Utf8Error;

use crate::ContentHash;
use crate::counts::MAX_KINDS;
use crate::field::Defect;
use crate::lines::MAX_LINE;

/// Why a line cannot be in a shard, or not at its place.
#[derive(Debug)]
pub(super) enum LineError {
    /// The record is longer than a line may be.
    TooLong(usize),
    /// The record does not start as records do.
    NotARecord,
    /// The record has a line feed between its values.
    LineFeed,
    /// The record is not UTF-8.
    NotUtf8(Utf8Error),
    /// The record is not JSON, or has other fields.
    Unreadable(serde_json::Error),
    /// A record follows the last item.
    AfterLastItem,
    /// The record is about another file than the item.
    OtherFile {
        /// The path in the record.
        path: String,
        /// The number of the item.
        number: u32,
        /// The item's path.
        item: String,
    },
    /// The manifest lists another item here.
    OutOfOrder(u32),
    /// The item's line states another number of records.
    Records {
        /// The number of the item.
        number: u32,
        /// The number of its records.
        records: u64,
        /// The number that its line states.
        stated: u64,
    },
    /// The item has neither a record nor a file without one.
    Empty(u32),
    /// The item's hash is not the manifest's.
    Hash {
        /// The number of the item.
        number: u32,
        /// Its hash.
        hash: ContentHash,
        /// The manifest's.
        planned: ContentHash,
    },
    /// The files without a record are of too many kinds.
    Kinds,
    /// Lines follow the last one.
    AfterEnd,
    /// A field of the line is invalid.
    Field(Defect),
    /// Shards have no lines like the one with this number.
    UnknownKind(u64),
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineError::TooLong(size) => write!(f, "a record of {size} bytes, allowed: {MAX_LINE}"),
            LineError::NotARecord => {
                f.write_str("a record that does not start with {\"type\":\"file\",")
            }
            LineError::LineFeed => f.write_str("a record that holds a line feed"),
            LineError::NotUtf8(error) => write!(f, "the record cannot be read: {error}"),
            LineError::Unreadable(error) => write!(f, "the record cannot be read: {error}"),
            LineError::AfterLastItem => f.write_str("a record follows the last item"),
            LineError::OtherFile { path, number, item } => {
                write!(f, "a record of {path:?} among those of item {number}, {item:?}")
            }
            LineError::OutOfOrder(number) => write!(f, "item {number} is out of order"),
            LineError::Records { number, records, stated } => {
                write!(f, "item {number} has {records} records, but its line states {stated}")
            }
            LineError::Empty(number) => {
                write!(f, "item {number} has neither a record nor a file without one")
            }
            LineError::Hash { number, hash, planned } => {
                write!(f, "item {number} has the hash {hash}, but {planned} in the manifest")
            }
            LineError::Kinds => write!(f, "more than {MAX_KINDS} kinds without a record"),
            LineError::AfterEnd => f.write_str("lines follow its last one"),
            LineError::Field(defect) => write!(f, "{defect}"),
            LineError::UnknownKind(number) => {
                write!(f, "line {number} is neither a record nor an item")
            }
        }
    }
}

impl Error for LineError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            LineError::NotUtf8(error) => Some(error),
            LineError::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}
