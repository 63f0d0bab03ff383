//! Real RPM packages: rpmbuild makes them, and rpm2cpio with cpio unpacks them to the same names and bytes.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use sframe_corpus::{folder, tools};
use sframe_input::Special;
use sframe_input::package::{Content, Limits, Member, Unpacker};

/// What a member contains.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Bytes(Vec<u8>),
    Link,
    Empty,
}

/// A spec of files of many sizes, which all start like ELF files so that the reader hands over their bytes, with links,
/// an empty file and unusual names.
const SPEC: &str = r#"
Name: x
Version: 1
Release: 2
Summary: x
License: MIT
AutoReq: no
AutoProv: no
%global __os_install_post %{nil}
%global debug_package %{nil}
%global _build_id_links none
%description
x
%install
mkdir -p %{buildroot}/usr/lib/deep/er %{buildroot}/opt; cd %{buildroot}/usr/lib
for size in 0 1 2 3 4 5 511 512 4095 65536 70001 1048577; do
    (printf '\177ELF'; head -c $size /dev/urandom) > file-$size
done
cp file-511 'deep/name with spaces and ü'; cp file-1 deep/er/.hidden; ln file-512 hard-1; ln file-512 hard-2
ln -s file-1 link; ln -s /none dangling; : > empty; mkdir folder
%files
/usr/lib
/opt
"#;

/// The members by name, as the library reads them.
fn read(package: &Path) -> BTreeMap<String, Found> {
    let mut found = BTreeMap::new();
    let file = File::open(package).expect("readable");
    let read = Unpacker::new(Limits::default()).visit(&file, &mut |member: Member<'_>| {
        let name = String::from_utf8(member.name.expect("a name").to_vec()).expect("UTF-8");
        let identity = member.package.expect("it is stated before the files");
        assert_eq!(identity.name.as_str(), "x");
        assert_eq!(identity.version.as_ref().map(|version| version.as_str()), Some("1-2"));
        let content = match member.content {
            Content::Elf(bytes) => Found::Bytes(bytes.to_vec()),
            Content::Empty => Found::Empty,
            Content::Special(Special::StoredLink) => Found::Link,
            other => panic!("{name}: {other:?}"),
        };
        assert!(found.insert(name.clone(), content).is_none(), "{name} twice");
    });
    assert!(read.is_ok(), "{read:?}");
    found
}

/// The files below a folder. Of several names of one file, `last` is the one that has the bytes in the archive.
fn unpacked(folder: &Path, inside: &str, last: &str, found: &mut BTreeMap<String, Found>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("readable");
        let name = entry.file_name().into_string().expect("UTF-8");
        let path = format!("{inside}{name}");
        let kind = entry.file_type().expect("it has a type");
        if kind.is_dir() {
            unpacked(&entry.path(), &format!("{path}/"), last, found);
            continue;
        }
        let other_names = ["usr/lib/file-512", "usr/lib/hard-1", "usr/lib/hard-2"];
        let content = if kind.is_symlink() || other_names.contains(&path.as_str()) && path != last {
            Found::Link
        } else {
            match fs::read(entry.path()).expect("readable") {
                bytes if bytes.is_empty() => Found::Empty,
                bytes => Found::Bytes(bytes),
            }
        };
        found.insert(path, content);
    }
}

#[test]
fn members_are_the_same_as_those_of_rpm2cpio() {
    if !["rpmbuild", "rpm2cpio", "cpio"].into_iter().all(tools::is_installed) {
        return;
    }
    let folder = folder!("rpm2cpio");
    fs::write(folder.join("x.spec"), SPEC).expect("writable");
    for payload in ["w6.xzdio", "w3.zstdio", "w9.gzdio", "w9.bzdio", "w.ufdio"] {
        let command = format!(
            "rm -rf rpmbuild unpacked; mkdir unpacked
             rpmbuild -bb --quiet --define \"_topdir $PWD/rpmbuild\" --define '_binary_payload {payload}' \
                 --define '_rpmfilename x.rpm' x.spec
             mv rpmbuild/RPMS/x.rpm x.rpm; rpm2cpio x.rpm > x.cpio; cd unpacked; cpio -idm --quiet < ../x.cpio"
        );
        assert!(tools::run(&folder, "rpmbuild", &command));
        // cpio lists the names of the file in stored order.
        assert!(tools::run(&folder, "cpio", "cpio -it --quiet < x.cpio > names"));
        let names = fs::read_to_string(folder.join("names")).expect("readable");
        let is_512 = |name: &&str| name.ends_with("/file-512") || name.contains("/hard-");
        let last = names.lines().rfind(is_512).expect("it is in the archive");
        let mut expected = BTreeMap::new();
        unpacked(&folder.join("unpacked"), "", last.trim_start_matches("./"), &mut expected);
        assert_eq!(expected.len(), 19, "{payload}");
        let found = read(&folder.join("x.rpm"));
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, content) in &expected {
            assert!(found[name] == *content, "{payload}: {name}");
        }
    }
}
