//! What every JSON document has: its format's version, the program that wrote it, and names.

use schemars::JsonSchema;
use serde::Serialize;

use crate::text::printable;

/// The version of the formats. Fields may be added within a version; a reader skips what it does
/// not know.
pub const FORMAT: u32 = 1;

/// This program.
pub const TOOL: Tool = Tool { name: "sframe-check", version: env!("CARGO_PKG_VERSION") };

/// The program.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Tool {
    /// `sframe-check`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// The bytes of a name as text: as they are where they are valid UTF-8, for JSON escapes what it
/// has to, or else [`printable`].
#[must_use]
pub fn name(bytes: &[u8]) -> String {
    match str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => printable(bytes),
    }
}

/// The bytes of a name in hexadecimal, where [`name`] is not exact.
#[must_use]
pub fn exact_name(bytes: &[u8]) -> Option<String> {
    str::from_utf8(bytes).is_err().then(|| hex(bytes))
}

/// Bytes in hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
