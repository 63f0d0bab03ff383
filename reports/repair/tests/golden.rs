//! Files that lld and gold linked, repaired, against what GNU ld made of the same objects: function by function, and row
//! by row. The expected rows are those that GNU objdump prints for GNU ld's file.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use common::{Listed, by_symbol, listed_file, listing, without_stubs};
use sframe_corpus::tools::toolchain;
use sframe_corpus::{corpus, golden, read};
use sframe_repair::{Change, RepairError, repair};
use sframe_validator::elf::Elf;

/// A file of lld or gold, and GNU ld's file of the same objects (of LLVM's objects: of the same sources).
const LINKED: [(&str, &str, &str); 12] = [
    ("lld/x86_64/shared.so", "2.44/x86_64/shared.so", "2.47.50"),
    ("lld/x86_64/static.exe", "2.44/x86_64/static.exe", "2.47.50"),
    ("lld/x86_64/v2-shared.so", "2.44/x86_64/shared.so", "2.44"),
    ("lld/x86_64/v2-static.exe", "2.44/x86_64/static.exe", "2.44"),
    ("lld/x86_64/v3-shared.so", "2.47.50/x86_64/shared.so", "2.47.50"),
    ("lld/x86_64/v3-static.exe", "2.47.50/x86_64/static.exe", "2.47.50"),
    ("gold/x86_64/v1-shared.so", "2.40/x86_64/shared.so", "2.40"),
    ("gold/x86_64/v1-static.exe", "2.40/x86_64/static.exe", "2.40"),
    ("gold/x86_64/v2-shared.so", "2.44/x86_64/shared.so", "2.44"),
    ("gold/x86_64/v2-static.exe", "2.44/x86_64/static.exe", "2.44"),
    ("gold/x86_64/v3-shared.so", "2.47.50/x86_64/shared.so", "2.47.50"),
    ("gold/x86_64/v3-static.exe", "2.47.50/x86_64/static.exe", "2.47.50"),
];

/// GNU ld describes its stubs, which the objects cannot.
fn expected(file: &str) -> Listed {
    let gnu = read(&format!("golden/{file}"));
    let text = String::from_utf8(read(&format!("golden/{file}.objdump"))).expect("text");
    by_symbol(&gnu, &without_stubs(&gnu, listing(&text)))
}

/// GNU objdump of the version reads the repaired file, and prints the functions and rows of GNU ld's file.
#[test]
fn objdump_prints_the_rows_of_gnu_ld() {
    let folder = sframe_corpus::folder!("objdump_prints_the_rows_of_gnu_ld");
    for (file, gnu, version) in LINKED {
        let repaired = repair(&read(&format!("golden/{file}"))).expect(file);
        assert!(repaired.changes.contains(&Change::SegmentAdded), "{file}");
        assert_eq!(repaired.lost, [], "{file}");
        let Some(tools) = toolchain(version) else { return };
        let objdump = tools.join("x86_64-linux-gnu-objdump");
        let text = listed_file(&folder, &objdump, &repaired.bytes);
        let found = by_symbol(&repaired.bytes, &listing(&text));
        assert!(found.len() >= 16, "{file}: only {} functions", found.len());
        let expected = expected(gnu);
        assert_eq!(found, expected, "{file}");
        println!("{file}: {} functions, {:?} {:?}", found.len(), repaired.changes, repaired.lost);
    }
}

/// A repair changes the section's bytes and its size in the section header, and the places and numbers of headers, of which
/// there are more at the end of the file. A second repair changes nothing.
#[test]
fn the_rest_of_the_file_stays() {
    for (file, ..) in LINKED {
        let before = read(&format!("golden/{file}"));
        let after = repair(&before).expect(file).bytes;
        let elf = Elf::parse(&before).expect("ELF");
        let section = elf.sframe_sections().next().expect("a section");
        let start = usize::try_from(section.offset).expect("small");
        let end = start + usize::try_from(section.size).expect("small");
        // In the file header, `e_phoff` is at 32, `e_shoff` at 40, `e_phnum` at 56, and `e_shnum` at 60. `sh_size` is at 32 in a
        // section header of 64 bytes.
        let table = u64::from_le_bytes(before[40..48].try_into().expect("8 bytes"));
        let size = usize::try_from(table + 64 * u64::from(section.index) + 32).expect("small");
        let ranges = [start..end, size..size + 8, 32..48, 56..58, 60..62];
        let allowed = |place: usize| ranges.iter().any(|range| range.contains(&place));
        let changed = (0..before.len()).filter(|place| before[*place] != after[*place]);
        let other: Vec<usize> = changed.filter(|place| !allowed(*place)).collect();
        assert!(other.is_empty(), "{file}: {other:?}");
        assert_eq!(repair(&after).expect(file).changes, [], "{file}");
    }
}

/// The number of merged sections is the number of objects on the linker's command line (`corpus/golden/MANIFEST.tsv`).
#[test]
fn changes_are_listed() {
    let repaired = repair(&read("golden/lld/x86_64/v2-shared.so")).expect("repaired");
    assert_eq!(repaired.changes[0], Change::Merged { sections: 9 });
    assert!(repaired.changes.iter().any(|change| matches!(change, Change::StartsAdjusted { .. })));
    assert_eq!(repaired.changes.last(), Some(&Change::SegmentAdded));
    assert_eq!(repaired.lost, []);
}

/// Each file of lld and gold in the corpus is compared with one of GNU ld: those linked here, and the relocatable ones in
/// `objects.rs`. The linkers removed the section of the others, which cannot come back.
#[test]
fn every_file_is_compared() {
    let mut others = Vec::new();
    for path in golden(&["so", "exe", "o"]) {
        let name =
            path.strip_prefix(corpus().join("golden")).expect("inside").display().to_string();
        let is_compared = LINKED.iter().any(|(file, ..)| *file == name);
        if name.starts_with("lld/") || name.starts_with("gold/") {
            others.extend((!is_compared).then_some(name));
        }
    }
    let (objects, empty): (Vec<_>, Vec<_>) = others.iter().partition(|name| name.ends_with(".o"));
    assert_eq!(objects.len(), 6, "{objects:?}");
    assert!(objects.iter().all(|name| name.ends_with("relocatable.o")), "{objects:?}");
    for name in empty {
        assert_eq!(repair(&read(&format!("golden/{name}"))), Err(RepairError::NoSection), "{name}");
    }
}
