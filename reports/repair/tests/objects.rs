//! Relocatable objects: sections that lld and gold appended, and relocations that `ld -r` of GNU ld 2.40 and 2.44 left
//! where they were. The truth is in the object's symbol table and its code, as GNU ld and objdump see them after a link.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::path::Path;
use std::process::Command;

use common::{Listed, by_symbol, listed_file, listing, without_stubs};
use sframe_corpus::read;
use sframe_repair::{Change, RepairError, repair};

/// An object, and the release of GNU ld that can link its version of SFrame.
const OBJECTS: [(&str, &str); 9] = [
    ("golden/gold/x86_64/v1-relocatable.o", "2.40"),
    ("golden/gold/x86_64/v2-relocatable.o", "2.44"),
    ("golden/gold/x86_64/v3-relocatable.o", "2.47.50"),
    ("golden/lld/x86_64/v2-relocatable.o", "2.44"),
    ("golden/lld/x86_64/v3-relocatable.o", "2.47.50"),
    ("golden/2.40/x86_64/relocatable.o", "2.40"),
    ("golden/2.44/x86_64/relocatable.o", "2.44"),
    ("golden/2.40/x86_64/relocatable-comdat.o", "2.40"),
    ("golden/2.44/x86_64/relocatable-comdat.o", "2.44"),
];

/// The functions that objdump finds in a shared object that GNU ld makes of objects; `None` without the tools.
fn linked(folder: &Path, version: &str, objects: &[Vec<u8>]) -> Option<Listed> {
    let tools = sframe_corpus::tools::toolchain(version)?;
    let mut ld = Command::new(tools.join("x86_64-linux-gnu-ld"));
    ld.current_dir(folder).args(["--build-id=none", "-shared", "-o", "linked.so"]);
    for (index, object) in objects.iter().enumerate() {
        let name = format!("{index}.o");
        std::fs::write(folder.join(&name), object).expect("writable");
        ld.arg(name);
    }
    let output = ld.output().expect("ld runs");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !messages.contains("sframe"), "{messages}");
    let linked = std::fs::read(folder.join("linked.so")).expect("linked");
    let text = listed_file(folder, version, &linked)?;
    Some(by_symbol(&linked, &without_stubs(&linked, listing(&text))))
}

/// The assembler's objects from which an object was linked: the last words of its command in the manifest.
fn inputs(object: &str, version: &str) -> Vec<Vec<u8>> {
    let names: &[&str] = match object.contains("comdat") {
        true => &["comdat-a", "leaf"],
        false => &["calls", "cfi", "leaf"],
    };
    names.iter().map(|name| read(&format!("golden/{version}/x86_64/{name}.o"))).collect()
}

/// A link of the repaired object describes what a link of the objects from which it was made describes.
#[test]
fn repaired_objects_can_be_linked() {
    let folder = sframe_corpus::folder!("repaired_objects_can_be_linked");
    for (object, version) in OBJECTS {
        let repaired = repair(&read(object)).expect(object);
        println!("{object}: {:?} {:?}", repaired.changes, repaired.lost);
        let Some(found) = linked(&folder, version, &[repaired.bytes]) else { return };
        let Some(expected) = linked(&folder, version, &inputs(object, version)) else { return };
        assert!(found.len() >= 5, "{object}: {found:?}");
        assert_eq!(found, expected, "{object}");
    }
}
