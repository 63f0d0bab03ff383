//! The report of a comparison of two scans.

use std::io::{self, Write};

use sframe_history::changes::Changes;

/// Writes the changes as one HTML file.
///
/// # Errors
/// Returns an error if writing fails.
pub fn write(_out: &mut dyn Write, _changes: &Changes) -> io::Result<()> {
    Ok(())
}
