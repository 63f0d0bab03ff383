//! The checked-in files, as inputs of targets.

mod packages;
mod scans;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sframe_validator::Abi;
use sframe_validator::elf::Elf;

pub use packages::packages;
pub use scans::scans;

/// A checked-in file.
#[derive(Clone, Debug)]
pub struct File {
    /// The file's path.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// All ELF files, archives and bare sections below a folder, ordered by name.
///
/// # Panics
/// Panics if a file cannot be read.
#[must_use]
pub fn files(folder: &Path) -> Vec<File> {
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).expect("readable");
            let bare = path.extension().is_some_and(|extension| extension == "sframe");
            if bare || Elf::is_elf(&bytes) || is_archive(&bytes) {
                files.push(File { path, bytes });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"!<arch>")
}

/// The SFrame sections of files, without duplicates.
#[must_use]
pub fn sections(files: &[File]) -> Vec<Vec<u8>> {
    let mut sections = BTreeSet::new();
    for File { bytes, .. } in files {
        let Ok(elf) = Elf::parse(bytes) else {
            if !is_archive(bytes) {
                sections.insert(bytes.clone());
            }
            continue;
        };
        let data = elf.sframe_sections().filter_map(|section| elf.section_data(section).ok());
        sections.extend(data.map(<[u8]>::to_vec));
    }
    sections.into_iter().collect()
}

/// The `.eh_frame` and `.debug_frame` sections of files, without duplicates, in the form that the target `cfi` takes:
/// first the bytes that mark the input as a section and give its kind and machine, then the section.
#[must_use]
pub fn cfi(files: &[File]) -> Vec<Vec<u8>> {
    let mut inputs = BTreeSet::new();
    for File { bytes, .. } in files {
        let Ok(elf) = Elf::parse(bytes) else { continue };
        let Some(abi) = elf.abi().and_then(|abi| Abi::ALL.iter().position(|a| *a == abi)) else {
            continue;
        };
        for (kind, name) in [".eh_frame", ".debug_frame"].into_iter().enumerate() {
            let named =
                elf.sections().iter().filter(|section| section.name.bytes() == name.as_bytes());
            for data in named.filter_map(|section| elf.section_data(section).ok()) {
                let choice = (abi << 1 | kind) as u8;
                inputs.insert([&[0, choice][..], data].concat());
            }
        }
    }
    inputs.into_iter().collect()
}
