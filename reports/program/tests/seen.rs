//! Copies of a file: each is reported as if it were the only one.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use packing::Folder;
use serde_json::Value;

/// A program, a library, an object with findings, and an archive.
const FILES: [(&str, &str); 4] = [
    ("golden/2.47.50/x86_64/static.exe", "program"),
    ("golden/2.47.50/x86_64/edges.so", "library.so"),
    ("differences/register-in-place/2.47.50.o", "object.o"),
    ("golden/2.47.50/x86_64/archive.a", "archive.a"),
];

/// The reports, without the paths of the files.
fn reports(folder: &Folder, arguments: &[&str]) -> Vec<Value> {
    let (_, text) = folder.check(&[&["--format", "json", "--coverage"], arguments].concat());
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let unnamed = |file: &Value| {
        let mut file = file.as_object().expect("an object").clone();
        file.remove("path");
        file.remove("inside");
        Value::Object(file)
    };
    document["files"].as_array().expect("files").iter().map(unnamed).collect()
}

#[test]
fn each_copy_is_reported_as_if_alone() {
    let folder = Folder::new("seen-copies");
    std::fs::create_dir(folder.path("a")).expect("writable");
    for (from, to) in FILES {
        folder.copy(from, &format!("a/{to}"));
    }
    let alone = reports(&folder, &["a"]);
    assert!(alone.len() > 5 && alone.iter().any(|file| file["findings"][0].is_object()));
    let copies = "cp -r a b && cp -rl a c && tar -cf d.tar -C a . && gzip -k d.tar";
    if !folder.make("gzip", copies) {
        return;
    }
    // The members of the tar archive are not sorted by name.
    let sorted = |mut reports: Vec<Value>| {
        reports.sort_by_cached_key(Value::to_string);
        reports
    };
    let many: Vec<Value> = (0..5).flat_map(|_| alone.clone()).collect();
    for threads in ["1", "4"] {
        let found = reports(&folder, &["--threads", threads, "."]);
        assert!(sorted(found) == sorted(many.clone()), "{threads} threads");
    }
    for copy in ["b", "c"] {
        assert!(reports(&folder, &["a", copy]) == [alone.clone(), alone.clone()].concat());
    }
}

/// Two copies of a stripped program. One has its debug file, with CFI, next to it.
#[test]
fn copies_with_different_debug_files_are_checked_separately() {
    let folder = Folder::new("seen-beside");
    folder.write("program.c", b"int main(void) { return 0; }\n");
    let flags =
        "-O1 -g -fno-asynchronous-unwind-tables -nostdlib -static -Wl,-e,main -Wl,--build-id=none";
    let command = format!(
        "gcc {flags} program.c -o program && objcopy --only-keep-debug program program.debug \
         && objcopy --strip-debug --remove-section .eh_frame --add-gnu-debuglink=program.debug program stripped \
         && mkdir -p a b none && cp stripped a && cp stripped b && cp program.debug b"
    );
    if !folder.make("objcopy", &command) {
        return;
    }
    for names in [["a/stripped", "b/stripped"], ["b/stripped", "a/stripped"]] {
        let arguments = [&["--debug-dir", "none", "--threads", "1"], names.as_slice()].concat();
        let found = reports(&folder, &arguments);
        for (name, file) in names.iter().zip(&found) {
            let used = &file["coverage"]["debug_file"];
            assert_eq!(used.is_string(), name.starts_with('b'), "{name}: {file}");
        }
    }
}
