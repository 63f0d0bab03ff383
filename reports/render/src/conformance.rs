//! Writes what a reader made of conformance vectors as JSON. The schema is generated from the types.

use std::io::{self, Write};

use serde::Serialize;
use sframe_conformance::{Outcome, Verdict};
use sframe_record::json::{FORMAT, TOOL, Tool};

/// The document that `conformance --format json` writes.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "sframe-check conformance"))]
struct Document<'o> {
    /// The version of this format: 1.
    format: u32,
    /// The program that wrote it.
    tool: Tool,
    /// The vectors, in their order.
    vectors: Vec<VectorResult<'o>>,
}

/// What the reader made of a vector.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct VectorResult<'o> {
    /// The vector's name: its folder and file without the extension.
    name: &'o str,
    /// Whether the answers are right.
    verdict: VectorVerdict,
    /// The number of answers that were compared.
    checks: usize,
    /// What is wrong, in words.
    wrong: &'o [String],
    /// Whether the reader refused the section.
    refused: bool,
}

/// Whether the answers about a vector are right.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum VectorVerdict {
    /// All of them are.
    Pass,
    /// Some are wrong.
    Fail,
    /// The reader says that it is not made for the version, the machine, or the walks that the vector is about.
    Unsupported,
    /// The reader was given up before: it did not answer for three vectors in a row in time.
    Untested,
}

impl From<Verdict> for VectorVerdict {
    fn from(verdict: Verdict) -> VectorVerdict {
        match verdict {
            Verdict::Pass => VectorVerdict::Pass,
            Verdict::Fail => VectorVerdict::Fail,
            Verdict::Unsupported => VectorVerdict::Unsupported,
            Verdict::Untested => VectorVerdict::Untested,
        }
    }
}

/// Writes what a reader made of vectors as one JSON document.
///
/// # Errors
/// Returns an error if `out` cannot be written to.
pub fn write(out: &mut dyn Write, outcomes: &[Outcome]) -> io::Result<()> {
    let of = |outcome| {
        let &Outcome { ref name, verdict, checks, ref wrong, refused, .. } = outcome;
        VectorResult { name, verdict: verdict.into(), checks, wrong, refused }
    };
    let vectors = outcomes.iter().map(of).collect();
    sframe_record::json::write(&mut *out, &Document { format: FORMAT, tool: TOOL, vectors })?;
    writeln!(out)?;
    out.flush()
}

/// The JSON schema of the document.
#[must_use]
#[cfg(feature = "schema")]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Document<'_>)
}
