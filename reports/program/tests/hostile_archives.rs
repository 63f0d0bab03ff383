//! Archives made to waste memory: many members that share one long name, and an excessive number of members.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use std::fs::File;
use std::process::{Command, Output};

use packing::{Folder, tar_header};
use sframe_input::package::{Content, Limits, Member, Unpacker};

const PROGRAM: &str = "golden/2.47.50/x86_64/static.exe";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(&format!("archives-{name}"));
    folder.copy(PROGRAM, "program");
    folder
}

/// A member's header: name, date, owner, group, mode, size, end (ar(5)).
fn header(name: &str, size: usize) -> Vec<u8> {
    format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644).into_bytes()
}

/// An archive of `members` empty members, each of which refers to one name of `length` bytes.
fn long_names(length: usize, members: usize) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    bytes.extend(header("//", length));
    bytes.resize(bytes.len() + length - 2, b'a');
    bytes.extend(b"/\n");
    bytes.extend(header("/0", 0).repeat(members));
    bytes
}

/// `content` as the only member of a tar archive.
fn tar(name: &str, content: &[u8]) -> Vec<u8> {
    let mut bytes = tar_header(name, content.len() as u64, b'0');
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(512) + 1024, 0);
    bytes
}

/// Runs the program in the folder with 1 GiB of address space, about 200 MiB of which it needs for any input.
fn bounded(folder: &Folder, arguments: &str) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = Command::new("sh")
        .args(["-c", &format!("ulimit -v 1048576 && exec \"$0\" --threads 1 {arguments}")])
        .arg(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(folder.path(""))
        .output()
        .expect("sh runs");
    let text = String::from_utf8_lossy(&stdout).into_owned();
    assert!(status.code().is_some(), "{status}: {}", String::from_utf8_lossy(&stderr));
    (status.code(), text)
}

/// If each member had its own copy of the name, the names would take 4 GB.
#[test]
fn one_long_name_of_many_members_is_read_once() {
    let folder = folder("names");
    let archive = long_names(1_000_000, 4_000);
    folder.write("x.a", &archive);
    folder.write("x.tar", &tar("x.a", &archive));
    let (status, text) = bounded(&folder, "x.a x.tar program");
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("8,001 inputs: 1 file checked"), "{text}");
}

/// Names of more than 128 MiB in total, in an archive and in an archive in a package. The file after them is still
/// checked.
#[test]
fn too_many_names_are_reported_once_per_archive() {
    let folder = folder("limit");
    let archive = long_names(1_000_000, 40_000);
    folder.write("x.a", &archive);
    folder.write("x.tar", &tar("x.a", &archive));
    let (status, text) = bounded(&folder, "x.a x.tar program");
    assert_eq!(status, Some(2), "{text}");
    let reason = "cannot be read: the names in it take more than 128 MiB";
    assert_eq!(text.matches(reason).count(), 2, "{text}");
    assert!(text.contains(&format!("x.a: {reason}")), "{text}");
    assert!(text.contains(&format!("x.tar: {reason}; read up to there:")), "{text}");
}

/// The full name of a member includes the name of its archive.
#[test]
fn the_archives_name_counts_once_per_member() {
    let folder = folder("own-name");
    let name = "n".repeat(3_000);
    let mut archive = b"!<arch>\n".to_vec();
    archive.extend(header("x/", 0).repeat(100_000));
    // GNU tar stores a long name as the content of a member of its own, before the named member.
    let mut package = tar_header("././@LongLink", name.len() as u64 + 1, b'L');
    package.extend(name.as_bytes());
    package.resize(package.len().next_multiple_of(512), 0);
    package.extend(tar("x.a", &archive));
    folder.write("x.tar", &package);
    let (status, text) = bounded(&folder, "x.tar program");
    assert_eq!(status, Some(2), "{text}");
    assert!(
        text.contains("x.tar: cannot be read: the names in it take more than 128 MiB"),
        "{text}"
    );
}

/// A package with two archives of 6 members each has 14 members.
#[test]
fn members_of_archives_count_as_members_of_the_package() {
    let folder = folder("members");
    let mut archive = b"!<arch>\n".to_vec();
    archive.extend(header("x/", 0).repeat(6));
    let mut package = tar("x.a", &archive);
    package.truncate(package.len() - 1024);
    package.extend(tar("y.a", &archive));
    folder.write("x.tar", &package);
    for (members, found, expected) in [
        (14, 12, Ok(())),
        (13, 11, Err("it has more than 13 members; read up to there: 14 members")),
    ] {
        let file = File::open(folder.path("x.tar")).expect("readable");
        let (limits, mut counted) = (Limits { members, ..Limits::default() }, 0);
        let read = Unpacker::new(limits).visit(&file, &mut |member: Member<'_>| {
            if let Content::Archive(members) = member.content {
                counted += members.count();
            }
        });
        assert_eq!(read.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
        assert_eq!(counted, found);
    }
}
