//! A case: a file for readers, and the behaviour expected of them.

use serde::Serialize;
use sframe_validator::rules::{Rule, Severity};
use sframe_validator::section::Flags;
use sframe_validator::{Abi, Version};

/// How a conforming reader treats a case, besides ending by itself, in time, and within its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Duty {
    /// Read it: the section is sound. A reader that refuses it does not support the version or the machine.
    Read,
    /// Refuse it: the format gives the bytes no meaning, because something that is needed is outside the section, or
    /// has a code that the version does not define.
    Refuse,
    /// It may do either: the bytes can be read, though they may make no sense.
    Survive,
}

/// The origin of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Sound sections of each version and machine.
    Sound,
    /// One broken rule: the files of `corpus/malformed`.
    Malformed,
    /// One broken rule in a section of an older version.
    Defect,
    /// Sections and files that promise far more than they contain.
    Bomb,
}

/// A file for readers.
#[derive(Clone, Debug)]
pub struct Case {
    /// The folder and name of the file, unique.
    pub name: String,
    /// The origin of the case.
    pub kind: Kind,
    /// The rule that it breaks, if it is about a rule.
    pub rule: Option<&'static Rule>,
    /// For a bomb: why it cannot be read, or what it promises, in one sentence.
    pub reason: Option<&'static str>,
    /// The behaviour expected of readers.
    pub duty: Duty,
    /// The format of the section according to its header; `None` if the header has an undefined value.
    pub format: Option<Format>,
    /// The file's contents.
    pub bytes: Vec<u8>,
}

/// What a reader must know to read a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The version.
    pub version: Version,
    /// The machine.
    pub abi: Abi,
    /// Whether the starts of functions are relative to the field that contains them; always true in version 3.
    pub pc_relative: bool,
}

impl Format {
    /// The format stated by the first bytes of a section.
    pub(super) fn of(section: &[u8]) -> Option<Format> {
        let version = Version::from_number(*section.get(2)?)?;
        let flags = Flags(*section.get(3)?);
        let abi = Abi::from_id(*section.get(4)?)?;
        let pc_relative = match version {
            Version::V1 => false,
            Version::V2 => flags.pcrel(),
            Version::V3 => true,
        };
        Some(Format { version, abi, pc_relative })
    }
}

/// Rules whose violation makes a section, or one of its functions, unreadable.
const NO_READING: &[&str] = &[
    // No header, or another format's.
    "section-truncated",
    "bad-magic",
    "unknown-version",
    "unknown-abi",
    // Parts outside the section.
    "auxiliary-header-outside",
    "function-table-outside",
    "rows-outside",
    "rows-offset-outside",
    "row-truncated",
    // Codes that are not defined.
    "fre-type",
    "fde-type",
    "word-size-reserved",
    // Control words that lead past the row's words.
    "flex-layout",
];

impl Duty {
    /// The behaviour expected of readers for a section that breaks `rule`.
    pub(super) fn on_breach(rule: &Rule) -> Duty {
        debug_assert!(rule.severity == Severity::Error || !NO_READING.contains(&rule.name));
        if NO_READING.contains(&rule.name) { Duty::Refuse } else { Duty::Survive }
    }
}
