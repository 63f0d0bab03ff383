//! Writes sizes as JSON. The schema is generated from the types.

use std::io::{self, Write};

use serde::Serialize;
use sframe_record::json::{FORMAT, TOOL, Tool};

use super::Sizes;

/// The document that `size --format json` writes.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "sframe-check size"))]
struct Document<'s> {
    /// The version of this format: 1.
    format: u32,
    /// The program that wrote it.
    tool: Tool,
    /// Each section, if there are few of them or `--by-file` is given.
    #[serde(skip_serializing_if = "is_empty")]
    sections: &'s [Sizes],
    /// The sums of all sections.
    total: &'s Sizes,
}

fn is_empty(sections: &&[Sizes]) -> bool {
    sections.is_empty()
}

/// Writes the sizes of sections and their sums as one JSON document.
///
/// # Errors
/// Returns an error if `out` cannot be written to.
pub fn write(out: &mut dyn Write, sections: &[Sizes], total: &Sizes) -> io::Result<()> {
    let document = Document { format: FORMAT, tool: TOOL, sections, total };
    sframe_record::json::write(&mut *out, &document)?;
    writeln!(out)?;
    out.flush()
}

/// The JSON schema of the document.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Document<'_>)
}
