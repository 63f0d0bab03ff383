//! Tests with compressed `.debug_frame` sections that GNU tools made: decompressing yields the original bytes.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSection};
use sframe_oracle::account::{Options, account};
use sframe_oracle::cfi::{Cfi, CfiErrorKind, CfiSource, Kind};
use sframe_validator::elf::Elf;

/// Runs a tool. Prints a message and returns `false` if it is missing or fails.
fn run(folder: &Path, command: &str) -> bool {
    let words: Vec<&str> = command.split(' ').collect();
    let status = Command::new(words[0]).args(&words[1..]).current_dir(folder).status();
    let done = status.as_ref().is_ok_and(std::process::ExitStatus::success);
    if !done {
        sframe_corpus::tools::missing(&format!("{} that runs `{command}`", words[0]), "install it");
    }
    done
}

/// A program whose CFI is only in `.debug_frame`, in a folder for this test.
fn built(name: &str) -> Option<PathBuf> {
    let folder = sframe_corpus::folder!(name);
    let mut source = String::from("int sink(int);\n");
    for number in 0..40 {
        source.push_str(&format!("int f{number}(int x) {{ return sink(x) + {number}; }}\n"));
    }
    source.push_str("int sink(int x) { return x; }\nint _start(void) { return f1(2); }\n");
    fs::write(folder.join("program.c"), source).expect("writable");
    let flags = "-g -O1 -fno-asynchronous-unwind-tables -fno-unwind-tables -nostdlib -static";
    run(&folder, &format!("gcc {flags} -o plain program.c")).then_some(folder)
}

/// The bytes of the section, its functions and their rows.
type Content = (Vec<u8>, Vec<(u64, u64, String)>);

fn content(cfi: &Cfi<'_>) -> Content {
    let mut context = sframe_oracle::cfi::RowContext::new(cfi);
    let functions = cfi.functions().map(|function| {
        let rows: Vec<_> = function.rows(&mut context).collect();
        (function.start().address, function.size(), format!("{rows:?}"))
    });
    (cfi.data().to_vec(), functions.collect())
}

fn read(path: &Path) -> Content {
    let data = fs::read(path).expect("readable");
    let elf = Elf::parse(&data).expect("ELF");
    let source = CfiSource::of(&elf);
    let cfi = source.load_all().expect("readable");
    let [cfi] = cfi.as_slice() else { panic!("one section of CFI") };
    assert_eq!((cfi.kind(), cfi.defects()), (Some(Kind::DebugFrame), [].as_slice()));
    content(cfi)
}

#[test]
fn every_format_decompresses_to_the_original_bytes() {
    let Some(folder) = built("compressed") else { return };
    let plain = read(&folder.join("plain"));
    assert_eq!(plain.1.len(), 42);
    for format in ["zlib", "zlib-gnu", "zstd"] {
        if !run(&folder, &format!("objcopy --compress-debug-sections={format} plain {format}")) {
            continue;
        }
        let path = folder.join(format);
        // Another reader confirms that the section is compressed.
        let data = fs::read(&path).expect("readable");
        let file = object::File::parse(&*data).expect("ELF");
        let name = if format == "zlib-gnu" { ".zdebug_frame" } else { ".debug_frame" };
        let section = file.sections().find(|s| s.name() == Ok(name)).expect("the section");
        assert!(section.data().expect("readable").len() < plain.0.len() / 2);
        assert_eq!(read(&path), plain, "{format}");
        // Without its bytes, the section is reported instead of skipped.
        let elf = Elf::parse(&data).expect("ELF");
        let cfi = Cfi::load_all(&elf).expect("readable");
        let unreadable = CfiErrorKind::UnreadableSection("it is compressed");
        assert_eq!(cfi[0].defects()[0].kind, unreadable);
        let undecided = account(&elf, &[], &cfi, &Options::default()).undecided;
        assert_eq!(undecided.len(), 1);
        assert!(undecided[0].reason.ends_with("it is compressed"), "{undecided:?}");
    }
}

#[test]
fn sizes_in_headers_are_not_trusted() {
    let Some(folder) = built("compressed-claims") else { return };
    for format in ["zlib", "zstd"] {
        if !run(&folder, &format!("objcopy --compress-debug-sections={format} plain {format}")) {
            continue;
        }
        let data = fs::read(folder.join(format)).expect("readable");
        let file = object::File::parse(&*data).expect("ELF");
        let section = file.section_by_name(".debug_frame").expect("the section");
        let (start, size) = section.file_range().expect("in the file");
        let (start, size) = (usize::try_from(start).unwrap(), usize::try_from(size).unwrap());
        let field = start + 8..start + 16;
        let claimed = u64::from_le_bytes(data[field.clone()].try_into().expect("8 bytes"));
        let broken = "its compressed bytes are broken";
        let mut cases = Vec::new();
        for (claim, why) in [
            (claimed + 1, broken),
            (claimed - 1, broken),
            (0, broken),
            (1 << 28, broken),
            ((1 << 28) + 1, "it is too large when decompressed"),
            (u64::MAX, "it is too large when decompressed"),
        ] {
            let mut changed = data.clone();
            changed[field.clone()].copy_from_slice(&claim.to_le_bytes());
            cases.push((changed, why));
        }
        let mut unknown = data.clone();
        unknown[start] = 9;
        cases.push((unknown, "its compression is unknown"));
        // From the middle on, there are only zeros.
        let mut cut = data.clone();
        cut[start + 24 + (size - 24) / 2..start + size].fill(0);
        cases.push((cut, broken));
        for (changed, why) in cases {
            let elf = Elf::parse(&changed).expect("ELF");
            let source = CfiSource::of(&elf);
            let cfi = source.load_all().expect("readable");
            assert_eq!(cfi[0].defects()[0].kind, CfiErrorKind::UnreadableSection(why), "{format}");
            assert!(cfi[0].is_empty());
        }
    }
}
