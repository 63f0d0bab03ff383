//! The copies of libsframe on this machine.

use std::path::{Path, PathBuf};

/// The folder in which Debian packages have libraries.
const FOLDER: &str = "usr/lib/x86_64-linux-gnu";
const NAMES: [&str; 3] = ["libsframe.so.0", "libsframe.so.1", "libsframe.so.3"];

/// Each libsframe of the fetched toolchains (`corpus/build fetch`) or, without toolchains, of the
/// system. `SFRAME_LIBSFRAME` names other ones, separated by colons.
#[must_use]
pub fn libraries() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os("SFRAME_LIBSFRAME") {
        return std::env::split_paths(&named).collect();
    }
    let toolchains = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/toolchains");
    let fetched = in_roots(["2.40", "2.44", "2.47.50"].map(|name| toolchains.join(name)));
    if fetched.is_empty() { in_roots([PathBuf::from("/")]) } else { fetched }
}

fn in_roots(roots: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let libraries =
        roots.into_iter().flat_map(|root| NAMES.map(|name| root.join(FOLDER).join(name)));
    libraries.filter(|path| path.exists()).collect()
}
