//! What changed in one file.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::{CountChange, CoverageChange, FindingChange};
use crate::Record;
use sframe_record::Text;

/// A file of one scan, or of both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileChange {
    /// Its name in the old scan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<FileName>,
    /// Its name in the new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<FileName>,
    /// By what both are known to be one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched: Option<Matched>,
    /// Something got worse.
    pub worse: bool,
    /// What became of the file as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub became: Option<Became>,
    /// Why it cannot be read, or which kind of file it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Findings that are new, fixed or changed; worst first.
    pub findings: Vec<FindingChange>,
    /// Rules whose count changed by something that the listed findings do not tell.
    pub counts: Vec<CountChange>,
    /// What changed in who describes its functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<CoverageChange>,
    /// What cannot be told, and why.
    pub undecided: Vec<String>,
}

impl FileChange {
    /// Its name in the new scan, or in the old one where it is gone.
    #[must_use]
    pub fn name(&self) -> Option<&FileName> {
        self.new.as_ref().or(self.old.as_ref())
    }
}

/// The name of a file, or of a member of a package or archive, as in the report's formats.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct FileName {
    /// The path.
    pub path: String,
    /// Its bytes in hexadecimal, where they are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The path in the package at `path`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// Its bytes in hexadecimal, where they are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside_hex: Option<String>,
    /// The member of the archive there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// Its name in hexadecimal, where it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member_hex: Option<String>,
    /// The package's name, where it says one itself.
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

/// By what a file of the old scan and one of the new are known to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Matched {
    /// The same name.
    Name,
    /// The same package, path and member, apart from versions.
    Version,
    /// The same path below the folder that has all files of the scan, versions left out.
    Root,
    /// The same bytes, under another name.
    Content,
    /// The same package and file name, in another folder.
    Folder,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Became {
    /// It can no longer be read, or checking it ended the checker.
    Unreadable,
    /// It no longer has an SFrame section.
    SectionLost,
    /// Only the new scan has it.
    Came,
    /// Only the old scan has it.
    Gone,
    /// It is another kind of file.
    OtherKind,
    /// It can be read again.
    Readable,
    /// It now has an SFrame section.
    SectionGained,
    /// One scan alone has a record of it, and whether it came or went is not known.
    Unmatched,
}
