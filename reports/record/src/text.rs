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

/// The path of a name's bytes.
#[must_use]
pub fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
