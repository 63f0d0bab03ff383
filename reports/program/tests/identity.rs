//! The parts of a record that identify its file: the package that a member is from, and the hash of a file's content.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use std::collections::BTreeMap;

use packing::{Folder, Value, newc_member, rpm, rpm_with};
use sframe_input::Selection;
use sframe_record::{Package, Record};
use sframe_scan::{CheckOptions, Checker, Collector};

const PROGRAM: &str = "golden/2.47.50/x86_64/static.exe";

fn reports(folder: &Folder, names: &[&str], hash: bool) -> Vec<Record<'static>> {
    let paths: Vec<_> = names.iter().map(|name| folder.path(name).into_os_string()).collect();
    let options = CheckOptions { hash, ..CheckOptions::default() };
    let (checker, mut collector) = (Checker::new(&options), Collector::of(usize::MAX));
    let mut kept = Vec::new();
    for input in Selection::new(&paths, Vec::new()) {
        checker.input(input, &mut |piece| kept.extend(collector.add(piece)));
    }
    kept
}

/// The package that each member is from, by the member's name.
fn identities(folder: &Folder, name: &str) -> BTreeMap<String, Option<Package<'static>>> {
    let member = |record: Record<'static>| {
        let inside = record.inside.unwrap_or_default();
        (inside.as_str().to_owned(), record.package)
    };
    reports(folder, &[name], false).into_iter().map(member).collect()
}

fn identity(name: &str, version: &str, machine: &str, source: Option<&str>) -> Package<'static> {
    let text = |text: &str| text.to_owned().into();
    Package {
        name: text(name),
        version: Some(text(version)),
        architecture: Some(text(machine)),
        source: source.map(text),
    }
}

#[test]
fn debian_packages_are_identified() {
    let folder = Folder::new("identity-deb");
    folder.copy(PROGRAM, "program");
    let control = "Package: libx1\\nSource: x (1.0-1)\\nVersion: 2:1.0-1+b1\\nArchitecture: amd64\\n\
                   Maintainer: x <x@example.org>\\nDescription: x\\n";
    let command = format!(
        "mkdir -p d/DEBIAN d/usr/bin && cp program d/usr/bin && printf '{control}' > d/DEBIAN/control \
         && dpkg-deb --root-owner-group -b d x.deb && tar -cf outer x.deb program \
         && dpkg-deb -W --showformat '${{Package}} ${{Version}} ${{Architecture}}' x.deb > shown"
    );
    if !folder.make("dpkg-deb", &command) {
        return;
    }
    let shown = String::from_utf8(folder.read("shown")).expect("UTF-8");
    let wanted = identity("libx1", "2:1.0-1+b1", "amd64", Some("x (1.0-1)"));
    assert_eq!(shown, "libx1 2:1.0-1+b1 amd64");
    let found = identities(&folder, "x.deb");
    assert_eq!(found["usr/bin/program"], Some(wanted.clone()));
    // `program` is next to the package in `outer`, not in it.
    let found = identities(&folder, "outer");
    assert_eq!(found["x.deb!usr/bin/program"], Some(wanted));
    assert_eq!(found["program"], None);
}

#[test]
fn alpine_and_arch_packages_are_identified() {
    let folder = Folder::new("identity-pkginfo");
    folder.copy(PROGRAM, "program");
    folder.write(".SIGN.RSA.x", b"x");
    folder.write(".PKGINFO", b"# text\npkgname = x\npkgver = 1-r2\narch = x86_64\norigin = y\n");
    let apk = "tar -c .SIGN.RSA.x | head -c 1024 | gzip > x.apk && tar -c .PKGINFO | head -c 1024 | gzip >> x.apk \
               && tar -c program | gzip >> x.apk";
    if folder.make("gzip", apk) {
        let found = identities(&folder, "x.apk");
        assert_eq!(found["program"], Some(identity("x", "1-r2", "x86_64", Some("y"))));
        assert_eq!(found[".SIGN.RSA.x"], None);
    }
    folder.write(".PKGINFO", b"pkgname = x\npkgbase = z\npkgver = 3:1-2\narch = any\n");
    if folder.make("zstd", "tar -c .PKGINFO program | zstd -q > x.pkg.tar.zst") {
        let found = identities(&folder, "x.pkg.tar.zst");
        assert_eq!(found["program"], Some(identity("x", "3:1-2", "any", Some("z"))));
    }
}

#[test]
fn rpm_packages_are_identified() {
    let folder = Folder::new("identity-rpm");
    folder.copy(PROGRAM, "program");
    let mut cpio = newc_member("./program", 0o10_0755, 1, &folder.read("program"));
    cpio.extend(newc_member("TRAILER!!!", 0, 1, b""));
    // Tags of RPM's "Header Tags": name, version, release, architecture, source. 1003 is the epoch.
    let mut tags = vec![
        (1000, Value::Text("x-libs")),
        (1001, Value::Text("1.0")),
        (1002, Value::Text("3.fc42")),
        (1022, Value::Text("x86_64")),
        (1044, Value::Text("x-1.0-3.fc42.src.rpm")),
    ];
    folder.write("x.rpm", &rpm_with(&tags, &cpio));
    let source = Some("x-1.0-3.fc42.src.rpm");
    let found = identities(&folder, "x.rpm");
    assert_eq!(found["program"], Some(identity("x-libs", "1.0-3.fc42", "x86_64", source)));
    tags.insert(3, (1003, Value::Words(vec![2])));
    folder.write("x.rpm", &rpm_with(&tags, &cpio));
    let found = identities(&folder, "x.rpm");
    assert_eq!(found["program"], Some(identity("x-libs", "2:1.0-3.fc42", "x86_64", source)));
    folder.write("x.rpm", &rpm(&cpio));
    assert_eq!(identities(&folder, "x.rpm")["program"], None);
}

/// A large control file is not kept in memory as a whole.
#[test]
fn only_the_start_of_a_large_control_file_is_read() {
    let folder = Folder::new("identity-large");
    folder.write("head", b"pkgname = x\n");
    let command =
        "(cat head; yes 'pkgver = 1' | head -c 3M) > .PKGINFO && rm head && tar -czf x .PKGINFO";
    if folder.make("gzip", command) {
        assert_eq!(identities(&folder, "x")[".PKGINFO"].as_ref().expect("one").name.as_str(), "x");
    }
}

#[test]
fn elf_files_have_a_content_hash_if_requested() {
    let folder = Folder::new("content");
    folder.copy(PROGRAM, "program");
    folder.copy("golden/2.47.50/x86_64/archive.a", "archive.a");
    folder.write("text", b"no ELF file");
    if !folder
        .make("tar", "cp program damaged && truncate -s 100 damaged && tar -cf x.tar program text")
    {
        return;
    }
    let names = ["program", "damaged", "text", "x.tar", "archive.a"];
    assert!(reports(&folder, &names, false).iter().all(|report| report.content.is_none()));
    let found = reports(&folder, &names, true);
    let size = |place: usize| found[place].content.as_ref().map(|content| content.size);
    let whole = folder.read("program").len() as u64;
    assert_eq!([size(0), size(1), size(2)], [Some(whole), Some(100), None]);
    assert_eq!((size(3), size(4)), (Some(whole), None));
    assert_eq!(found[0].content, found[3].content);
    assert_ne!(found[0].content, found[1].content);
    assert!(found[5..].iter().all(|report| report.content.is_some()));
}
