//! The relocations of objects. The start fields of two functions are at 28 and 44 in version 3, and at 28 and 48 in
//! version 2.

use crate::broken;
use crate::host::{Host, PC32, PC64, func, object};
use crate::sound::{AMD64, V2, V3, first, of, second};
use sframe_validator::Version;
use sframe_validator::check::Checker;
use sframe_validator::finding::HeaderSummary;
use sframe_validator::section::Flags;
use sframe_validator::write::elf::Relocation;
use sframe_validator::{Abi, Endian};

const NONE: [&str; 0] = [];

/// Two functions at 0 and 16 in a section of 64 bytes.
fn relocatable(version: Version) -> Host {
    let mut builder = of(version, AMD64, [first(AMD64, 0), second(AMD64, 16)]);
    let built = builder.relocatable().build().expect("it fits");
    let kind = if version == V3 { PC64 } else { PC32 };
    object(built.bytes, &built.start_fields, &[0, 16], kind)
}

fn with(change: impl FnOnce(&mut Host)) -> Vec<&'static str> {
    broken(&relocatable(V3).with(change).bytes())
}

const fn relocation(offset: u64, symbol: u32, kind: u32, addend: i64) -> Relocation {
    Relocation { offset, symbol, kind, addend }
}

#[test]
fn relocations_of_start_fields() {
    assert_eq!(with(|_| ()), NONE);
    assert_eq!(broken(&relocatable(V2).bytes()), NONE);
    // The bytes beside a start field are none.
    for offset in [27, 29, 45, 60, 79, 80, 1 << 40] {
        let misplaced = with(|host| host.relocations.push(relocation(offset, 1, PC64, 0)));
        assert_eq!(misplaced, ["relocation-misplaced"], "{offset}");
    }
    // Without relocations, the functions have no places.
    let lost = ["relocation-missing", "symbol-uncovered"];
    assert_eq!(with(|host| host.relocations.clear()), lost);
    assert_eq!(with(|host| host.relocations.truncate(1)), lost);
    // If a relocation is misplaced, it is the missing one.
    let moved = with(|host| host.relocations[1].offset = 52);
    assert_eq!(moved, ["relocation-misplaced", "symbol-uncovered"]);
    // The third one at the same place is not reported again.
    let twice = with(|host| {
        let first = host.relocations[0];
        host.relocations.splice(0..1, [first; 3]);
    });
    assert_eq!(twice, ["relocation-duplicate"]);
    let none = with(|host| host.relocations.insert(1, relocation(0, 0, 0, 0)));
    assert_eq!(none, ["relocation-none"]);
}

/// Linkers that do not know SFrame append the sections of their inputs, each with its own relocations.
#[test]
fn relocations_of_appended_sections() {
    let appended = |offset| {
        with(|host| {
            let section = host.sframe().clone();
            host.sframe().extend(section);
            host.relocations.push(relocation(offset, 1, PC64, 32));
            host.header().size = 160;
        })
    };
    assert_eq!(appended(80 + 28), ["concatenated-section"]);
    assert_eq!(appended(80), ["concatenated-section"]);
    assert_eq!(appended(79), ["relocation-misplaced", "concatenated-section"]);
}

/// The target is a function in code, or directly after it.
#[test]
fn targets_of_relocations() {
    let target = |symbol, addend| {
        with(|host| {
            (host.relocations[1].symbol, host.relocations[1].addend) = (symbol, addend);
            host.symbols.truncate(3);
        })
    };
    assert_eq!(target(1, 48), NONE);
    assert!(!target(1, 64).contains(&"relocation-target"));
    assert_eq!(target(1, 65), ["relocation-target"]);
    assert!(target(2, 0).contains(&"relocation-target"));
    assert!(target(3, 0).contains(&"relocation-target"));
}

/// Format sheet 1.9: the types of each machine and version.
#[test]
fn types_of_relocations() {
    let kind = |version, kind| {
        broken(&relocatable(version).with(|host| host.relocations[1].kind = kind).bytes())
    };
    assert_eq!(kind(V3, 24), NONE);
    assert_eq!(kind(V3, 2), ["relocation-type"]);
    assert_eq!(kind(V2, 2), NONE);
    assert_eq!(kind(V2, 24), ["relocation-type"]);
}

/// A symbol that is no function, or whose size is unknown, needs no entry.
#[test]
fn symbols_of_objects() {
    let symbol = |value, size| with(|host| host.symbols.push(func("third", 1, value, size)));
    assert_eq!(symbol(32, 16), ["symbol-uncovered"]);
    assert_eq!(symbol(32, 1), ["symbol-uncovered"]);
    assert_eq!(symbol(32, 0), NONE);
    assert_eq!(symbol(31, 1), NONE);
    assert_eq!(symbol(16, 17), NONE, "one of two symbols has the right size");
    // STT_OBJECT and STT_NOTYPE.
    for kind in [0x11, 0x10] {
        let none = with(|host| {
            host.symbols.push(func("third", 1, 32, 16));
            host.symbols.last_mut().expect("pushed").info = kind;
        });
        assert_eq!(none, NONE);
    }
    // A function that is undefined, and an STT_GNU_IFUNC.
    assert_eq!(with(|host| host.symbols.push(func("third", 0, 32, 16))), NONE);
    let indirect = with(|host| {
        host.symbols.push(func("third", 1, 32, 16));
        host.symbols.last_mut().expect("pushed").info = 0x1a;
    });
    assert_eq!(indirect, ["symbol-uncovered"]);
    assert_eq!(with(|host| host.symbols[4].size = 17), ["function-size-symbol"]);
    assert_eq!(with(|host| host.symbols[4].size = 0), NONE);
}

/// Sections can be merged only if these properties are equal.
#[test]
fn inputs_of_one_link() {
    let header = HeaderSummary {
        version: V3,
        flags: Flags(4),
        abi: Some(AMD64),
        endian: Endian::Little,
        fixed_fp_offset: 0,
        fixed_ra_offset: -8,
    };
    let set = |other: HeaderSummary| {
        let inputs = [("a.o", header), ("b.o", header), ("c.o", other)];
        let report = Checker::default().link_set(&inputs);
        report.findings.iter().map(|finding| finding.message.clone()).collect::<Vec<_>>()
    };
    let differ = |what| {
        [format!("the sections of a.o and c.o have different {what}: one link cannot merge them")]
    };
    assert_eq!(set(header), NONE);
    assert_eq!(set(HeaderSummary { version: V2, ..header }), differ("versions"));
    assert_eq!(set(HeaderSummary { abi: Some(Abi::S390x), ..header }), differ("ABIs"));
    assert_eq!(set(HeaderSummary { endian: Endian::Big, ..header }), differ("ABIs"));
    assert_eq!(set(HeaderSummary { fixed_ra_offset: 0, ..header }), differ("fixed offsets"));
    assert_eq!(set(HeaderSummary { fixed_fp_offset: 8, ..header }), differ("fixed offsets"));
    let counted = differ("ways to count start fields");
    assert_eq!(set(HeaderSummary { flags: Flags(0), ..header }), counted);
    // Only the way to count matters, not the order.
    assert_eq!(set(HeaderSummary { flags: Flags(5), ..header }), NONE);
    assert!(Checker::default().link_set(&[]).findings.is_empty());
}
