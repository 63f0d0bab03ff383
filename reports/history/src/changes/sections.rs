//! Changes in the format and the size of SFrame sections.

use serde::Serialize;

/// Files whose sections have another format version or size than before. Those that went from one version to the same other
/// one are together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SectionChange {
    /// The version of the format in the old scan: `V2`; several if a file has several sections.
    pub old: String,
    /// The version in the new scan; the same if only sizes changed.
    pub new: String,
    /// The number of files.
    pub files: u64,
    /// The size of their sections in the old scan, in bytes.
    pub old_bytes: u64,
    /// The size in the new scan.
    pub new_bytes: u64,
    /// The first few files by name.
    pub examples: Vec<String>,
}
