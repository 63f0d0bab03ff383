//! Conversion of names from the input into printable text: see [`Text`].

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sframe_validator::text::Text;

/// A name or message from input as text that is safe to print.
#[must_use]
pub fn printable(name: impl AsRef<[u8]>) -> String {
    Text::of(name.as_ref()).to_string()
}

/// A path as text that is safe to print.
#[must_use]
pub fn printable_path(path: &Path) -> String {
    printable(path.as_os_str().as_bytes())
}

/// The maximum width of a table column. Cells of a malicious report may be of any length; longer ones stick out of
/// their column.
const WIDEST: usize = 80;

/// The width of a column in characters: that of its widest cell, but at most 80.
#[must_use]
pub fn column_width(cells: impl IntoIterator<Item = impl AsRef<str>>) -> usize {
    let widths = cells.into_iter().map(|cell| cell.as_ref().chars().count());
    widths.max().unwrap_or(0).min(WIDEST)
}

/// The path with these bytes.
#[must_use]
pub fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
