//! A reader under test: its three functions, their parameters and answers. Each type is also a message of the line
//! protocol.

use std::collections::BTreeMap;
use std::fmt;
use std::num::ParseIntError;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::address::Address;
use crate::frame::Frame;
use crate::section::Section;

/// A reader of SFrame sections.
pub trait Reader {
    /// Reads a section, and describes it. The other functions are about the section that was opened last.
    fn open(&mut self, section: &Section) -> Answer<Opened>;

    /// The row that applies at an address, without any subtraction; `None` if there is none.
    fn lookup(&mut self, pc: u64) -> Answer<Option<Found>>;

    /// The stack frames from `start` outwards, the first of which is `start` itself.
    fn walk(&mut self, start: &Start) -> Answer<Walked>;
}

/// A reader's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// The answer.
    Given(T),
    /// The bytes are malformed, for this reason.
    Refused(String),
    /// The reader does not support this version, machine or function. It is neither right nor wrong.
    Unsupported(String),
    /// There is no answer.
    Lost(Lost),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The reader did not answer in time.
    NoAnswer,
    /// The reader closed its output, and did not end in time.
    Closed,
    /// The reader ended, with this status.
    Crashed(String),
    /// What it printed is not an answer, for this reason.
    NotAnAnswer(String),
    /// It cannot be started, or the system refuses to pass on a request.
    NotStarted(String),
}

impl Lost {
    /// Whether it took as long as an answer may take.
    #[must_use]
    pub const fn is_late(&self) -> bool {
        matches!(self, Lost::NoAnswer | Lost::Closed)
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lost::NoAnswer => f.write_str("no answer in time"),
            Lost::Closed => f.write_str("closed its output, and did not end in time"),
            Lost::Crashed(status) => write!(f, "crashed: {status}"),
            Lost::NotAnAnswer(reason) => write!(f, "not an answer: {reason}"),
            Lost::NotStarted(reason) => write!(f, "cannot be started: {reason}"),
        }
    }
}

/// A section as a reader understands it. What a reader does not report is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<Header>,
    /// The functions, in the order of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub functions: Option<Vec<Function>>,
}

/// The header's fields, with the specification's names less their prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the specification's names")]
#[serde(default)]
pub struct Header {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flags: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abi_arch: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cfa_fixed_fp_offset: Option<i8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cfa_fixed_ra_offset: Option<i8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auxhdr_len: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_fdes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_fres: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fre_len: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fdeoff: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freoff: Option<u32>,
}

/// The key with which return addresses are signed (AArch64).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Key {
    /// The A key.
    A,
    /// The B key.
    B,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Function {
    /// The address of its first byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<Address>,
    /// The size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// The size of the block that repeats; 0 for ordinary functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    /// The FDE type: `default` or `flex`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub fde_type: Option<String>,
    /// Whether it is a signal frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<bool>,
    /// The key for return addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Key>,
    /// The rows, in stored order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<Row>>,
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The offset from the function's start, or from the block's.
    pub start: u32,
    /// The row's meaning.
    #[serde(flatten)]
    pub frame: Frame,
}

/// The answer to a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The start of the function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<Address>,
    /// The row's meaning.
    pub frame: Frame,
}

/// Where a walk starts: the innermost frame's registers, and the memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The address of the next instruction.
    pub pc: Address,
    /// Values of registers, by DWARF number.
    #[serde(deserialize_with = "by_number")]
    pub registers: BTreeMap<u32, Address>,
    /// The memory that can be read.
    pub memory: Vec<Memory>,
    /// The number of bits in a pointer without a signature (AArch64).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer_bits: Option<u32>,
}

/// Keys are text in JSON. In a flattened structure, serde does not read them as numbers.
fn by_number<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<u32, Address>, D::Error> {
    let named = BTreeMap::<String, Address>::deserialize(deserializer)?;
    let numbered = named.into_iter().map(|(name, value)| Ok((name.parse()?, value)));
    numbered.collect::<Result<_, ParseIntError>>().map_err(D::Error::custom)
}

/// A piece of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The address of the first byte.
    pub address: Address,
    /// The bytes, in hexadecimal.
    pub hex: String,
}

/// Why a walk ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// RA is undefined: the last frame has no caller.
    Outermost,
    /// No row covers the last frame's PC.
    Uncovered,
    /// A register or memory is needed that cannot be read, the stack does not grow, or the walk is too long.
    Error,
}

/// The frames of a walk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walked {
    /// The frames, innermost first.
    pub frames: Vec<WalkedFrame>,
    /// Why there are no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
}

/// A frame of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WalkedFrame {
    /// The PC: of a caller, the return address.
    pub pc: Address,
    /// SP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sp: Option<Address>,
    /// FP, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fp: Option<Address>,
}

/// A request of the line protocol.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Request {
    /// [`Reader::open`].
    Open {
        /// The section.
        section: Section,
    },
    /// [`Reader::lookup`].
    Lookup {
        /// The address.
        pc: Address,
    },
    /// [`Reader::walk`].
    Walk(Start),
}
