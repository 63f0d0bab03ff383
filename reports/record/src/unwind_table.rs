//! The table that SFrame and the code are compared with.

use serde::{Deserialize, Serialize};

/// The table that SFrame and the code are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UnwindTable {
    /// Call frame information.
    Cfi,
    /// The Linux kernel's ORC tables.
    Orc,
}

impl UnwindTable {
    /// As documents write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            UnwindTable::Cfi => "cfi",
            UnwindTable::Orc => "orc",
        }
    }

    /// As people call it.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            UnwindTable::Cfi => "CFI",
            UnwindTable::Orc => "ORC",
        }
    }

    /// As people call it where it may be absent.
    #[must_use]
    pub fn noun_of(table: Option<UnwindTable>) -> &'static str {
        table.unwrap_or(UnwindTable::Cfi).noun()
    }
}
