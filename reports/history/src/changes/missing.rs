//! Files that the new scan does not have. Their findings are neither fixed nor still there.

use serde::Serialize;

use super::{Became, FileChange, SeverityCounts};

/// The files of a package that the new scan does not have, or such files in no package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingFiles {
    /// The package: its name, or the path of its file without versions. Absent for files in no package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The number of these files.
    pub files: u64,
    /// The number of files that the old scan has of the package, or in no package.
    pub of: u64,
    /// Their findings in the old scan.
    pub findings: SeverityCounts,
}

impl MissingFiles {
    /// Whether the new scan has nothing of the package.
    #[must_use]
    pub fn is_whole_package(&self) -> bool {
        self.package.is_some() && self.files == self.of
    }
}

/// The package of a file that is missing; `None` if it is not missing, or in no package. A package without a name has its
/// path, which must have no version then.
pub(super) fn package_of(change: &FileChange) -> Option<&String> {
    let name = change.old.as_ref().filter(|_| change.became == Some(Became::Gone))?;
    name.package.as_ref().or(name.inside.as_ref().map(|_| &name.path))
}
