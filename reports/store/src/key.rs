//! Everything besides the checked bytes that affects the results.

use serde::Serialize;

use crate::ContentHash;
use crate::field::{Defect, Object};

/// Everything besides the checked bytes that affects the results: two scans with the same key have the same results for
/// the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Key {
    /// The program and its version, such as `sframe-check 0.1.0`.
    pub tool: String,
    /// The hash of the rule catalogue: names, severities, and everything else that affects findings.
    pub rules: ContentHash,
    /// The hash of the options that affect findings, including the separate debug files.
    pub options: ContentHash,
}

impl Key {
    /// The hash of the key.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.rules.as_bytes());
        hasher.update(self.options.as_bytes());
        hasher.update(self.tool.as_bytes());
        hasher.finalize().into()
    }

    pub(crate) fn read(object: &Object) -> Result<Key, Defect> {
        let tool = object.text("tool")?.to_owned();
        Ok(Key { tool, rules: object.hash("rules")?, options: object.hash("options")? })
    }
}
