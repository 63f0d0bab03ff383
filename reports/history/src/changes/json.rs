//! The changes as JSON.

use std::io::{self, Write};

use super::Changes;

/// Writes the changes as one document.
///
/// # Errors
/// Those of writing.
pub fn write(out: &mut dyn Write, changes: &Changes) -> io::Result<()> {
    serde_json::to_writer(&mut *out, changes)?;
    writeln!(out)?;
    out.flush()
}

/// The schema of the document.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Changes)
}
