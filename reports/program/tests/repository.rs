//! Debian repositories, indexed by `dpkg-scanpackages`.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use std::fs;

use packing::Folder;

/// Three packages in `pool`: libx of section libs, x-tools of section utils, both for amd64, and libx
/// for arm64; `packages.sums` has dpkg-scanpackages' index of them.
fn folder(name: &str) -> Option<Folder> {
    let folder = Folder::new(name);
    folder.copy("golden/2.47.50/x86_64/static.exe", "program");
    let commands = r#"
        mkdir pool
        build() {
            mkdir -p d/DEBIAN d/usr/bin; cp program d/usr/bin/$1-$2; head -c $4 /dev/urandom > d/usr/bin/text
            printf 'Package: %s\nVersion: 1\nArchitecture: %s\nSection: %s\nMaintainer: x <x@example.org>\nDescription: x\n more\n' \
                $1 $2 $3 > d/DEBIAN/control
            dpkg-deb --root-owner-group -Zxz -b d pool/$1_1_$2.deb > /dev/null; rm -r d
        }
        build libx amd64 libs 10; build x-tools amd64 utils 200000; build libx arm64 libs 10
        dpkg-scanpackages --multiversion pool > index 2> /dev/null
        dpkg-scanpackages --multiversion --arch amd64 pool > index-amd64 2> /dev/null
    "#;
    folder.make("dpkg-scanpackages", commands).then_some(folder)
}

/// The names of programs that were checked.
fn checked(folder: &Folder, arguments: &[&str]) -> Vec<String> {
    let (_, text) = folder.check(&[&["repo", "-v"], arguments].concat());
    let names =
        text.lines().filter_map(|line| line.split_once("!usr/bin/")?.1.split_once(": .sframe"));
    names.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn flat_repositories_are_read_whatever_the_compression() {
    let Some(folder) = folder("repo-flat") else { return };
    let all = ["libx-amd64", "libx-arm64", "x-tools-amd64"];
    let url = format!("file://{}", folder.path("").display());
    for command in ["cp index Packages", "xz -c index > Packages.xz", "gzip -c index > Packages.gz"]
    {
        assert!(folder.make("xz", &format!("rm -f Packages*; {command}")));
        let mut found = checked(&folder, &["."]);
        found.sort();
        assert_eq!(found, all, "{command}");
        assert_eq!(checked(&folder, &[&url]).len(), 3);
    }
    // What is listed twice is checked once.
    assert!(folder.make("xz", "rm -f Packages*; cat index index > Packages"));
    assert_eq!(checked(&folder, &["."]).len(), 3);
}

#[test]
fn a_list_is_what_a_scan_takes() {
    let Some(folder) = folder("repo-list") else { return };
    assert!(folder.make("cp", "cp index Packages"));
    let (status, list) = folder.check(&["repo", "--list", "--architecture", "amd64", "."]);
    let mut paths: Vec<_> = list.split_terminator('\0').collect();
    paths.sort_unstable();
    // As dpkg-scanpackages has written them.
    assert_eq!(paths, ["./pool/libx_1_amd64.deb", "./pool/x-tools_1_amd64.deb"]);
    assert_eq!(status, 0);
}

#[test]
fn packages_are_chosen() {
    let Some(folder) = folder("repo-chosen") else { return };
    assert!(folder.make("cp", "cp index Packages"));
    for (arguments, wanted) in [
        (&["--name", "x-*"][..], &["x-tools-amd64"][..]),
        (&["--name", "lib*", "--architecture", "arm64"], &["libx-arm64"]),
        (&["--section", "util*"], &["x-tools-amd64"]),
        (&["--min-size", "100K"], &["x-tools-amd64"]),
        (&["--max-size", "100K", "--architecture", "amd64"], &["libx-amd64"]),
        (&["--name", "none"], &[]),
    ] {
        assert_eq!(checked(&folder, &[arguments, &["."]].concat()), wanted, "{arguments:?}");
    }
    let (status, text) = folder.check(&["repo", "--name", "none", "."]);
    assert!(status == 2 && text.contains("0 inputs"), "{text}");
}

#[test]
fn suites_components_and_machines_are_folders() {
    let Some(folder) = folder("repo-dists") else { return };
    let commands = "mkdir -p dists/one/main/binary-amd64 dists/one/main/source dists/two/contrib/binary-arm64
        ln -s one dists/stable; cp index-amd64 dists/one/main/binary-amd64/Packages
        grep -q arm64 index && dpkg-scanpackages --multiversion --arch arm64 pool 2>/dev/null | gzip \
            > dists/two/contrib/binary-arm64/Packages.gz
        printf 'Origin: x\\nComponents: main\\nArchitectures: amd64\\nSHA256:\\n' > dists/one/Release";
    assert!(folder.make("dpkg-scanpackages", commands));
    for (arguments, wanted) in [
        (&[][..], &["libx-amd64", "x-tools-amd64", "libx-arm64"][..]),
        (&["--suite", "two"], &["libx-arm64"]),
        (&["--suite", "stable"], &["libx-amd64", "x-tools-amd64"]),
        (&["--component", "contrib"], &["libx-arm64"]),
        (&["--architecture", "arm64"], &["libx-arm64"]),
    ] {
        assert_eq!(checked(&folder, &[arguments, &["."]].concat()), wanted, "{arguments:?}");
    }
    // Beside suites, an index of none.
    assert!(folder.make("cp", "cp index Packages"));
    assert_eq!(checked(&folder, &["--suite", "two", "."]), ["libx-arm64"]);
    assert_eq!(checked(&folder, &["."]).len(), 3);
    assert!(folder.make("rm", "rm Packages"));
    for (arguments, why) in [
        (["--suite", "three"], "no index found"),
        (["--suite", "../dists/one"], "leads out of the repository"),
    ] {
        let (status, text) = folder.check(&[&["repo"], &arguments[..], &["."]].concat());
        // `three` could have any component: none is known.
        assert!(status == 2 && text.contains(why), "{text}");
    }
}

/// What an index says of one package, changed: that package is told, and the others are checked.
#[test]
fn indexes_are_not_believed() {
    let Some(folder) = folder("repo-hostile") else { return };
    fs::create_dir(folder.path("repository")).expect("writable");
    assert!(folder.make("mv", "cp pool/libx_1_amd64.deb outside.deb && mv pool repository"));
    let index = String::from_utf8(folder.read("index")).expect("UTF-8");
    let stanza =
        |name: &str| index.split("\n\n").find(|text| text.contains(name)).expect("it is there");
    let sound = stanza("libx_1_amd64.deb");
    let line = |field: &str| sound.lines().find(|line| line.starts_with(field)).expect("a field");
    let size: u64 = line("Size: ")[6..].parse().expect("a number");
    for (field, value, reason) in [
        ("Filename: ", "../outside.deb".to_owned(), "its Filename points outside"),
        (
            "Filename: ",
            format!("{}", folder.path("outside.deb").display()),
            "its Filename points outside",
        ),
        ("Filename: ", "pool/../../outside.deb".to_owned(), "its Filename points outside"),
        ("Filename: ", "pool/none.deb".to_owned(), "No such file"),
        ("Filename: ", "pool".to_owned(), "it is not a regular file"),
        ("Size: ", format!("{}", size - 1), "it has more than"),
        ("Size: ", format!("{}", size + 1), "bytes, but its index says"),
        ("Size: ", "many".to_owned(), "its size is not a number"),
        ("SHA256: ", "0".repeat(64), "its SHA-256 differs from the one"),
        ("SHA256: ", "0".to_owned(), "its SHA-256 is missing"),
    ] {
        let changed = sound.replace(line(field), &format!("{field}{value}"));
        let text = [&changed, stanza("x-tools"), ""].join("\n\n");
        folder.write("repository/Packages", text.as_bytes());
        let (status, text) = folder.check(&["repo", "-v", "repository"]);
        assert!(status == 2 && text.contains(reason), "{field}{value}: {text}");
        assert!(text.contains("x-tools-amd64: .sframe V3"), "{field}{value}: {text}");
    }
    // A stanza without end, and an index that is damaged.
    let endless =
        [stanza("x-tools").as_bytes(), b"\n\nPackage: x\n", &vec![b'x'; 3 << 20]].concat();
    folder.write("repository/Packages", &endless);
    let (status, text) = folder.check(&["repo", "-v", "repository"]);
    assert!(status == 2 && text.contains("a stanza is longer than 1 MiB"), "{text}");
    assert!(text.contains("x-tools-amd64: .sframe V3"), "{text}");
    assert!(folder.make(
        "xz",
        "rm repository/Packages && xz -c index | head -c 300 > repository/Packages.xz"
    ));
    let (status, text) = folder.check(&["repo", "-v", "repository"]);
    assert!(status == 2 && text.contains("Packages.xz: cannot be read: xz data"), "{text}");
}

#[test]
fn repositories_of_too_many_indexes_are_told() {
    let folder = Folder::new("repo-many");
    std::fs::create_dir_all(folder.path("dists/x")).expect("writable");
    let words = |count: usize| (0..count).map(|number| format!(" {number}")).collect::<String>();
    for (components, told) in [(100, "0 inputs"), (101, "more than 10000 indexes")] {
        let release = format!("Components:{}\nArchitectures:{}\n", words(components), words(100));
        folder.write("dists/x/Release", release.as_bytes());
        let (status, text) = folder.check(&["repo", "."]);
        assert!(status == 2 && text.contains(told), "{components}: {text}");
    }
}
