//! What identifies a finding from one build to the next.

mod root;

use std::fmt;

use sframe_record::Finding;

use crate::compare::names::{self, Versions};
use crate::shape;

pub use root::Root;

/// Identifies a file: its path relative to a [`Root`], without versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    hashed: String,
    shown: String,
}

impl FileIdentity {
    /// The name of the file for people, with its versions: `build/libfoo.so.1.2`, or `foo!usr/lib/libfoo.so.1.2` in a package
    /// called `foo`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shown
    }

    /// That name without versions: two names of which this is the same may be one file.
    #[must_use]
    pub fn without_versions(name: &str) -> String {
        names::path(name.trim_start_matches("./"), Versions::LeaveOut)
    }
}

/// Identifies a finding, also after the file was rebuilt or relinked, or its function moved.
///
/// It is made of the file's identity, the rule, the function's symbol, and the shape of the finding. Addresses,
/// offsets and numbers of rows are not part of it, so that several findings of a function may have the same identity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity([u8; 16]);

impl Identity {
    /// The identity of a finding of a file.
    ///
    /// ```
    /// use std::path::Path;
    /// use sframe_history::{Identity, Record, Root};
    ///
    /// let of = |root: &str, path: &str, address: &str| {
    ///     let line = format!(r#"{{"path":"{path}","status":"checked","findings":[
    ///         {{"rule":"fp-lost","severity":"warning","function":{{"start":"{address}","symbol":"f"}}}}]}}"#);
    ///     let record = Record::parse(&line).expect("a record");
    ///     let root = Root::of(Path::new(root), Path::new("/work"));
    ///     Identity::of(&root.file(&record), &record.findings[0])
    /// };
    /// let old = of("/work", "lib/libfoo.so.1.2", "0x1000");
    /// // The function has moved, and the library has a new version.
    /// assert_eq!(old, of("/work", "./lib/libfoo.so.1.3", "0x2000"));
    /// // It is in another checkout.
    /// assert_eq!(old, of("/other", "/other/lib/libfoo.so.1.2", "0x1000"));
    /// assert_ne!(old, of("/work", "lib/libbar.so.1.2", "0x1000"));
    /// ```
    #[must_use]
    pub fn of(file: &FileIdentity, finding: &Finding<'_>) -> Identity {
        let function = finding.function.as_ref();
        let code = finding.code.as_ref();
        let symbol = function.and_then(|of| of.symbol.as_deref());
        let symbol = symbol.or_else(|| code.and_then(|of| of.symbol.as_deref()));
        let size = function.filter(|_| symbol.is_none()).map(|of| of.size.to_string());
        let symbol = symbol.map(names::symbol);
        let parts = [
            file.hashed.as_str(),
            finding.rule.as_str(),
            &symbol.unwrap_or_default(),
            finding.elf_section.as_deref().unwrap_or_default(),
            &size.unwrap_or_default(),
            &shape::of(finding),
        ];
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let mut identity = [0; 16];
        hasher.finalize_xof().fill(&mut identity);
        Identity(identity)
    }

    /// Reads the 32 hexadecimal digits that [`Display`](fmt::Display) writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Identity> {
        let digits = Some(text)
            .filter(|text| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u128::from_str_radix(digits, 16).ok().map(|number| Identity(number.to_be_bytes()))
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::Identity;

    #[test]
    fn identities_are_read_as_they_are_written() {
        let identity = Identity([0xf0; 16]);
        assert_eq!(Identity::parse(&identity.to_string()), Some(identity));
        for damaged in
            ["", "f0", "g0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0", "+0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"]
        {
            assert_eq!(Identity::parse(damaged), None, "{damaged}");
        }
    }
}
