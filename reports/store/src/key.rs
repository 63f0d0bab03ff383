//! What results depend on besides the bytes that are checked.

use serde::Serialize;

use crate::ContentHash;
use crate::field::{Defect, Object};

/// What results depend on besides the bytes: two scans with one key say the same of the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Key {
    /// The program with its version, such as `sframe-check 0.1.0`.
    pub tool: String,
    /// Hash of the rule catalogue: names, severities, whatever changes a finding.
    pub rules: ContentHash,
    /// Hash of the options that change what is found, separate debug files with them.
    pub options: ContentHash,
}

impl Key {
    /// The key as one hash.
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
