//! Tests with separate debug files that GNU tools made: they are found, accepted only if they match exactly, and read
//! with the addresses of the file to which they belong.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use sframe_corpus::folder;
use sframe_corpus::tools::run;
use sframe_oracle::cfi::{Cfi, Kind};
use sframe_oracle::debug_file::{Mismatch, build_id, candidates, check, debug_link};
use sframe_validator::elf::Elf;

/// Builds a program whose CFI is only in `.debug_frame`, strips it, and makes its debug file.
fn built(folder: &Path, link: &str) -> bool {
    let source = "int leaf(int x) { return x + 1; }\n\
                  int _start(void) { volatile int y = 3; return leaf(y); }\n";
    fs::write(folder.join("program.c"), source).expect("writable");
    run(
        folder,
        "objcopy",
        &format!(
            "gcc -g -O1 -fno-asynchronous-unwind-tables -fno-unwind-tables -nostdlib -static {link} -o program program.c"
        ),
    ) && run(folder, "objcopy", "objcopy --only-keep-debug program program.debug")
        && run(
            folder,
            "objcopy",
            "objcopy --strip-debug --add-gnu-debuglink=program.debug program stripped",
        )
}

fn read(path: impl AsRef<Path>) -> Vec<u8> {
    fs::read(path).expect("readable")
}

#[test]
fn a_debug_file_by_build_id() {
    let folder = folder!("by-build-id");
    if !built(&folder, "-Wl,--build-id=0xabcdef0123456789") {
        return;
    }
    let stripped = read(folder.join("stripped"));
    let elf = Elf::parse(&stripped).expect("ELF");
    assert_eq!(build_id(&elf), Some([0xab, 0xcd, 0xef, 1, 0x23, 0x45, 0x67, 0x89].as_slice()));
    let places = candidates(&folder.join("stripped"), &elf, &[PathBuf::from("/debug")]);
    assert_eq!(places[0], Path::new("/debug/.build-id/ab/cdef0123456789.debug"));
    assert_eq!(places[1], folder.join("program.debug"));
    assert_eq!(places[2], folder.join(".debug/program.debug"));
    let below = Path::new("/debug").join(folder.strip_prefix("/").expect("absolute"));
    assert_eq!(places[3], below.join("program.debug"));

    let debug = read(folder.join("program.debug"));
    assert_eq!(check(&elf, &debug), Ok(()));
    // The file itself has no CFI. The CFI in its debug file is about the file's own code.
    assert!(Cfi::load_all(&elf).expect("readable").iter().all(Cfi::is_empty));
    let debug = Elf::parse(&debug).expect("ELF");
    let cfi = Cfi::load_all(&debug).expect("readable");
    let [cfi] = cfi.as_slice() else { panic!("one section of CFI") };
    assert_eq!((cfi.kind(), cfi.len()), (Some(Kind::DebugFrame), 2));
    let text = elf.sections().iter().find(|section| section.name == b".text").expect(".text");
    for function in cfi.functions() {
        assert!(text.contains(function.start().address, function.size()));
    }
}

#[test]
fn another_build_is_not_accepted() {
    let (one, other) = (folder!("one-build"), folder!("other-build"));
    if !built(&one, "-Wl,--build-id=0x01") || !built(&other, "-Wl,--build-id=0x02") {
        return;
    }
    let stripped = read(one.join("stripped"));
    let elf = Elf::parse(&stripped).expect("ELF");
    assert_eq!(check(&elf, &read(one.join("program.debug"))), Ok(()));
    assert_eq!(check(&elf, &read(other.join("program.debug"))), Err(Mismatch::BuildId));
    assert_eq!(check(&elf, b"\x7fELF"), Err(Mismatch::NotElf));
}

#[test]
fn without_a_build_id_the_checksum_decides() {
    let folder = folder!("by-checksum");
    if !built(&folder, "-Wl,--build-id=none") {
        return;
    }
    let stripped = read(folder.join("stripped"));
    let elf = Elf::parse(&stripped).expect("ELF");
    assert_eq!(build_id(&elf), None);
    assert_eq!(debug_link(&elf).map(|link| link.name), Some(b"program.debug".as_slice()));
    let mut debug = read(folder.join("program.debug"));
    assert_eq!(check(&elf, &debug), Ok(()));
    // Changes one bit of the debug information.
    let last = debug.len() - 1;
    debug[last] ^= 1;
    assert!(matches!(check(&elf, &debug), Err(Mismatch::Checksum { .. })));
}
