//! The types of ELF files.

use serde::{Deserialize, Serialize};

/// The type of an ELF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ElfType {
    /// A relocatable object (`ET_REL`).
    Relocatable,
    /// A program at a fixed address (`ET_EXEC`).
    Executable,
    /// A shared library, or a position-independent program (`ET_DYN`).
    Shared,
    /// Any other type.
    Other,
}
