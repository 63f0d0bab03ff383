//! Helpers for tests: the files of the corpus, the tools that results are compared with, runs of `sframe-check`, and
//! time.
//!
//! This package is a development dependency of the others, and depends on none of them. Its functions panic if
//! something is missing.

pub mod program;
pub mod steps;
pub mod time;
pub mod tools;
pub mod validate_cfi;
pub mod wrong_cfi;

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

/// All regular files below a folder, sorted by path. Links are not followed, and unreadable folders are skipped, so
/// callers should check the number of files.
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

/// All regular files below the folders that the variable `SFRAME_ROOTS` lists: systems of other machines, which
/// `.ci/roots` unpacks. None, if it is not set.
#[must_use]
pub fn files_of_roots() -> Vec<PathBuf> {
    let roots = std::env::var_os("SFRAME_ROOTS").unwrap_or_default();
    let roots = std::env::split_paths(&roots).filter(|root| !root.as_os_str().is_empty());
    roots
        .flat_map(|root| {
            let found = files(&root);
            assert!(!found.is_empty(), "no file below {}", root.display());
            found
        })
        .collect()
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

/// The golden files for which the corpus has the output of a tool, with that output. The tool is named by the
/// extension of the output: `objdump` or `readobj`.
#[must_use]
pub fn printed(tool: &str) -> Vec<(PathBuf, String)> {
    let text = |path: &PathBuf| fs::read_to_string(path).expect("text");
    golden(&[tool]).into_iter().map(|path| (path.with_extension(""), text(&path))).collect()
}

/// Makes an empty folder for a test: `folder!("name")`.
#[macro_export]
macro_rules! folder {
    ($name:expr) => {
        $crate::empty_folder(::core::env!("CARGO_TARGET_TMPDIR"), ($name).as_ref())
    };
}

/// Makes an empty folder. Tests use [`folder!`].
#[must_use]
pub fn empty_folder(place: &str, name: &str) -> PathBuf {
    let folder = Path::new(place).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// How many inputs a slow test tries: `few` after each change, `many` at night, when `SFRAME_NIGHTLY` is set.
#[must_use]
pub fn tries<T>(few: T, many: T) -> T {
    if std::env::var_os("SFRAME_NIGHTLY").is_some() { many } else { few }
}
