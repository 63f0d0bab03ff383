//! The checked-in files, as inputs.

#![allow(dead_code, unreachable_pub, reason = "shared by several test programs")]

use std::path::{Path, PathBuf};

use sframe_validator::elf::Elf;

/// A checked-in file.
#[derive(Clone, Debug)]
pub struct File {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// Every ELF file, archive and bare section below `corpus/`, in the order of their names.
pub fn files() -> Vec<File> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")];
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
            if bare || Elf::is_elf(&bytes) || bytes.starts_with(b"!<arch>") {
                files.push(File { path, bytes });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(files.len() > 500, "only {} files", files.len());
    files
}

/// The SFrame sections of all files.
pub fn sections() -> Vec<File> {
    let mut sections = Vec::new();
    for File { path, bytes } in files() {
        let Ok(elf) = Elf::parse(&bytes) else {
            if !bytes.starts_with(b"!<arch>") {
                sections.push(File { path, bytes });
            }
            continue;
        };
        for section in elf.sframe_sections() {
            if let Ok(data) = elf.section_data(section) {
                sections.push(File { path: path.clone(), bytes: data.to_vec() });
            }
        }
    }
    sections
}
