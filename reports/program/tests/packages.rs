//! Findings in members of packages are the same as in plain files, for every package format. The packages are made
//! with the usual tools.
//!
//! A missing tool is reported, and is a failure if `SFRAME_REQUIRE_TOOLS` is set.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use std::collections::BTreeMap;
use std::fs;

use packing::{Folder, newc, rpm};
use serde_json::Value;
use sframe_corpus::corpus;

/// The report on each file, by its path below `base`. The name and the package are removed, because they differ
/// between a file and a member.
fn findings(folder: &Folder, arguments: &[&str], base: &str) -> BTreeMap<String, Value> {
    let (_, text) = folder.check(&[&["--format", "json", "--pedantic"], arguments].concat());
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let named = |file: &Value| {
        let mut file = file.as_object().expect("an object").clone();
        file.remove("package");
        let path = file.remove("path").expect("a path");
        let path = path.as_str().expect("text").to_owned();
        let inside = file.remove("inside").map(|inside| inside.as_str().expect("text").to_owned());
        let mut name = inside.unwrap_or(path);
        name = name.strip_prefix(base).unwrap_or(&name).to_owned();
        if let Some(member) = file.remove("member") {
            name.push_str(&format!("({})", member.as_str().expect("text")));
        }
        (name, Value::Object(file))
    };
    document["files"].as_array().expect("files").iter().map(named).collect()
}

/// Writes a tree of programs, libraries, objects, an archive and text files from the corpus; returns their reports.
fn tree(folder: &Folder) -> BTreeMap<String, Value> {
    let golden = corpus().join("golden/2.47.50/x86_64");
    fs::create_dir_all(folder.path("tree/usr/lib")).expect("writable");
    let mut copied = 0;
    for entry in fs::read_dir(golden).expect("a folder of the corpus") {
        let path = entry.expect("readable").path();
        let to = folder.path("tree/usr/lib").join(path.file_name().expect("a name"));
        fs::copy(&path, to).expect("it can be copied");
        copied += 1;
    }
    assert!(copied > 50, "{copied}");
    let plain = findings(folder, &["tree"], "tree/");
    let found = |file: &Value| file["findings"].as_array().is_some_and(|found| !found.is_empty());
    assert!(plain.values().filter(|file| found(file)).count() > 10);
    assert!(plain.keys().any(|name| name == "usr/lib/archive.a(leaf.o)"));
    plain
}

#[test]
fn members_are_checked_like_files() {
    let folder = Folder::new("as-files");
    let plain = tree(&folder);
    let packed = [
        ("plain", "tar", "tar -cf plain -C tree usr"),
        ("gzip", "gzip", "gzip -c plain > gzip"),
        ("xz", "xz", "xz -c plain > xz"),
        ("zstd", "zstd", "zstd -q -c plain > zstd"),
        ("bzip2", "bzip2", "bzip2 -c plain > bzip2"),
        ("zip", "zip", "cd tree && zip -q -r ../zip.zip usr && mv ../zip.zip ../zip"),
        ("pax", "xz", "tar --format=pax -cJf pax -C tree ./usr"),
    ];
    for (name, tool, command) in packed {
        if folder.make(tool, command) {
            assert!(findings(&folder, &[name], "") == plain, "{name}");
        }
    }
}

#[test]
fn debian_packages_are_read() {
    let folder = Folder::new("deb");
    let plain = tree(&folder);
    fs::create_dir(folder.path("tree/DEBIAN")).expect("writable");
    let control = "Package: x\nVersion: 1\nArchitecture: amd64\nMaintainer: x <x@example.org>\nDescription: x\n";
    fs::write(folder.path("tree/DEBIAN/control"), control).expect("writable");
    for compression in ["xz", "gzip", "zstd", "none"] {
        let command = format!("dpkg-deb -Z{compression} --root-owner-group -b tree x.deb");
        if !folder.make("dpkg-deb", &command) {
            continue;
        }
        let mut members = findings(&folder, &["x.deb"], "");
        let control = members.remove("DEBIAN/control").expect("a control file");
        assert_eq!(control["status"], "not-elf");
        assert!(members == plain, "{compression}");
    }
}

#[test]
fn alpine_and_arch_packages_are_read() {
    let folder = Folder::new("apk");
    let plain = tree(&folder);
    fs::write(folder.path(".PKGINFO"), "pkgname = x\n").expect("writable");
    fs::write(folder.path(".SIGN.RSA.x"), "x\n").expect("writable");
    // `abuild-tar --cut` removes the ends of the first archives, so that all together are one archive.
    let apk = "tar -c .SIGN.RSA.x | head -c 1024 | gzip > x.apk && tar -c .PKGINFO | head -c 1024 | gzip >> x.apk && \
               tar -c -C tree usr | gzip >> x.apk";
    let arch = "tar -c .PKGINFO -C tree usr | zstd -q > x.pkg.tar.zst";
    for (name, tool, command) in [("x.apk", "gzip", apk), ("x.pkg.tar.zst", "zstd", arch)] {
        if folder.make(tool, command) {
            let mut members = findings(&folder, &[name], "");
            assert!(members.remove(".PKGINFO").is_some());
            assert_eq!(members.remove(".SIGN.RSA.x").is_some(), name == "x.apk");
            assert!(members == plain, "{name}");
        }
    }
}

#[test]
fn rpm_packages_are_read() {
    let folder = Folder::new("rpm");
    let plain = tree(&folder);
    let archive = newc(&folder.path("tree"), &plain);
    fs::write(folder.path("payload"), &archive).expect("writable");
    assert!(findings(&folder, &["payload"], "") == plain, "cpio");
    for (tool, command) in [
        ("gzip", "gzip -c payload > packed"),
        ("xz", "xz -c payload > packed"),
        ("zstd", "zstd -q -c payload > packed"),
        ("bzip2", "bzip2 -c payload > packed"),
        ("cat", "cat payload > packed"),
    ] {
        if folder.make(tool, command) {
            let packed = fs::read(folder.path("packed")).expect("readable");
            fs::write(folder.path("x.rpm"), rpm(&packed)).expect("writable");
            assert!(findings(&folder, &["x.rpm"], "") == plain, "{tool}");
        }
    }
    let spec = "Name: x\nVersion: 1\nRelease: 1\nSummary: x\nLicense: MIT\nAutoReq: no\nAutoProv: no\n%description\nx\n\
                %global __os_install_post %{nil}\n%global debug_package %{nil}\n\
                %install\nmkdir -p %{buildroot} && cp -r %{source} %{buildroot}/usr\n%files\n/usr\n";
    fs::write(folder.path("x.spec"), spec).expect("writable");
    for payload in ["w6.xzdio", "w3.zstdio", "w9.gzdio", "w9.bzdio"] {
        let command = format!(
            "rpmbuild -bb --quiet --define \"_topdir $PWD/rpmbuild\" --define \"_binary_payload {payload}\" \
             --define \"source $PWD/tree/usr\" x.spec && mv rpmbuild/RPMS/*/x-1-1.*.rpm x.rpm"
        );
        if folder.make("rpmbuild", &command) {
            assert!(findings(&folder, &["x.rpm"], "") == plain, "{payload}");
        }
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let folder = Folder::new("threads");
    tree(&folder);
    let many = "for n in 1 2 3 4 5 6 7 8 9; do tar -czf $n.tar.gz -C tree usr; done";
    if folder.make("gzip", many) {
        fs::remove_dir_all(folder.path("tree")).expect("it was made");
        let run = |threads| folder.check(&["--threads", threads, "--format", "ndjson", "."]).1;
        assert!(run("1") == run("4"));
    }
}
