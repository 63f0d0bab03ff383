//! `--debug-packages`: members are compared with the CFI of debug files in packages, as with `--debug-dir`.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use packing::Folder;
use serde_json::Value;

/// A folder with two stripped programs without `.eh_frame` in `x.deb`. Their debug files are in
/// `debug/x-dbgsym.deb`, and unpacked below `unpacked`.
fn folder(name: &str) -> Option<Folder> {
    let folder = Folder::new(name);
    folder.write("a.c", b"int _start(void) { return 7; }\n");
    folder.write("b.c", b"int f(int x) { return x; }\nint _start(void) { return f(7); }\n");
    let control =
        "Version: 1\\nArchitecture: amd64\\nMaintainer: x <x@example.org>\\nDescription: x\\n";
    let commands = format!(
        "mkdir -p x/DEBIAN x/usr/bin unpacked/DEBIAN debug; ids=unpacked/usr/lib/debug/.build-id; mkdir -p $ids/ab $ids/cd
         build() {{
            gcc -g -O0 -fno-asynchronous-unwind-tables -nostdlib -static -Wl,--build-id=0x$2$3 -o $1 $1.c
            objcopy --only-keep-debug $1 $ids/$2/$3.debug
            objcopy --strip-debug $1 x/usr/bin/$1
         }}
         build a ab cdef; build b cd ef01
         printf 'Package: x\\n{control}' > x/DEBIAN/control
         printf 'Package: x-dbgsym\\n{control}' > unpacked/DEBIAN/control
         dpkg-deb --root-owner-group -b x x.deb; dpkg-deb --root-owner-group -b unpacked debug/x-dbgsym.deb"
    );
    (folder.make("objcopy", "true") && folder.make("dpkg-deb", &commands)).then_some(folder)
}

/// The reports about the two programs.
fn programs(folder: &Folder, arguments: &[&str]) -> Vec<Value> {
    let arguments = [&["--coverage", "--format", "json"], arguments, &["x.deb"]].concat();
    let (_, text) = folder.check(&arguments);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let files = document["files"].as_array().expect("files").iter();
    files
        .filter(|file| file["inside"].as_str().is_some_and(|name| name.starts_with("usr")))
        .cloned()
        .collect()
}

#[test]
fn members_are_compared_with_their_debug_files() {
    let Some(folder) = folder("debug-packages") else { return };
    let alone = programs(&folder, &[]);
    assert_eq!(alone.len(), 2);
    assert!(alone.iter().all(|file| file["coverage"]["functions"]["only_cfi"] == 0));
    let mut unpacked = programs(&folder, &["--debug-dir", "unpacked/usr/lib/debug"]);
    assert_eq!(unpacked[1]["coverage"]["functions"]["only_cfi"], 2);
    for file in &mut unpacked {
        let path = file["coverage"]["debug_file"].as_str().expect("a path");
        let packed = path.replace("unpacked/", "debug/x-dbgsym.deb!");
        file["coverage"]["debug_file"] = packed.into();
    }
    for packages in ["debug", "debug/x-dbgsym.deb"] {
        assert_eq!(programs(&folder, &["--debug-packages", packages]), unpacked, "{packages}");
    }
}

/// RPM packages name debug files after the program, and have a link from the build-id to the file.
#[test]
fn debug_files_are_found_by_build_id_not_by_name() {
    let Some(folder) = folder("debug-names") else { return };
    let link = "cd unpacked && mkdir -p usr/lib/debug/usr/bin && mv usr/lib/debug/.build-id/ab/cdef.debug \
                usr/lib/debug/usr/bin/a-1.x86_64.debug && ln -s ../../usr/bin/a-1.x86_64.debug usr/lib/debug/.build-id/ab/cdef.debug \
                && tar -cf ../x-debug.pkg.tar usr";
    if !folder.make("tar", link) {
        return;
    }
    let found = programs(&folder, &["--debug-packages", "x-debug.pkg.tar"]);
    let coverage = &found[0]["coverage"];
    assert_eq!(coverage["functions"]["only_cfi"], 1);
    assert_eq!(coverage["debug_file"], "x-debug.pkg.tar!usr/lib/debug/usr/bin/a-1.x86_64.debug");
}

#[test]
fn the_first_package_with_a_build_id_is_used() {
    let Some(folder) = folder("debug-twice") else { return };
    assert!(folder.make("cp", "cp debug/x-dbgsym.deb a.deb && cp a.deb b.deb"));
    for (packages, first) in [(["a.deb", "b.deb"], "a.deb!"), (["b.deb", "a.deb"], "b.deb!")] {
        let packages = packages.map(|package| ["--debug-packages", package]).concat();
        let found = programs(&folder, &packages);
        let path = found[0]["coverage"]["debug_file"].as_str().expect("a path");
        assert!(path.starts_with(first), "{path}");
    }
}

#[test]
fn unusable_packages_are_reported() {
    let Some(folder) = folder("debug-useless") else { return };
    let (status, text) = folder.check(&["-v", "--debug-packages", "x.deb", "x.deb"]);
    assert!(
        status == 2 && text.contains("x.deb: cannot be read: it is not a package of debug files"),
        "{text}"
    );
    let bytes = folder.read("debug/x-dbgsym.deb");
    folder.write("cut.deb", &bytes[..bytes.len() / 2]);
    let (status, text) = folder.check(&["-v", "--debug-packages", "cut.deb", "x.deb"]);
    assert!(status == 2 && text.contains("cut.deb: cannot be read: "), "{text}");
    // If a file in a package cannot be read, the message names the file.
    let large = "cp unpacked/usr/lib/debug/.build-id/ab/cdef.debug unpacked/usr/lib/debug/large \
                 && truncate -s 3M unpacked/usr/lib/debug/large && tar -cf large.tar -C unpacked usr/lib/debug/large";
    assert!(folder.make("tar", large));
    let limited = ["-v", "--max-member-size", "2", "--debug-packages", "large.tar", "x.deb"];
    let (status, text) = folder.check(&limited);
    let message = "large.tar: cannot be read: usr/lib/debug/large: it is larger than 2 MiB";
    assert!(status == 2 && text.contains(message), "{text}");
    // A pattern that matches nothing is reported, unlike a missing path, which is a usage error.
    let (status, text) = folder.check(&["-v", "--debug-packages", "nowhere*", "x.deb"]);
    assert!(status == 2 && text.contains("nowhere*: cannot be read: no file matches"), "{text}");
}
