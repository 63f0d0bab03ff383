//! How serious it is to break a rule.

use serde::{Deserialize, Serialize};

/// How serious it is to break a rule; the most serious sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Breaks the specification, or makes a reader crash or produce wrong results.
    Error,
    /// Unusual, and may lose frames.
    Warning,
    /// Legal, but worth a look.
    Lint,
}

impl Severity {
    /// `error`, `warning` or `lint`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Lint => "lint",
        }
    }
}

impl From<sframe_validator::rules::Severity> for Severity {
    fn from(severity: sframe_validator::rules::Severity) -> Severity {
        match severity {
            sframe_validator::rules::Severity::Error => Severity::Error,
            sframe_validator::rules::Severity::Warning => Severity::Warning,
            sframe_validator::rules::Severity::Lint => Severity::Lint,
        }
    }
}
