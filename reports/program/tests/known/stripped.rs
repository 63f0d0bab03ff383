//! Stripped objects are recognised if they have no symbols and no relocations at all, and only then.
//!
//! The file was stripped by GNU strip. In its neighbours, a byte of the type of a section header is different.

use std::fs;

use sframe_corpus::program::run;
use sframe_corpus::{folder, read};

use super::records;

const FILE: &str = "golden/2.44/x86_64/stripped.o";

/// The known defects of `relocation-missing` in `stripped.o` after a change, each with its count.
fn known(name: &str, change: impl Fn(&mut [u8])) -> Vec<(Option<String>, u64)> {
    let mut file = read(FILE);
    change(&mut file);
    let folder = folder!(format!("stripped-{name}"));
    fs::write(folder.join("file.o"), file).expect("writable");
    let text = run(&folder, &["--no-config", "--format", "ndjson", "file.o"]).text;
    let record = records(&text).next().expect("a record");
    let of_rule = record.counts.iter().filter(|count| count.rule.as_str() == "relocation-missing");
    of_rule.map(|of| (of.known.as_ref().map(ToString::to_string), of.count)).collect()
}

/// The place of the type of `.note.GNU-stack`: section 4, as readelf prints, by the offset of the section header table
/// (`e_shoff`, 64-bit, at 0x28) and the size of a header.
fn type_of_note(file: &[u8]) -> usize {
    let table = u64::from_le_bytes(file[0x28..0x30].try_into().expect("8 bytes"));
    usize::try_from(table).expect("in the file") + 4 * 64 + 4
}

#[test]
fn stripped_objects_are_recognised_and_their_neighbours_are_not() {
    let stripped = Some("strip-loses-relocations".to_owned());
    assert_eq!(known("none", |_| ()), [(stripped.clone(), 1)]);
    for (name, kind) in [("symtab", 2), ("rela", 4), ("rel", 9)] {
        let found = known(name, |file| file[type_of_note(file)] = kind);
        assert!(found.iter().all(|(known, _)| *known != stripped), "{name}: {found:?}");
    }
    // Another type that means nothing here.
    assert_eq!(known("note", |file| file[type_of_note(file)] = 7), [(stripped, 1)]);
}
