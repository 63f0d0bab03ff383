//! What identifies a finding from one build to the next.

use std::fmt;

use sframe_record::{Finding, Record};

use crate::compare::names::{self, Versions};
use crate::shape;

/// Identifies a finding, also after the file was rebuilt or relinked, or its function moved.
///
/// It is made of the file's name without versions, the rule, the function's symbol, and the shape of the finding. Addresses,
/// offsets and numbers of rows are not part of it, so that several findings of a function may have the same identity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity([u8; 16]);

impl Identity {
    /// The identity of a finding of the file that `record` describes.
    ///
    /// ```
    /// use sframe_history::{Identity, Record};
    ///
    /// let of = |path: &str, address: &str| {
    ///     let line = format!(r#"{{"path":"{path}","status":"checked","findings":[
    ///         {{"rule":"fp-lost","severity":"warning","function":{{"start":"{address}","symbol":"f"}}}}]}}"#);
    ///     let record = Record::parse(&line).expect("a record");
    ///     Identity::of(&record, &record.findings[0])
    /// };
    /// // The function has moved, and the library has a new version.
    /// assert_eq!(of("lib/libfoo.so.1.2", "0x1000"), of("./lib/libfoo.so.1.3", "0x2000"));
    /// assert_ne!(of("lib/libfoo.so.1.2", "0x1000"), of("lib/libbar.so.1.2", "0x1000"));
    /// ```
    #[must_use]
    pub fn of(record: &Record<'_>, finding: &Finding<'_>) -> Identity {
        let function = finding.function.as_ref();
        let code = finding.code.as_ref();
        let symbol = function.and_then(|of| of.symbol.as_deref());
        let symbol = symbol.or_else(|| code.and_then(|of| of.symbol.as_deref()));
        let size = function.filter(|_| symbol.is_none()).map(|of| of.size.to_string());
        let symbol = symbol.map(names::symbol);
        let parts = [
            file(record),
            finding.rule.as_str().to_owned(),
            symbol.unwrap_or_default(),
            finding.elf_section.as_deref().unwrap_or_default().to_owned(),
            size.unwrap_or_default(),
            shape::of(finding),
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

    /// The name of a file as identities contain it, without versions: two names of which this is the same may be one file.
    #[must_use]
    pub fn file_name(name: &str) -> String {
        names::path(name.trim_start_matches("./"), Versions::LeaveOut)
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

/// The name of a file without versions: its package's instead of its package's path, if it has one.
fn file(record: &Record<'_>) -> String {
    let outer = match (&record.package, &record.inside) {
        (Some(package), Some(_)) => package.name.as_str().to_owned(),
        _ => Identity::file_name(&record.path),
    };
    let inside = record.inside.as_deref().map(Identity::file_name).unwrap_or_default();
    let member = record.member.as_deref().unwrap_or_default();
    format!("{outer}!{inside}({member})")
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
