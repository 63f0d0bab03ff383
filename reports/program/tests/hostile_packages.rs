//! Damaged packages, and packages made to waste memory: the reason is reported, and other files are still checked.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use std::process::Command;

use packing::{Folder, newc_member, rpm};

const PROGRAM: &str = "golden/2.47.50/x86_64/static.exe";

/// A folder with one program in it.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(&format!("hostile-{name}"));
    folder.copy(PROGRAM, "program");
    folder
}

/// Checks a broken package and a valid file, and returns the output. The file must be checked, and the exit status
/// must say that something could not be read.
fn refused(folder: &Folder, arguments: &[&str], package: &str) -> String {
    let (status, text) = folder.check(&[&["-v"], arguments, &[package, "program"]].concat());
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("\nprogram: .sframe V3"), "{text}");
    text
}

/// Writes a package with one program in it, in each format for which there is a tool; returns their names.
fn each(folder: &Folder) -> Vec<&'static str> {
    let program = folder.read("program");
    let mut cpio = newc_member("program", 0o10_0755, 1, &program);
    cpio.extend(newc_member("TRAILER!!!", 0, 1, b""));
    folder.write("x.cpio", &cpio);
    folder.write("x.rpm", &rpm(&cpio));
    let mut made = vec!["x.cpio", "x.rpm"];
    let control =
        "Package: x\\nVersion: 1\\nArchitecture: amd64\\nMaintainer: x <x@y>\\nDescription: x\\n";
    let deb = format!(
        "mkdir -p d/DEBIAN && cp program d && printf '{control}' > d/DEBIAN/control \
         && dpkg-deb -Zxz -b d x.deb && rm -r d"
    );
    for (name, tool, command) in [
        ("x.tar", "tar", "tar -cf x.tar program"),
        ("x.gz", "gzip", "gzip -c x.tar > x.gz"),
        ("x.xz", "xz", "xz -c x.tar > x.xz"),
        ("x.zst", "zstd", "zstd -q -c x.tar > x.zst"),
        ("x.bz2", "bzip2", "bzip2 -c x.tar > x.bz2"),
        ("x.zip", "zip", "zip -q x.zip program"),
        ("x.deb", "dpkg-deb", &deb),
    ] {
        if folder.make(tool, command) {
            made.push(name);
        }
    }
    made
}

#[test]
fn truncated_packages_are_reported() {
    let folder = folder("truncated");
    for name in each(&folder) {
        let bytes = folder.read(name);
        // A tar archive ends in padding, and is complete without some of it.
        let end = if name == "x.tar" { bytes.len() - 10_240 } else { bytes.len() - 1 };
        for length in
            [600, bytes.len() / 3, bytes.len() / 2, bytes.len() * 2 / 3, end.min(bytes.len() - 10)]
        {
            folder.write("cut", &bytes[..length]);
            let text = refused(&folder, &[], "cut");
            let reported =
                text.lines().any(|line| line.starts_with("cut") && line.contains("cannot be read"));
            assert!(reported, "{name}, {length} of {}: {text}", bytes.len());
        }
    }
}

/// The program neither panics nor loops, and exits with a documented status.
#[test]
fn packages_with_flipped_bits_do_not_crash_the_program() {
    let folder = folder("flipped");
    for name in each(&folder) {
        let bytes = folder.read(name);
        // Headers are at the start, except that a zip archive's table is at the end.
        let places =
            (0..700).step_by(23).chain((0..200).step_by(13).map(|back| bytes.len() - 1 - back));
        for (turn, place) in places.filter(|place| *place < bytes.len()).enumerate() {
            let mut damaged = bytes.clone();
            damaged[place] ^= [0xff, 0x01, 0x80][turn % 3];
            folder.write("damaged", &damaged);
            let (status, text) = folder.check(&["damaged", "program"]);
            assert!((0..=2).contains(&status), "{name} at {place}: {text}");
        }
    }
}

/// A package that unpacks to 512 MiB is checked in 300 MiB of address space.
#[test]
fn memory_depends_on_the_largest_member_only() {
    let folder = folder("memory");
    let command = "for n in $(seq 64); do cp program $n && truncate -s 8M $n; done && tar -c [0-9]* | gzip -1 > x \
                   && rm [0-9]*";
    if !folder.make("gzip", command) {
        return;
    }
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 307200 && exec \"$0\" --threads 1 x"])
        .arg(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(folder.path(""))
        .output()
        .expect("sh runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("64 files checked, 64 with an SFrame section"), "{output:?}");
}
