//! The corpus, for tests: its files, the tools that it is compared with, and runs of `sframe-check`.
//!
//! It is a development dependency of the other packages, and depends on none of them. What is missing ends a test: every
//! function here may panic.

pub mod program;
pub mod tools;

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
#[must_use]
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("in the repository").to_owned()
}

/// The folder of the corpus.
#[must_use]
pub fn corpus() -> PathBuf {
    env!("CARGO_MANIFEST_DIR").into()
}

/// The bytes of a file of the corpus.
#[must_use]
pub fn read(name: &str) -> Vec<u8> {
    let path = corpus().join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All regular files below a folder, in the order of their paths. Links are not followed, and folders that cannot be read are
/// left out: callers know how many files there have to be.
#[must_use]
pub fn files(root: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![root.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    files
}

/// The golden files whose names have one of these extensions.
#[must_use]
pub fn golden(extensions: &[&str]) -> Vec<PathBuf> {
    let found = files(&corpus().join("golden"));
    let is_wanted = |path: &PathBuf| {
        path.extension().is_some_and(|found| extensions.iter().any(|wanted| found == *wanted))
    };
    let found: Vec<PathBuf> = found.into_iter().filter(is_wanted).collect();
    assert!(found.len() > 50, "only {} golden files of {extensions:?}", found.len());
    found
}

/// The golden files of which a tool's output is in the corpus, and that output. The tool is the extension: `objdump`,
/// `readobj`.
#[must_use]
pub fn printed(tool: &str) -> Vec<(PathBuf, String)> {
    let text = |path: &PathBuf| fs::read_to_string(path).expect("text");
    golden(&[tool]).into_iter().map(|path| (path.with_extension(""), text(&path))).collect()
}

/// A folder of a test's own, empty at its start: `folder!("name")`.
#[macro_export]
macro_rules! folder {
    ($name:expr) => {
        $crate::empty_folder(::core::env!("CARGO_TARGET_TMPDIR"), ($name).as_ref())
    };
}

/// An empty folder; [`folder!`] says where tests have them.
#[must_use]
pub fn empty_folder(place: &str, name: &str) -> PathBuf {
    let folder = Path::new(place).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}
