//! The checked-in files, as inputs.

#![allow(dead_code, unreachable_pub, reason = "shared by several test programs")]

use sframe_fuzz::seeds;
use sframe_validator::elf::Elf;

pub use sframe_fuzz::seeds::File;

/// Every ELF file, archive and bare section below `corpus/`, in the order of their names.
pub fn files() -> Vec<File> {
    let files = seeds::files(&sframe_corpus::corpus());
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
