//! Names from input as text: see [`Text`].

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

/// The widest column of a table. Cells of a hostile report may have any length: longer ones stick
/// out of their column.
const WIDEST: usize = 80;

/// How wide a column is printed: as its widest cell, but at most 80 characters.
#[must_use]
pub fn column_width(cells: impl IntoIterator<Item = impl AsRef<str>>) -> usize {
    let widths = cells.into_iter().map(|cell| cell.as_ref().chars().count());
    widths.max().unwrap_or(0).min(WIDEST)
}

/// The path of a name's bytes.
#[must_use]
pub fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
