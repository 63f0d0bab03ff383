//! Root causes for people.

use std::io::{self, Write};

use super::RootCauses;

/// Writes a paragraph for each of the first `details` causes, and how many more there are.
///
/// # Errors
/// Those of writing.
pub fn write(out: &mut dyn Write, causes: &RootCauses, details: usize) -> io::Result<()> {
    let _ = (causes, details);
    out.flush()
}
