//! Packages: what is found in a member is what is found in the plain file, whatever holds it. The
//! packages are made by the tools that everybody makes them with.
//!
//! What tool is missing is said, and is a failure where `SFRAME_REQUIRE_TOOLS` is set.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use packing::{Folder, corpus, newc, rpm};
use serde_json::Value;

/// What the program says of files, by the path of each below `base`; what differs between a file and a member,
/// its name and its package, is left out.
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

/// A tree as packages have it, from the corpus: programs, a library, objects, an archive, text.
fn tree(folder: &Folder) -> BTreeMap<String, Value> {
    let golden = corpus().join("golden/2.47.50/x86_64");
    fs::create_dir_all(folder.path("tree/usr/lib")).expect("writable");
    let mut copied = 0;
    for entry in fs::read_dir(golden).expect("the corpus is there") {
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
fn members_are_checked_as_files_are() {
    let folder = Folder::new("as-files");
    let plain = tree(&folder);
    let packed = [
        ("plain", "tar", "tar -cf plain -C tree usr"),
        ("gzip", "gzip", "gzip -c plain > gzip"),
        ("xz", "xz", "xz -c plain > xz"),
        ("zstd", "zstd", "zstd -q -c plain > zstd"),
        ("bzip2", "bzip2", "bzip2 -c plain > bzip2"),
        ("zip", "zip", "cd tree && zip -q -r ../zip.zip usr && mv ../zip.zip ../zip"),
        ("pax", "tar", "tar --format=pax -cJf pax -C tree ./usr"),
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
    // abuild-tar --cut takes the end off the first part: the parts are one archive then.
    let apk = "tar -c .PKGINFO | head -c 1024 | gzip > x.apk && tar -c -C tree usr | gzip >> x.apk";
    let arch = "tar -c .PKGINFO -C tree usr | zstd -q > x.pkg.tar.zst";
    for (name, tool, command) in [("x.apk", "gzip", apk), ("x.pkg.tar.zst", "zstd", arch)] {
        if folder.make(tool, command) {
            let mut members = findings(&folder, &[name], "");
            assert!(members.remove(".PKGINFO").is_some());
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
        // On Debian it is no tool that is there anyway: never required.
        if packing::has("rpmbuild") && folder.make("rpmbuild", &command) {
            assert!(findings(&folder, &["x.rpm"], "") == plain, "{payload}");
        }
    }
}

#[test]
fn links_in_zip_files_are_links() {
    let folder = Folder::new("zip-links");
    folder.copy("golden/2.47.50/x86_64/static.exe", "program");
    if folder.make("zip", "ln -s program link && zip -q -y x.zip link program") {
        let (status, text) = folder.check(&["-v", "x.zip"]);
        assert!(
            status == 0 && text.contains("x.zip!link: not checked, link in a package"),
            "{text}"
        );
    }
}

/// cpio(5), "New CRC Format": another magic number, and the sum of the content's bytes in the last field.
#[test]
fn cpio_archives_with_sums_are_read() {
    let folder = Folder::new("cpio-sums");
    folder.copy("golden/2.47.50/x86_64/static.exe", "program");
    let program = folder.read("program");
    let mut member = packing::newc_member("program", 0o10_0755, 1, &program);
    let sum: u32 = program.iter().map(|byte| u32::from(*byte)).sum();
    member[102..110].copy_from_slice(format!("{sum:08X}").as_bytes());
    let mut archive = [member, packing::newc_member("TRAILER!!!", 0, 1, b"")].concat();
    let end = archive.len() - 124;
    for start in [0, end] {
        archive[start..start + 6].copy_from_slice(b"070702");
    }
    folder.write("x", &archive);
    let (status, text) = folder.check(&["-v", "x"]);
    assert!(status == 0 && text.contains("x!program: .sframe V3"), "{text}");
}

#[test]
fn a_member_is_named_by_all_that_holds_it() {
    let folder = Folder::new("names");
    folder.copy("golden/2.47.50/x86_64/archive.a", "archive.a");
    folder.copy("golden/2.47.50/x86_64/static.exe", "static.exe");
    let made = folder.make("gzip", "gzip -k static.exe && tar -czf inner archive.a static.exe.gz")
        && folder.make("zip", "zip -q -0 outer.zip inner && mv outer.zip outer")
        && folder.make("tar", "tar -cf outermost ./outer");
    if !made {
        return;
    }
    let (status, text) = folder.check(&["-v", "--fail-on", "never", "outermost", "static.exe.gz"]);
    assert_eq!(status, 0, "{text}");
    for name in [
        "outermost!outer!inner!archive.a(leaf.o): .sframe",
        "outermost!outer!inner!static.exe.gz: .sframe",
        "\nstatic.exe.gz: .sframe",
    ] {
        assert!(text.contains(name), "no {name} in {text}");
    }
    // gzip, zip, tar and gzip around it: a fifth is not there to be opened.
    let (status, text) =
        folder.check(&["-v", "--fail-on", "never", "--max-depth", "4", "outermost"]);
    assert!(text.contains("static.exe.gz: cannot be read: it is inside 4"), "{status} {text}");
    assert!(text.contains("archive.a(leaf.o): .sframe") && status == 2, "{text}");
    let (status, text) = folder.check(&["-v", "--max-depth", "0", "outermost"]);
    assert!(status == 2 && text.contains("outermost: not checked, not an ELF file"), "{text}");
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

/// What tar knows besides files: each kind is named, and none stops the scan.
#[test]
fn everything_that_tar_stores_is_accounted_for() {
    let folder = Folder::new("kinds");
    folder.copy("golden/2.47.50/x86_64/static.exe", "program");
    let long = "d/".repeat(40) + &"n".repeat(150);
    let commands = format!(
        "ln -s program link && ln program name && mkfifo pipe && mkdir -p {folder} && cp program {long} \
         && cp program holes && truncate -s 3M holes && : > empty",
        folder = "d/".repeat(40),
    );
    assert!(folder.make("mkfifo", &commands));
    for format in ["gnu", "pax", "oldgnu"] {
        let command = format!(
            "tar -P --sparse --format={format} -cf all.tar --transform 's,^up,../../up,' \
             program name link pipe d holes empty && cp program up && tar -P -rf all.tar \
             --format={format} --transform 's,^up,../../up,' up"
        );
        if !folder.make("tar", &command) {
            return;
        }
        let (status, text) = folder.check(&["-v", "all.tar"]);
        assert_eq!(status, 0, "{text}");
        assert_eq!(text.matches("link in a package").count(), 2, "{text}");
        for expected in [
            "all.tar!program: .sframe V3",
            "all.tar!pipe: not checked, named pipe",
            "all.tar!empty: not checked, empty",
            "all.tar!../../up: .sframe V3",
            "all.tar!holes: .sframe V3",
            &format!("all.tar!{long}: .sframe V3"),
        ] {
            assert!(text.contains(expected), "{format}: no {expected} in {text}");
        }
    }
}

#[test]
fn nothing_is_written_beside_the_package() {
    let folder = Folder::new("unwritten");
    folder.copy("golden/2.47.50/x86_64/static.exe", "program");
    if folder.make("tar", "tar -P --transform 's,^,../../escaped/,' -czf x program && rm program") {
        let (status, text) = folder.check(&["-v", "x"]);
        assert!(status == 0 && text.contains("x!../../escaped/program: .sframe"), "{text}");
        let left: Vec<_> = fs::read_dir(folder.path("")).expect("readable").collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(!Path::new(&folder.path("../../escaped")).exists());
    }
}

/// A package with a file of 4 GiB or more lists its files in the header, and its archive has only
/// their places there; here with small ones.
#[test]
fn archives_without_names_take_them_from_the_header() {
    let folder = Folder::new("stripped");
    folder.copy("golden/2.47.50/x86_64/static.exe", "program");
    let program = folder.read("program");
    let size = program.len() as u64;
    let texts =
        |texts: &[&str]| packing::Value::Texts(texts.iter().map(|t| (*t).to_owned()).collect());
    // Two names of one file, of which the last has the bytes; a symbolic link; a folder; a file with the first one's
    // number on another device.
    let names = ["first", "second", "link", "lib", "tool"];
    let tags = [
        (1030, packing::Value::Shorts(vec![0o10_0755, 0o10_0755, 0o12_0777, 0o4_0755, 0o10_0755])),
        (1095, packing::Value::Words(vec![1, 1, 1, 1, 2])),
        (1096, packing::Value::Words(vec![7, 7, 8, 9, 7])),
        (1116, packing::Value::Words(vec![0, 0, 0, 1, 0])),
        (1117, texts(&names)),
        (1118, texts(&["/usr/bin/", "/usr/"])),
        (5008, packing::Value::Longs(vec![size, size, 6, 4096, size])),
    ];
    let mut archive = Vec::new();
    for (place, content) in [&b""[..], &program, b"second", b"", &program].iter().enumerate() {
        archive.extend(format!("07070X{place:08X}\0\0").bytes());
        archive.extend(*content);
        archive.resize(archive.len().next_multiple_of(4), 0);
    }
    archive.extend(packing::newc_member("TRAILER!!!", 0, 1, b""));
    folder.write("x.rpm", &packing::rpm_with(&tags, &archive));
    let (status, text) = folder.check(&["-v", "x.rpm"]);
    assert_eq!(status, 0, "{text}");
    for told in [
        "x.rpm!usr/bin/first: not checked, link in a package",
        "x.rpm!usr/bin/second: .sframe V3",
        "x.rpm!usr/bin/link: not checked, link in a package",
        "x.rpm!usr/bin/tool: .sframe V3",
        "4 inputs",
    ] {
        assert!(text.contains(told), "no {told} in {text}");
    }
    // A place that the list has not.
    let tail = b"07070X00000005\0\0";
    folder.write("beyond.rpm", &packing::rpm_with(&tags, tail));
    let (status, text) = folder.check(&["beyond.rpm"]);
    assert!(status == 2 && text.contains("a member is not in the list of files"), "{text}");
    // A list of which a part is missing.
    folder.write("short.rpm", &packing::rpm_with(&tags[1..], &archive));
    let (status, text) = folder.check(&["short.rpm"]);
    assert!(status == 2 && text.contains("its list of files is damaged"), "{text}");
}
