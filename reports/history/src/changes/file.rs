//! The changes in one file.

use std::fmt;

use serde::Serialize;

use super::{CountChange, CoverageChange, FindingChange};
use crate::Record;
use sframe_record::Text;

/// A file of one scan, or of both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileChange {
    /// Its name in the old scan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<FileName>,
    /// Its name in the new scan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<FileName>,
    /// How the files of both scans were matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<Matched>,
    /// Whether something got worse.
    pub worse: bool,
    /// What happened to the file as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub became: Option<Became>,
    /// Why it cannot be read, or its kind of file now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Findings that are new, fixed or changed; worst first.
    pub findings: Vec<FindingChange>,
    /// Rules whose count changed in a way that the listed findings do not explain.
    pub counts: Vec<CountChange>,
    /// The change of its coverage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<CoverageChange>,
    /// What cannot be decided, and why.
    pub undecided: Vec<String>,
}

impl FileChange {
    /// Its name in the new scan, or in the old scan if it is gone.
    #[must_use]
    pub fn name(&self) -> Option<&FileName> {
        self.new.as_ref().or(self.old.as_ref())
    }
}

/// The name of a file, or of a member of a package or archive, as in the formats of reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileName {
    /// The path.
    pub path: String,
    /// The path's bytes in hexadecimal, if they are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The path inside the package at `path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// The bytes of `inside` in hexadecimal, if they are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside_hex: Option<String>,
    /// The name of the archive member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The member's name in hexadecimal, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member_hex: Option<String>,
    /// The package's name from its metadata, if stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
}

impl FileName {
    /// The name of a record's file.
    pub(crate) fn of(record: &Record<'_>) -> FileName {
        let text = |text: &Option<Text<'_>>| text.as_ref().map(ToString::to_string);
        FileName {
            path: record.path.as_str().to_owned(),
            path_hex: text(&record.path_hex),
            inside: text(&record.inside),
            inside_hex: text(&record.inside_hex),
            member: text(&record.member),
            member_hex: text(&record.member_hex),
            package: record.package.as_ref().map(|package| package.name.as_str().to_owned()),
        }
    }
}

/// `PATH!INSIDE(MEMBER)`, as `sframe-check` names members.
impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(inside) = &self.inside {
            write!(f, "!{inside}")?;
        }
        if let Some(member) = &self.member {
            write!(f, "({member})")?;
        }
        Ok(())
    }
}

/// How a file of the old scan and one of the new scan were matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Matched {
    /// By the same name.
    Name,
    /// By the same package, path and member, ignoring versions.
    Version,
    /// By the same path relative to the scan's common root folder, ignoring versions.
    Root,
    /// By the same bytes under another name.
    Content,
    /// By the same package and file name in another folder.
    Folder,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Became {
    /// It can no longer be read, or checking it crashed the checker.
    Unreadable,
    /// It no longer has an SFrame section.
    SectionLost,
    /// Only the new scan has it.
    Came,
    /// Only the old scan has it.
    Gone,
    /// It is now a different kind of file.
    OtherKind,
    /// It can be read again.
    Readable,
    /// It now has an SFrame section.
    SectionGained,
    /// Only one scan has a record of it, and whether it was added or removed is unknown.
    Unmatched,
}
