//! Files that cases need and no tool makes. A case asks for one with `$ fixture NAME`.

use std::path::Path;

/// Makes what is called `name` in a folder.
pub(crate) fn make(name: &str, _folder: &Path) {
    panic!("there is no fixture {name}");
}
