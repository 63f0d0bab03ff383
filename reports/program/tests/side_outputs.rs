//! What compilers write beside the object lands in the temporary folder, and not in the user's.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use sframe_corpus::{folder, program, tools};

/// Options of gcc that make it, or the assembler, write a file. `@` is the folder of the source.
const OPTIONS: [&str; 20] = [
    "-MD",
    "-MMD -MF @/dep",
    "-MD -MF@/dep",
    "-Wp,-MD,@/dep",
    "-Wa,-a=@/list",
    "-Wa,-aln=@/list",
    "-Wa,--MD,@/dep",
    "-save-temps",
    "-save-temps=obj -dumpdir @/x",
    "-fdump-tree-all",
    "-fdump-tree-optimized=@/tree",
    "-fdump-rtl-expand=@/rtl -dumpbase @/base",
    "-da -dumpdir @/dump/",
    "-fstack-usage",
    "-fcallgraph-info",
    "-aux-info @/protos",
    "-O2 -fopt-info-all=@/optimised",
    "--coverage",
    "-ftest-coverage -fprofile-note=@/notes",
    "-g -gsplit-dwarf",
];

/// The files in a folder, and their contents.
fn files(folder: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| (entry.file_name(), fs::read(entry.path()).expect("read")))
        .collect()
}

#[test]
fn nothing_is_written_beside_the_sources() {
    if !tools::is_installed("gcc") {
        return;
    }
    for (number, options) in OPTIONS.iter().enumerate() {
        let folder = folder!(format!("side-outputs-{number}"));
        fs::create_dir(folder.join("dump")).expect("a folder");
        fs::write(folder.join("main.c"), "int main(void) { return 0; }\n").expect("written");
        for own in ["dep", "list", "main.d", "program.d", "tree"] {
            fs::write(folder.join(own), "somebody's\n").expect("written");
        }
        let before = files(&folder);
        let text = format!(
            "gcc {} main.c -o program",
            options.replace('@', &folder.display().to_string())
        );
        let command: Vec<&str> = text.split(' ').collect();
        let audit = program::run(&folder, &[&["link", "--"], &command[..]].concat());
        assert!(audit.text.contains("main.c"), "{text}: {audit:?}");
        assert_eq!(files(&folder), before, "{text}");
        assert_eq!(files(&folder.join("dump")), BTreeMap::new(), "{text}");
        // The command itself does write.
        let real = Command::new("gcc").args(&command[1..]).current_dir(&folder).output();
        assert!(real.expect("it runs").status.success(), "{text}");
        let mut after = files(&folder);
        after.remove(&OsString::from("program"));
        let dumped = !files(&folder.join("dump")).is_empty();
        assert!(after != before || dumped, "{text} writes nothing");
    }
}

/// An option that makes files whose names cannot be chosen is named.
#[test]
fn what_cannot_be_redirected_is_refused() {
    if !tools::is_installed("gcc") {
        return;
    }
    let folder = folder!("side-outputs-refused");
    fs::write(folder.join("main.c"), "int main(void) { return 0; }\n").expect("written");
    let refused = program::run(&folder, &["link", "--", "gcc", "-fdump-ada-spec", "main.c"]);
    assert_eq!(refused.status, 3);
    let message = "sframe-check: -fdump-ada-spec writes files into your folders";
    assert!(refused.stderr.starts_with(message), "{refused:?}");
}
