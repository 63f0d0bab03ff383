//! The folder of a web site: what we did not write, we do not overwrite.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path};

/// The file that marks a folder as ours. It lists the files of the web site.
const MARKER: &str = ".sframe-site";

pub(crate) fn write(files: &BTreeMap<String, Vec<u8>>, folder: &Path) -> io::Result<()> {
    clear(folder).map_err(|error| named(folder, &error))?;
    let paths: Vec<&str> = files.keys().map(String::as_str).collect();
    // First, so that an interrupted run can be repeated.
    fs::write(folder.join(MARKER), paths.join("\n") + "\n")?;
    for (path, bytes) in files {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, bytes).map_err(|error| named(&path, &error))?;
    }
    Ok(())
}

/// Makes the folder, or removes the files of an earlier web site from it.
fn clear(folder: &Path) -> io::Result<()> {
    let old = match fs::read_to_string(folder.join(MARKER)) {
        Ok(old) => old,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            fs::create_dir_all(folder)?;
            let is_empty = fs::read_dir(folder)?.next().is_none();
            let refusal = "the folder is not empty, and not a web site that this program wrote";
            return if is_empty { Ok(()) } else { Err(io::Error::other(refusal)) };
        }
        Err(error) => return Err(error),
    };
    for path in old.lines().map(Path::new) {
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside {
            continue;
        }
        match fs::remove_file(folder.join(path)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
