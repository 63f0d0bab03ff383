//! Writes an audit as JSON. The schema is generated from the types.

use std::io::{self, Write};

use serde::Serialize;
use sframe_record::json::{FORMAT, TOOL, Tool};

use crate::audit::Audit;

/// The document that `link --format json` writes.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "sframe-check link"))]
struct Document<'a> {
    /// The version of this format: 1.
    format: u32,
    /// The program that wrote it.
    tool: Tool,
    #[serde(flatten)]
    audit: &'a Audit,
}

/// Writes an audit as one JSON document.
///
/// # Errors
/// Returns an error if `out` cannot be written to.
pub fn write(out: &mut dyn Write, audit: &Audit) -> io::Result<()> {
    sframe_record::json::write(&mut *out, &Document { format: FORMAT, tool: TOOL, audit })?;
    writeln!(out)?;
    out.flush()
}

/// The JSON schema of the document.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Document<'_>)
}
