//! Where inputs are found.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::arguments::Mode;

/// How many folders above a script are looked at.
const DEEPEST: usize = 32;

/// A folder with `=` or `$SYSROOT` in front is below the sysroot.
pub(super) fn below(sysroot: &Path, folder: &Path) -> PathBuf {
    let bytes = folder.as_os_str().as_bytes();
    let rest = bytes.strip_prefix(b"=").or_else(|| bytes.strip_prefix(b"$SYSROOT"));
    match rest {
        Some(rest) => joined(sysroot, Path::new(OsStr::from_bytes(rest))),
        None => folder.to_owned(),
    }
}

fn joined(sysroot: &Path, path: &Path) -> PathBuf {
    match sysroot.as_os_str().is_empty() {
        true => path.to_owned(),
        false => sysroot.join(path.strip_prefix("/").unwrap_or(path)),
    }
}

/// The names of the files that `-l name` can mean.
pub(super) fn files(name: &OsStr, mode: Mode) -> Vec<OsString> {
    let with = |end: &str| {
        let mut file = OsString::from("lib");
        file.push(name);
        file.push(end);
        file
    };
    match name.as_bytes().strip_prefix(b":") {
        Some(exact) => vec![OsStr::from_bytes(exact).to_owned()],
        None if mode.archives_only => vec![with(".a")],
        None => vec![with(".so"), with(".a")],
    }
}

/// The files for `-l name`, of which the linker uses the first one that is for its machine.
pub(super) fn library(folders: &[PathBuf], name: &OsStr, mode: Mode) -> Vec<PathBuf> {
    let files = files(name, mode);
    let places = folders.iter().flat_map(|folder| files.iter().map(|file| folder.join(file)));
    places.filter(|path| path.is_file()).collect()
}

/// The file that a script names.
pub(super) fn in_script(
    sysroot: &Path,
    folders: &[PathBuf],
    script: &Path,
    name: &Path,
) -> Option<PathBuf> {
    if name.is_absolute() {
        let is_below = !sysroot.as_os_str().is_empty() && script.starts_with(sysroot);
        let path = if is_below { joined(sysroot, name) } else { name.to_owned() };
        return path.is_file().then_some(path);
    }
    let name = below(sysroot, name);
    let beside = script.parent().map(|folder| folder.join(&name));
    let found = folders.iter().map(|folder| folder.join(&name));
    beside.into_iter().chain([name.clone()]).chain(found).find(|path| path.is_file())
}

/// The file that an absolute name in a script means if the linker has a sysroot that contains the script.
pub(super) fn beside_sysroot(script: &Path, name: &Path) -> Option<PathBuf> {
    let name = name.strip_prefix("/").ok()?;
    let folders = script.ancestors().skip(1).take(DEEPEST);
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Whether a file is a startup object of a C library or compiler, by its name.
pub(super) fn is_startup(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let crt = [
        "crt0.o", "crt1.o", "Scrt1.o", "gcrt1.o", "Mcrt1.o", "rcrt1.o", "grcrt1.o", "crti.o",
        "crtn.o",
    ];
    let is_border =
        (name.starts_with("crtbegin") || name.starts_with("crtend")) && name.ends_with(".o");
    crt.contains(&name.as_ref()) || is_border || name == "crtfastmath.o"
}

/// The symbol that `--wrap` puts in place of another.
pub(super) fn wrapped(wrapped: &[Vec<u8>], name: &[u8]) -> Vec<u8> {
    if wrapped.iter().any(|wrapped| wrapped == name) {
        return [b"__wrap_", name].concat();
    }
    match name.strip_prefix(b"__real_") {
        Some(real) if wrapped.iter().any(|wrapped| wrapped == real) => real.to_vec(),
        _ => name.to_vec(),
    }
}
