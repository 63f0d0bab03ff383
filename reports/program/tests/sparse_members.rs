//! Sparse files in tar archives: what is found in one is what is found in the file itself. GNU tar makes the
//! archives; libarchive's tar as well, where it is there.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use std::fs::File;
use std::os::unix::fs::FileExt;

use packing::{Folder, has, tar_header};
use serde_json::Value;

const PROGRAM: &str = "golden/2.47.50/x86_64/static.exe";
/// Where the section headers of a file with holes are: behind one.
const FAR: usize = 1 << 19;

/// The commands that store sparse files as such: GNU tar's own form and its three of POSIX, and libarchive's.
fn makers() -> Vec<String> {
    let posix = ["0.0", "0.1", "1.0"].map(|version| format!("posix --sparse-version={version}"));
    let formats = ["gnu", "oldgnu"].into_iter().map(str::to_owned).chain(posix);
    let gnu = "tar --sparse --hole-detection=raw";
    let mut makers: Vec<String> = formats.map(|form| format!("{gnu} --format={form}")).collect();
    // No tool that is there anyway: never required.
    if has("bsdtar") {
        makers.push("bsdtar --format=pax".to_owned());
    }
    makers
}

/// The program of `from`, whose section headers are moved to [`FAR`], then a hole again.
fn with_holes(folder: &Folder, from: &str, to: &str) {
    folder.copy(from, to);
    let mut bytes = folder.read(to);
    // gABI, "ELF Header": e_shoff.
    let place = u64::from_le_bytes(bytes[0x28..0x30].try_into().expect("8 bytes"));
    let headers = bytes.split_off(usize::try_from(place).expect("small"));
    bytes[0x28..0x30].copy_from_slice(&(FAR as u64).to_le_bytes());
    folder.write(to, &bytes);
    let file = File::options().write(true).open(folder.path(to)).expect("it is there");
    file.write_all_at(&headers, FAR as u64).expect("writable");
    file.set_len(1 << 20).expect("writable");
}

/// What the program says of each file, without the package's name.
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
fn members_with_holes_are_checked_as_files_are() {
    let folder = Folder::new("sparse");
    std::fs::create_dir(folder.path("tree")).expect("writable");
    let long = format!("tree/{}", "n".repeat(200));
    with_holes(&folder, "golden/2.47.50/x86_64/edges.so", "tree/edges.so");
    with_holes(&folder, PROGRAM, &long);
    folder.copy(PROGRAM, "tree/plain");
    let more = "cd tree && truncate -s 1M hole && cp ../tree/plain behind \
                && dd if=plain of=behind bs=64K seek=1 conv=notrunc status=none && truncate -s 1M behind";
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

/// A file of a container image is called by its SHA-256, which is compared with its bytes.
#[test]
fn each_byte_is_where_it_was() {
    let folder = Folder::new("sparse-bytes");
    folder.write("file", b"");
    let file = File::options().write(true).open(folder.path("file")).expect("it is there");
    // Parts of all lengths, and holes of all lengths between them, as far as blocks let them.
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
        // Nothing to check is no success.
        assert!(status == 2 && text.contains("1 not ELF\n"), "{maker}: {text}");
    }
}

/// What comes out of a hole costs as what comes out of a decompressor.
#[test]
fn a_hole_of_a_terabyte_is_told() {
    let folder = Folder::new("sparse-large");
    folder.copy(PROGRAM, "program");
    let files = "cp program one && truncate -s 1T one && cp one two && cp one three && cp program last && truncate -s 1T text";
    if !folder.make("tar", files) {
        return;
    }
    for maker in makers() {
        // Not to look for data in a terabyte, the file system is asked.
        let maker = maker.replace("=raw", "=seek");
        assert!(folder.make("tar", &format!("{maker} -cf x text one program two three last")));
        let (status, text) = folder.check(&["-v", "--max-member-size", "4", "x"]);
        assert!(
            status == 2 && text.contains("x!text: not checked, not an ELF file"),
            "{maker}: {text}"
        );
        for name in ["one", "two", "three"] {
            let told = format!("x!{name}: cannot be read: it is larger than 4 MiB");
            assert!(text.contains(&told), "{maker}: {text}");
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
    // What copies or counts files here would take them for what they say.
    assert!(folder.make("rm", "rm one two three text"));
}

/// A key behind `GNU.sparse.`, and its value.
type Record<'r> = (&'r str, &'r str);

/// An extended header as POSIX lays it out: records of `length key=value\n`, of which the length counts all
/// (POSIX.1-2017, "pax Extended Header").
fn extended_header(records: &[Record<'_>]) -> Vec<u8> {
    let mut text = String::new();
    for (key, value) in records {
        let rest = format!(" GNU.sparse.{key}={value}\n");
        let length = (rest.len()..).find(|n| n.to_string().len() + rest.len() == *n);
        text.push_str(&format!("{}{rest}", length.expect("there is one")));
    }
    padded(tar_header("x", text.len() as u64, b'x'), text.as_bytes())
}

/// A header and what belongs to it, up to a multiple of 512 bytes.
fn padded(mut header: Vec<u8>, content: &[u8]) -> Vec<u8> {
    header.extend(content);
    header.resize(header.len().next_multiple_of(512), 0);
    header
}

/// Maps that cannot be of the file: that member is told, and the next one is checked.
#[test]
fn maps_are_not_believed() {
    let folder = Folder::new("sparse-hostile");
    folder.copy(PROGRAM, "program");
    let program = folder.read("program");
    let next = padded(tar_header("next", program.len() as u64, b'0'), &program);
    let listed = |map| [("size", "9000"), ("numblocks", "2"), ("map", map)];
    let entries = [("offset", "0"), ("offset", "600"), ("numbytes", "512"), ("numbytes", "88")];
    let separate = [&[("size", "9000")][..], &entries].concat();
    let first = [("major", "1"), ("minor", "0"), ("realsize", "9000")];
    let block = |text: &str| {
        let mut block = text.as_bytes().to_vec();
        block.resize(block.len().next_multiple_of(512), 0);
        [block, vec![b'x'; 600]].concat()
    };
    let (data, none) = (vec![b'x'; 600], "its sparse map is not a list of offsets and sizes");
    let endless = "0\n0\n".repeat(1 << 19);
    let cases: [(&str, &[Record<'_>], Vec<u8>, &str); 21] = [
        ("sound", &listed("0,512,600,88"), data.clone(), "not checked, not an ELF file"),
        (
            "overlapping",
            &listed("0,512,511,88"),
            data.clone(),
            "has data at 511 after data up to 512",
        ),
        ("descending", &listed("600,88,0,512"), data.clone(), "has data at 0 after data up to 688"),
        ("beyond", &listed("0,512,8913,88"), data.clone(), "extends past its 9000 bytes"),
        (
            "wraps",
            &listed("0,512,18446744073709551615,88"),
            data.clone(),
            "extends past its 9000 bytes",
        ),
        (
            "more",
            &listed("0,512,600,89"),
            data.clone(),
            "has 601 bytes of data, but the archive has 600",
        ),
        (
            "fewer",
            &listed("0,512,600,87"),
            data.clone(),
            "has 599 bytes of data, but the archive has 600",
        ),
        ("odd", &listed("0,512,600"), data.clone(), none),
        ("negative", &listed("0,512,-1,88"), data.clone(), none),
        ("too large", &listed("0,512,600,18446744073709551616"), data.clone(), none),
        ("empty", &listed(""), data.clone(), none),
        ("count", &listed("0,600"), data.clone(), "has 1 entries, but its header says 2"),
        (
            "no size",
            &[("map", "0,512,600,88")],
            data.clone(),
            "the size of the sparse file is not recorded",
        ),
        ("turns", &separate, data.clone(), none),
        ("version", &[("major", "2"), ("minor", "0")], data.clone(), "in an unknown format"),
        ("1.0", &first, block("2\n0\n512\n600\n88\n"), "not checked, not an ELF file"),
        ("1.0 back", &first, block("2\n600\n88\n0\n512\n"), "has data at 0 after data up to 688"),
        ("1.0 text", &first, block("2\n0\n512\n600\nmany\n"), none),
        (
            "1.0 count",
            &first,
            block("18446744073709551615\n0\n600\n"),
            "its sparse map is truncated",
        ),
        ("1.0 cut", &first, block("3\n0\n512\n600\n88\n")[..512].to_vec(), "is truncated"),
        ("1.0 long", &first, block(&format!("999999999\n{endless}")), "is longer than 1 MiB"),
    ];
    for (name, records, content, reason) in cases {
        let member = padded(tar_header(name, content.len() as u64, b'0'), &content);
        folder.write("x", &[extended_header(records), member, next.clone()].concat());
        let (status, text) = folder.check(&["-v", "x"]);
        let told = text.lines().find(|line| line.starts_with(&format!("x!{name}: ")));
        assert!(told.is_some_and(|told| told.contains(reason)), "{name}: {text}");
        assert!(text.contains("x!next: .sframe V3"), "{name}: {text}");
        let sound = reason.contains("not an ELF");
        assert_eq!(status, if sound { 0 } else { 2 }, "{name}: {text}");
    }
}

/// The archive ends in the data behind a map.
#[test]
fn what_is_cut_off_is_told() {
    let folder = Folder::new("sparse-cut");
    with_holes(&folder, PROGRAM, "program");
    for maker in makers() {
        if !folder.make("tar", &format!("{maker} -cf x program")) {
            continue;
        }
        // The last kilobytes are the archive's end.
        let cut = folder.read("x").iter().rposition(|byte| *byte != 0).expect("headers") - 600;
        let bytes = folder.read("x");
        folder.write("x", &bytes[..cut]);
        let (status, text) = folder.check(&["-v", "x"]);
        assert!(status == 2 && text.contains("before the end of a member"), "{maker}: {text}");
    }
}
