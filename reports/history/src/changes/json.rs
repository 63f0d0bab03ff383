//! Writes the changes as JSON.

use std::io::{self, Write};

use super::Changes;

/// Writes the changes as one JSON document.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(out: &mut dyn Write, changes: &Changes) -> io::Result<()> {
    sframe_record::json::write(&mut *out, changes)?;
    writeln!(out)?;
    out.flush()
}

/// The JSON schema of the document.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Changes)
}
