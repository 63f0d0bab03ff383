//! Where inputs are found.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use sframe_record::text::printable_path;

use crate::arguments::Mode;
use crate::input::MemberName;
use crate::linker::Linker;

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
pub(super) fn library(
    linker: Linker,
    folders: &[PathBuf],
    name: &OsStr,
    mode: Mode,
) -> Vec<PathBuf> {
    let files = files(name, mode);
    let places = folders
        .iter()
        .flat_map(|folder| files.iter().map(|file| within(linker, folder, Path::new(file))));
    places.filter(|path| path.is_file()).collect()
}

/// A file in a folder, as the linker prints it (observed): GNU ld and gold add a slash to any folder, lld only if there is
/// none at its end, and mold prints the shortest path.
pub(super) fn within(linker: Linker, folder: &Path, file: &Path) -> PathBuf {
    match linker {
        Linker::Mold => shortest(&folder.join(file)),
        Linker::Ld240 | Linker::Ld244 | Linker::Ld247 | Linker::Gold if file.is_relative() => {
            let mut path = folder.as_os_str().to_owned();
            path.push("/");
            path.push(file);
            PathBuf::from(path)
        }
        _ => folder.join(file),
    }
}

/// A path without `.`, repeated slashes, and folders that `..` leaves.
pub(super) fn shortest(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(parts.components().next_back(), Some(Component::Normal(_))) =>
            {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts
}

/// A member of an archive, as the linker prints it (observed).
pub(super) fn member(linker: Linker, archive: &Path, member: &Path) -> MemberName {
    let archive = match linker {
        Linker::Mold => printable_path(&shortest(archive)),
        _ => printable_path(archive),
    };
    let member = printable_path(member);
    MemberName { printed: format!("{archive}({member})"), archive, member, file: None }
}

/// A member of a thin archive, as the linker prints it (observed). The archive stores the path of the member's file, from the
/// archive's folder: GNU ld prints where this leads, gold and mold the archive as well, and lld what is stored.
pub(super) fn thin_member(
    linker: Linker,
    archive: &Path,
    stored: &Path,
    file: &Path,
) -> MemberName {
    let name = match linker {
        Linker::Lld | Linker::Wild | Linker::Other => member(linker, archive, stored),
        _ => member(linker, archive, &beside(archive, stored)),
    };
    let printed = if linker.is_gnu_ld() { name.member.clone() } else { name.printed };
    MemberName { printed, file: Some(printable_path(file)), ..name }
}

/// A file from the folder of another one, whose path is kept up to its last slash.
fn beside(path: &Path, file: &Path) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    let slash = bytes.iter().rposition(|byte| *byte == b'/').filter(|_| file.is_relative());
    let folder = slash.and_then(|slash| bytes.get(..=slash)).unwrap_or_default();
    let mut joined = OsStr::from_bytes(folder).to_owned();
    joined.push(file);
    PathBuf::from(joined)
}

/// The file that a script names. gold looks in the script's folder and in those of `-L`, the others in the current one, too.
pub(super) fn in_script(
    linker: Linker,
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
    let beside = match (linker, script.parent()) {
        (Linker::Gold, _) => beside(script, &name),
        (_, Some(folder)) if folder.as_os_str().is_empty() && linker.is_gnu_ld() => {
            within(linker, Path::new("."), &name)
        }
        (_, folder) => within(linker, folder.unwrap_or(Path::new("")), &name),
    };
    let here = Some(name.clone()).filter(|_| linker != Linker::Gold);
    let found = folders.iter().map(|folder| within(linker, folder, &name));
    [beside].into_iter().chain(here).chain(found).find(|path| path.is_file())
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
