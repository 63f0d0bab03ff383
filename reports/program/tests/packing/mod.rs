//! Packages for tests: made by tools, or byte by byte where no tool is available.

#![allow(dead_code, reason = "each test program uses a part")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;
use sframe_corpus::program::{self, run};
use sframe_corpus::{folder, read, tools};

/// A test's own folder, in which it makes packages and runs the program.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// An empty folder.
    pub(crate) fn new(name: &str) -> Folder {
        Folder(folder!(format!("packages/{name}")))
    }

    /// An existing folder.
    pub(crate) fn at(path: &Path) -> Folder {
        Folder(path.to_owned())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("writable");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("readable")
    }

    /// Copies a file of the corpus here.
    pub(crate) fn copy(&self, from: &str, to: &str) {
        self.write(to, &read(from));
    }

    /// Runs a shell command here. Returns `false` if `tool`, which the command needs, is missing and not required.
    pub(crate) fn make(&self, tool: &str, command: &str) -> bool {
        tools::run(&self.0, tool, command)
    }

    /// Runs the program here, and returns its exit status and output.
    pub(crate) fn check(&self, arguments: &[&str]) -> (i32, String) {
        let outcome = run(&self.0, arguments);
        assert!(outcome.stderr.is_empty(), "{arguments:?}: {}", outcome.stderr);
        (outcome.status, outcome.text)
    }

    /// Runs the program, which the system ends after so many seconds of processor time.
    pub(crate) fn check_within(&self, seconds: u64, arguments: &[&str]) -> (i32, String) {
        let limited = format!("ulimit -t {seconds}; exec \"$0\" \"$@\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &limited]).arg(program::path()).args(arguments).current_dir(&self.0);
        let output = shell.output().expect("sh runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.is_empty(), "{arguments:?}: {error}");
        let status = output.status.code();
        let status = status.unwrap_or_else(|| panic!("{arguments:?}: {}", output.status));
        (status, String::from_utf8(output.stdout).expect("UTF-8"))
    }
}

/// A tar header (POSIX ustar), with name, mode, size, checksum, type and magic number.
pub(crate) fn tar_header(name: &str, size: u64, kind: u8) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar\x0000");
    tar_sum(&mut header);
    header
}

/// Sets the checksum of a tar header.
pub(crate) fn tar_sum(header: &mut [u8]) {
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

/// A member of a `newc` archive: the magic number, 13 fields of 8 hexadecimal digits, name and
/// content, both padded to 4 bytes (cpio(5)).
pub(crate) fn newc_member(name: &str, mode: usize, links: usize, content: &[u8]) -> Vec<u8> {
    let fields = [1, mode, 0, 0, links, 0, content.len(), 0, 0, 0, 0, name.len() + 1, 0];
    let mut member = b"070701".to_vec();
    for field in fields.map(|field: usize| format!("{field:08X}")) {
        member.extend(field.as_bytes());
    }
    member.extend(name.as_bytes());
    member.push(0);
    member.resize(member.len().next_multiple_of(4), 0);
    member.extend(content);
    member.resize(member.len().next_multiple_of(4), 0);
    member
}

/// The files of a tree as a `newc` archive. Members of archives among the names are replaced by their archives.
pub(crate) fn newc(tree: &Path, names: &BTreeMap<String, Json>) -> Vec<u8> {
    let mut archive = newc_member("./usr", 0o4_0755, 2, b"");
    for name in names.keys().filter(|name| !name.contains('(')) {
        let content = fs::read(tree.join(name)).expect("readable");
        archive.extend(newc_member(&format!("./{name}"), 0o10_0644, 1, &content));
    }
    for name in names.keys().filter_map(|name| name.split_once("(leaf.o)")) {
        let content = fs::read(tree.join(name.0)).expect("readable");
        archive.extend(newc_member(name.0, 0o10_0644, 1, &content));
    }
    archive.extend(newc_member("TRAILER!!!", 0, 1, b""));
    archive
}

/// An RPM package around a payload: lead, a signature header that needs padding, and a header (RPM's "Package Format
/// V4").
pub(crate) fn rpm(payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xed, 0xab, 0xee, 0xdb, 3, 0];
    bytes.resize(96, 0);
    bytes.extend(rpm_header(3));
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.extend(rpm_header(5));
    bytes.extend(payload);
    bytes
}

/// The value of a tag in an RPM header.
pub(crate) enum Value {
    Text(&'static str),
    Texts(Vec<String>),
    Shorts(Vec<u16>),
    Words(Vec<u32>),
    Longs(Vec<u64>),
}

/// An RPM package whose header has these tags (RPM's "Header Structure": types 3 to 6 and 8, big-endian and aligned to
/// their size).
pub(crate) fn rpm_with(tags: &[(u32, Value)], payload: &[u8]) -> Vec<u8> {
    let (mut index, mut store) = (Vec::new(), Vec::<u8>::new());
    for (tag, value) in tags {
        let (kind, align, count, bytes): (u32, usize, usize, Vec<u8>) = match value {
            Value::Text(text) => (6, 1, 1, [text.as_bytes(), b"\0"].concat()),
            Value::Texts(texts) => (8, 1, texts.len(), (texts.join("\0") + "\0").into_bytes()),
            Value::Shorts(n) => (3, 2, n.len(), n.iter().flat_map(|n| n.to_be_bytes()).collect()),
            Value::Words(n) => (4, 4, n.len(), n.iter().flat_map(|n| n.to_be_bytes()).collect()),
            Value::Longs(n) => (5, 8, n.len(), n.iter().flat_map(|n| n.to_be_bytes()).collect()),
        };
        store.resize(store.len().next_multiple_of(align), 0);
        for field in [*tag, kind, number(store.len()), number(count)] {
            index.extend(field.to_be_bytes());
        }
        store.extend(bytes);
    }
    let mut bytes = vec![0xed, 0xab, 0xee, 0xdb, 3, 0];
    bytes.resize(96, 0);
    bytes.extend(rpm_header(0));
    bytes.extend([0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0]);
    bytes.extend(number(tags.len()).to_be_bytes());
    bytes.extend(number(store.len()).to_be_bytes());
    bytes.extend(index);
    bytes.extend(store);
    bytes.extend(payload);
    bytes
}

fn number(count: usize) -> u32 {
    count.try_into().expect("small")
}

/// An RPM header with one index entry and some bytes of data.
fn rpm_header(data: u8) -> Vec<u8> {
    let mut header = vec![0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, data];
    header.extend([0; 16]);
    header.extend((0..data).map(|_| b'x'));
    header
}
