//! Sparse files in tar archives: the findings are the same as in the files themselves. The archives are made by GNU
//! tar, and by libarchive's tar if it is installed.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use std::fs::File;
use std::os::unix::fs::FileExt;

use packing::Folder;
use serde_json::Value;
use sframe_corpus::tools::has;

const PROGRAM: &str = "golden/2.47.50/x86_64/static.exe";
/// The offset of the section headers of a file with holes, after a hole.
const FAR: usize = 1 << 19;

/// Commands that store sparse files: in GNU tar's own formats and its three POSIX formats, and libarchive's.
fn makers() -> Vec<String> {
    let posix = ["0.0", "0.1", "1.0"].map(|version| format!("posix --sparse-version={version}"));
    let formats = ["gnu", "oldgnu"].into_iter().map(str::to_owned).chain(posix);
    let gnu = "tar --sparse --hole-detection=raw";
    let mut makers: Vec<String> = formats.map(|form| format!("{gnu} --format={form}")).collect();
    // Few systems have it installed, so it is never required.
    if has("bsdtar") {
        makers.push("bsdtar --format=pax".to_owned());
    }
    makers
}

/// Copies a program, with its section headers moved to [`FAR`], between two holes.
fn with_holes(folder: &Folder, from: &str, to: &str) {
    folder.copy(from, to);
    let mut bytes = folder.read(to);
    // gABI, "ELF Header": e_shoff.
    let place = u64::from_le_bytes(bytes[0x28..0x30].try_into().expect("8 bytes"));
    let headers = bytes.split_off(usize::try_from(place).expect("small"));
    bytes[0x28..0x30].copy_from_slice(&(FAR as u64).to_le_bytes());
    folder.write(to, &bytes);
    let file = File::options().write(true).open(folder.path(to)).expect("it exists");
    file.write_all_at(&headers, FAR as u64).expect("writable");
    file.set_len(1 << 20).expect("writable");
}

/// The report on each file, without the package's name.
fn findings(folder: &Folder, name: &str) -> Vec<(String, Value)> {
    let (_, text) = folder.check(&["--format", "json", "--pedantic", name]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let named = |file: &Value| {
        let mut file = file.clone();
        let path = file.as_object_mut().expect("an object").remove("path");
        let inside = file.as_object_mut().expect("an object").remove("inside");
        let name = inside.or(path).expect("a name");
        (name.as_str().expect("text").to_owned(), file)
    };
    document["files"].as_array().expect("files").iter().map(named).collect()
}

#[test]
fn members_with_holes_are_checked_like_files() {
    let folder = Folder::new("sparse");
    std::fs::create_dir(folder.path("tree")).expect("writable");
    let long = format!("tree/{}", "n".repeat(200));
    with_holes(&folder, "golden/2.47.50/x86_64/edges.so", "tree/edges.so");
    with_holes(&folder, PROGRAM, &long);
    folder.copy(PROGRAM, "tree/plain");
    let more = "cd tree && truncate -s 1M hole && cp ../tree/plain after \
                && dd if=plain of=after bs=64K seek=1 conv=notrunc status=none && truncate -s 1M after";
    assert!(folder.make("dd", more));
    let mut plain = findings(&folder, "tree");
    assert_eq!(plain.len(), 5);
    assert!(plain.iter().any(|(_, file)| !file["findings"][0].is_null()));
    for maker in makers() {
        if !folder.make("tar", &format!("{maker} -cf x tree")) {
            continue;
        }
        assert!(folder.read("x").len() < 200_000, "{maker}: no holes");
        let mut found = findings(&folder, "x");
        plain.sort_by(|a, b| a.0.cmp(&b.0));
        found.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(found, plain, "{maker}");
    }
}

/// The name of a file in a container image is its SHA-256, which the program verifies.
#[test]
fn sparse_members_are_restored_byte_for_byte() {
    let folder = Folder::new("sparse-bytes");
    folder.write("file", b"");
    let file = File::options().write(true).open(folder.path("file")).expect("it exists");
    // Data and holes of many lengths.
    for number in 1..30_u64 {
        let part = vec![
            u8::try_from(number).expect("small");
            97 * usize::try_from(number).expect("small")
        ];
        file.write_all_at(&part, number * number * 4096 + number).expect("writable");
    }
    let command =
        "mkdir -p blobs/sha256 && mv file blobs/sha256/$(sha256sum file | cut -d ' ' -f 1)";
    assert!(folder.make("sha256sum", command));
    for maker in makers() {
        if !folder.make("tar", &format!("{maker} -cf x blobs")) {
            continue;
        }
        assert!(folder.read("x").len() < 1 << 20, "{maker}: no holes");
        let (status, text) = folder.check(&["-v", "x"]);
        // The status is 2 because there was nothing to check.
        assert!(status == 2 && text.contains("1 not ELF\n"), "{maker}: {text}");
    }
}

/// Zeros from a hole count towards the limits, as decompressed bytes do.
#[test]
fn a_hole_of_a_terabyte_is_reported() {
    let folder = Folder::new("sparse-large");
    folder.copy(PROGRAM, "program");
    let files = "cp program one && truncate -s 1T one && cp one two && cp one three && cp program last && truncate -s 1T text";
    if !folder.make("tar", files) {
        return;
    }
    for maker in makers() {
        // tar asks the file system for holes here, rather than searching a terabyte for zeros.
        let maker = maker.replace("=raw", "=seek");
        assert!(folder.make("tar", &format!("{maker} -cf x text one program two three last")));
        let (status, text) = folder.check(&["-v", "--max-member-size", "4", "x"]);
        assert!(
            status == 2 && text.contains("x!text: not checked, not an ELF file"),
            "{maker}: {text}"
        );
        for name in ["one", "two", "three"] {
            let message = format!("x!{name}: cannot be read: it is larger than 4 MiB");
            assert!(text.contains(&message), "{maker}: {text}");
        }
        assert!(text.contains("x!last: .sframe V3"), "{maker}: {text}");
        let limits = ["-v", "--max-member-size", "4", "--max-unpacked-size", "10", "x"];
        let (status, text) = folder.check(&limits);
        assert!(text.contains("x!two: cannot be read: it is larger"), "{maker}: {text}");
        assert!(!text.contains("x!three") && status == 2, "{maker}: {text}");
        assert!(
            text.contains("x: cannot be read: it unpacks to more than 10 MiB"),
            "{maker}: {text}"
        );
    }
    // Other programs that copy this folder might not keep the holes.
    assert!(folder.make("rm", "rm one two three text"));
}

/// The archive ends within the data of a sparse member.
#[test]
fn truncated_sparse_members_are_reported() {
    let folder = Folder::new("sparse-cut");
    with_holes(&folder, PROGRAM, "program");
    for maker in makers() {
        if !folder.make("tar", &format!("{maker} -cf x program")) {
            continue;
        }
        // The archive ends in kilobytes of zeros.
        let cut = folder.read("x").iter().rposition(|byte| *byte != 0).expect("headers") - 600;
        let bytes = folder.read("x");
        folder.write("x", &bytes[..cut]);
        let (status, text) = folder.check(&["-v", "x"]);
        assert!(status == 2 && text.contains("before the end of a member"), "{maker}: {text}");
    }
}
