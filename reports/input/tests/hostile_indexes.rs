//! Damaged indexes never cause a panic or silence: each hands over a package or a reason.
//!
//! The indexes are written here by hand, in the layout that the tools write (`reports/program/tests/cases/repositories` uses
//! the tools themselves).

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use sframe_corpus::folder;
use sframe_input::package::{Limits, Member, Unpacker};
use sframe_input::repository::{Entry, Repository, Wanted};

/// Panics in any thread: a repository is read in another thread than the test's.
static PANICS: AtomicUsize = AtomicUsize::new(0);

fn count_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        before(panic);
    }));
}

/// Reads a repository and its packages. Returns how many packages and how many reasons there are.
fn read(folder: &Path) -> (usize, usize) {
    let (mut packages, mut reasons) = (0, 0);
    let repository = Repository::new(OsStr::new(folder)).expect("a folder");
    let wanted = Wanted {
        names: None,
        sections: None,
        least: 0,
        most: u64::MAX,
        architectures: Vec::new(),
        suites: Vec::new(),
        components: Vec::new(),
    };
    for entry in repository.packages(wanted) {
        match entry {
            Entry::Package(listed) => {
                packages += 1;
                assert!(listed.address().starts_with(folder));
                let unpacker = Unpacker::new(Limits::default());
                let read = listed.visit(&unpacker, &mut |_: Member<'_>| {});
                reasons += usize::from(read.is_err());
            }
            Entry::Unreadable(path, why) => {
                assert!(path.starts_with(folder) && !why.is_empty());
                reasons += 1;
            }
        }
    }
    (packages, reasons)
}

/// A tar archive of files, without the blocks at its end if `is_cut`.
fn tar(files: &[(&str, &[u8])], is_cut: bool) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in files {
        let mut header = vec![0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
        header[148..156].copy_from_slice(b"        ");
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend(header);
        archive.extend(*content);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    if !is_cut {
        archive.resize(archive.len() + 1024, 0);
    }
    archive
}

/// Stored blocks only, so that each byte of the content can be damaged: a header, blocks of deflate (RFC 1951, 3.2.4), the
/// CRC-32 and the size (RFC 1952).
fn gzip(content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let chunks = content.chunks(60_000);
    let last = chunks.len().saturating_sub(1);
    for (index, chunk) in chunks.enumerate() {
        let length = u16::try_from(chunk.len()).expect("small");
        bytes.push(u8::from(index == last));
        bytes.extend(length.to_le_bytes());
        bytes.extend((!length).to_le_bytes());
        bytes.extend(chunk);
    }
    let mut sum = u32::MAX;
    for byte in content {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = sum >> 1 ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    bytes.extend((!sum).to_le_bytes());
    bytes.extend(u32::try_from(content.len()).expect("small").to_le_bytes());
    bytes
}

/// Reads the repository with each of the damaged forms of a file: cut at each place, and with each byte changed.
fn damage(folder: &Path, file: &str, whole: (usize, usize)) {
    let path = folder.join(file);
    let good = fs::read(&path).expect("it was written");
    assert_eq!(read(folder), whole, "{file}");
    let mut reported = 0;
    let mut damaged = |bytes: &[u8]| {
        fs::write(&path, bytes).expect("writable");
        let (packages, reasons) = read(folder);
        assert!(packages + reasons > 0, "{file}: silence");
        reported += usize::from(reasons > whole.1);
    };
    let step = good.len().div_ceil(250);
    for place in (0..good.len()).step_by(step) {
        damaged(&good[..place]);
        for change in [1, 0x80, 0xff, good[place] ^ b'<'] {
            let mut bytes = good.clone();
            bytes[place] ^= change;
            damaged(&bytes);
        }
    }
    assert!(reported * 5 > good.len() / step, "{file}: {reported}");
    fs::write(&path, good).expect("writable");
    assert_eq!(PANICS.load(Ordering::Relaxed), 0, "{file}");
}

/// The package is a text file with the right checksum.
#[test]
fn damaged_tables_of_rpm_md_are_read() {
    count_panics();
    let folder = folder!("rpm-md");
    fs::create_dir(folder.join("repodata")).expect("writable");
    // `printf 'text\n' | sha256sum`
    let text = "b9e68e1bea3e5b19ca6b2f98b73a54b73daafaa250484902e09982e07a12e733";
    fs::write(folder.join("x.rpm"), "text\n").expect("writable");
    let primary = format!(
        "<?xml version=\"1.0\"?><metadata xmlns=\"x\" packages=\"1\"><package type=\"rpm\"><name>x&amp;</name><arch>noarch</arch>\
         <checksum type=\"sha256\" pkgid=\"YES\">{text}</checksum><size package=\"5\"/><location href=\"x.rpm\"/>\
         <format><rpm:group>x</rpm:group></format></package></metadata>"
    );
    fs::write(folder.join("primary"), &primary).expect("writable");
    fs::write(folder.join("repodata/primary"), primary).expect("writable");
    assert!(sframe_corpus::tools::run(&folder, "sha256sum", "sha256sum primary > sum"));
    let sum = fs::read_to_string(folder.join("sum")).expect("readable");
    let repomd = format!(
        "<repomd xmlns:rpm=\"x\"><data type=\"primary\"><checksum type=\"sha256\">{}</checksum>\
         <location href=\"repodata/primary\"/></data></repomd>",
        &sum[..64]
    );
    fs::write(folder.join("repodata/repomd.xml"), repomd).expect("writable");
    damage(&folder, "repodata/primary", (1, 0));
    damage(&folder, "repodata/repomd.xml", (1, 0));
}

#[test]
fn damaged_indexes_and_packages_of_alpine_are_read() {
    count_panics();
    let folder = folder!("alpine");
    let files = gzip(&tar(&[("usr/bin/x", b"text\n")], false));
    fs::write(folder.join("files"), &files).expect("writable");
    assert!(sframe_corpus::tools::run(&folder, "sha256sum", "sha256sum files > sum"));
    let sum = fs::read_to_string(folder.join("sum")).expect("readable");
    let info = format!("pkgname = x\npkgver = 1\ndatahash = {}\n", &sum[..64]);
    let control = gzip(&tar(&[(".PKGINFO", info.as_bytes())], true));
    fs::write(folder.join("control"), &control).expect("writable");
    let command = "openssl dgst -sha1 -binary control | base64 > checksum";
    if !sframe_corpus::tools::run(&folder, "openssl", command) {
        return;
    }
    let checksum = fs::read_to_string(folder.join("checksum")).expect("readable");
    let signature = gzip(&tar(&[(".SIGN.RSA.x", b"x")], true));
    let package = [signature, control, files].concat();
    let size = package.len();
    fs::write(folder.join("x-1.apk"), package).expect("writable");
    let index = format!("C:Q1{checksum}P:x\nV:1\nA:x86_64\nS:{size}\n\n");
    let index = gzip(&tar(&[("DESCRIPTION", b"x"), ("APKINDEX", index.as_bytes())], false));
    fs::write(folder.join("APKINDEX.tar.gz"), index).expect("writable");
    damage(&folder, "APKINDEX.tar.gz", (1, 0));
    damage(&folder, "x-1.apk", (1, 0));
}

#[test]
fn damaged_databases_of_pacman_are_read() {
    count_panics();
    let folder = folder!("arch");
    fs::write(folder.join("x.pkg.tar.zst"), "text\n").expect("writable");
    let text = "b9e68e1bea3e5b19ca6b2f98b73a54b73daafaa250484902e09982e07a12e733";
    let description = format!(
        "%FILENAME%\nx.pkg.tar.zst\n\n%NAME%\nx\n\n%CSIZE%\n5\n\n%SHA256SUM%\n{text}\n\n%ARCH%\nany\n\n%GROUPS%\na\nb\n\n"
    );
    let database = tar(&[("x-1-1/desc", description.as_bytes()), ("x-1-1/files", b"x")], false);
    fs::write(folder.join("x.db"), database).expect("writable");
    damage(&folder, "x.db", (1, 0));
}
