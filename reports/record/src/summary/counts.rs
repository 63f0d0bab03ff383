//! What a summary counts, each with a list of its own.

use serde::{Deserialize, Serialize};

use crate::value::{Text, is_zero};

/// The number of files of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindCount<'r> {
    /// The kind: an identifier that does not change, such as `fifo`, or the machine of unsupported files.
    #[serde(borrow)]
    pub kind: Text<'r>,
    /// The number of files.
    pub count: u64,
}

/// The number of sections with a version and machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SectionCount<'r> {
    /// `V1`, `V2`, `V3`, or `unreadable header`.
    #[serde(borrow)]
    pub version: Text<'r>,
    /// The machine; empty if the header cannot be read.
    #[serde(borrow)]
    pub machine: Text<'r>,
    /// The number of sections.
    pub count: u64,
}

impl SectionCount<'_> {
    /// The version of sections whose header cannot be read.
    pub const UNREADABLE: &'static str = "unreadable header";
}

/// How often the rules of a group were broken.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupCount<'r> {
    /// The group's name. Each rule belongs to one group.
    #[serde(borrow)]
    pub group: Text<'r>,
    /// Findings of severity error.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Findings of severity lint.
    pub lints: u64,
}

/// The number of findings that do not count, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SuppressedCount<'r> {
    /// Why they do not count.
    #[serde(borrow)]
    pub reason: Text<'r>,
    /// The number of findings.
    pub count: u64,
    /// The number of files.
    pub files: u64,
}

/// A requirement of the command line that the files do not meet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailedGate<'r> {
    /// The option, without dashes: `min-coverage`.
    #[serde(borrow)]
    pub gate: Text<'r>,
    /// Whether they may meet it after all: it could not be decided.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undecided: bool,
    /// What they lack.
    #[serde(borrow)]
    pub message: Text<'r>,
}
