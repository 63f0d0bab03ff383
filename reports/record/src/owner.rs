//! Who has to act on a finding.

use serde::{Deserialize, Serialize};

/// Who has to act on a finding.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Owner {
    /// The author of the file's assembly and of its directives.
    Yours,
    /// The compiler, which wrote the directives of its code.
    Compiler,
    /// Unknown.
    #[default]
    Unknown,
    /// The assembler.
    Assembler,
    /// The linker.
    Linker,
    /// The C library's files that are part of each program, such as `crt1.o`.
    CRuntime,
}

impl Owner {
    /// Its identifier in JSON and in tables, which does not change.
    #[must_use]
    pub const fn identifier(self) -> &'static str {
        match self {
            Owner::Yours => "yours",
            Owner::Compiler => "compiler",
            Owner::Unknown => "unknown",
            Owner::Assembler => "assembler",
            Owner::Linker => "linker",
            Owner::CRuntime => "c-runtime",
        }
    }

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Owner::Yours => "yours",
            Owner::Compiler => "compiler",
            Owner::Unknown => "unknown",
            Owner::Assembler => "assembler",
            Owner::Linker => "linker",
            Owner::CRuntime => "C runtime",
        }
    }

    /// Whether nothing is known about who has to act.
    #[must_use]
    pub const fn is_unknown(&self) -> bool {
        matches!(self, Owner::Unknown)
    }
}
