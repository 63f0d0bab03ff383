//! Functions: their attributes and places. In a version 3 section with two functions, the entries are at 28 and 44, and
//! attributes at 60 and 72. The size is 8 bytes after the start field.

use crate::host::{PC64, SFRAME, TEXT, linked, object};
use crate::sound::{
    AARCH64, AMD64, S390X, V1, V2, V3, alone, bytes, entry, first, function, of, second,
};
use crate::{allowed, broken, findings};
use sframe_validator::section::FreType;
use sframe_validator::write::{FunctionBuilder, StoredFunction};
use sframe_validator::{Abi, Version};

const NONE: [&str; 0] = [];

fn one(version: Version, abi: Abi, change: impl FnOnce(&mut StoredFunction)) -> Vec<&'static str> {
    broken(&alone(version, abi, function().row(0, entry(abi)).with(change)))
}

/// Format sheet 1.5: bits 0 to 3 are the FRE type, and bit 5 AArch64's key. Bits 6 and 7 are unused before version 3,
/// in which bit 7 marks a signal frame.
#[test]
fn bits_of_the_info_bytes() {
    let obsolete = |rules: &[&'static str]| [&["obsolete-version"], rules].concat();
    for bit in [0x40, 0x80] {
        assert_eq!(one(V1, AMD64, |f| f.info = bit), obsolete(&["function-info-reserved"]));
        assert_eq!(one(V2, AMD64, |f| f.info = bit), ["function-info-reserved"]);
    }
    assert_eq!(one(V3, AMD64, |f| f.info = 0x40), ["function-info-reserved"]);
    assert_eq!(one(V3, AMD64, |f| f.info = 0x80), NONE);
    assert_eq!(one(V3, AMD64, |f| f.info = 0x20), ["pauth-key"]);
    assert_eq!(one(V3, AARCH64, |f| f.info = 0x20), ["pauth-key-unused"]);
    for bit in [0x20, 0x40, 0x80] {
        assert_eq!(one(V3, AMD64, |f| f.info2 = bit), ["function-info2-reserved"]);
    }
    assert_eq!(one(V3, AMD64, |f| f.info2 = 2), ["fde-type"]);
    assert_eq!(one(V3, AMD64, |f| f.info2 = 0x1f), ["fde-type"]);
    assert_eq!(one(V3, AMD64, |f| f.info = 3), ["fre-type"]);
    assert_eq!(one(V3, AMD64, |f| f.info = 0xf), ["fre-type"]);
}

/// GNU as: a function of 256 bytes has start fields of 2 bytes, and one of 65,536 bytes has 4. Narrower ones are right
/// as long as the last row's start fits.
#[test]
fn widths_of_start_fields() {
    let width = |size, fre_type| {
        let function = FunctionBuilder::new(0x1000, size).row(0, entry(AMD64)).fre_type(fre_type);
        broken(&alone(V3, AMD64, function))
    };
    assert_eq!(width(0xff, FreType::Addr1), NONE);
    assert_eq!(width(0xff, FreType::Addr2), ["fre-type-wide"]);
    assert_eq!(width(0x100, FreType::Addr2), NONE);
    assert_eq!(width(0x100, FreType::Addr1), NONE);
    assert_eq!(width(0xffff, FreType::Addr4), ["fre-type-wide"]);
    assert_eq!(width(0x1_0000, FreType::Addr4), NONE);
}

/// Signal trampolines have a few instructions, at most 64 bytes. Only version 3 marks them.
#[test]
fn sizes_of_signal_frames() {
    let signal = |size, is_signal| {
        let function = FunctionBuilder::new(0x1000, size).row(0, entry(AMD64));
        let function = if is_signal { function.signal_frame() } else { function };
        broken(&alone(V3, AMD64, function))
    };
    assert_eq!(signal(64, true), NONE);
    assert_eq!(signal(65, true), ["signal-frame-size"]);
    assert_eq!(signal(65, false), NONE);
}

/// V3 1.2: a default function without rows is outermost. GNU as also writes such an entry for a signal frame.
#[test]
fn functions_without_rows() {
    let with = |version, function: FunctionBuilder| {
        broken(&bytes(&of(version, AMD64, [first(AMD64, 0x1000), function])))
    };
    let empty = || FunctionBuilder::new(0x1010, 16);
    assert_eq!(with(V3, empty()), ["outermost-by-absence"]);
    assert_eq!(with(V3, empty().signal_frame()), NONE);
    assert_eq!(with(V3, empty().with(|f| f.info2 = 1)), ["flexible-without-rows"]);
    assert_eq!(with(V3, empty().signal_frame().with(|f| f.info2 = 1)), ["flexible-without-rows"]);
    assert_eq!(with(V2, empty()), ["function-without-rows"]);
    // A section without any row is one defect.
    assert_eq!(broken(&alone(V2, AMD64, function())), ["no-rows"]);
    assert_eq!(broken(&alone(V3, AMD64, function())), ["outermost-by-absence"]);
}

#[test]
fn repeated_blocks() {
    let stub = |start, size, block| {
        let function = FunctionBuilder::new(start, size).row(0, entry(AMD64)).repeat(block);
        broken(&alone(V3, AMD64, function))
    };
    for usual in [8, 16, 32] {
        assert_eq!(stub(0x1000, 96, usual), NONE);
    }
    for unusual in [4, 12, 24] {
        assert_eq!(stub(0x1000, 96, unusual), ["repeat-size-unusual"]);
    }
    assert_eq!(stub(0x1000, 96, 0), ["repeat-size-zero"]);
    assert_eq!(stub(0x1000, 104, 16), ["repeat-size-multiple"]);
    // Without a file, addresses are relative.
    assert_eq!(stub(0x1004, 96, 16), NONE);
    // Version 1 has no field for the block's size, and its rows repeat all the same.
    let old = FunctionBuilder::new(0x1000, 96).row(0, entry(AMD64)).repeat(0);
    let expected = ["obsolete-version", "repeat-size-unknown"];
    assert_eq!(broken(&alone(V1, AMD64, old)), expected);
    assert_eq!(one(V2, AMD64, |f| f.rep_size = 16), ["repeat-size-unused"]);
}

/// Without a file, functions may be anywhere in the address space, but must not end after it.
#[test]
fn the_end_of_the_address_space() {
    let at = |start, size| alone(V3, AMD64, FunctionBuilder::new(start, size).row(0, entry(AMD64)));
    assert_eq!(broken(&at(u64::MAX - 15, 15)), NONE);
    let past = at(u64::MAX - 15, 16);
    assert_eq!(broken(&past), ["function-past-code"]);
    assert_eq!(allowed(&past, "function-past-code"), (Some(36), "at most 0xf".to_owned()));
    assert_eq!(broken(&at(0, 16)), NONE);
}

/// Functions in a linked file whose code is at 0x200..0x240.
fn in_file(functions: [(u64, u32); 2]) -> Vec<u8> {
    let function = |(start, size)| FunctionBuilder::new(start, size).row(0, entry(AMD64));
    let mut builder = of(V3, AMD64, functions.map(function));
    builder.address(SFRAME);
    linked(bytes(&builder)).with(|host| host.symbols.clear()).bytes()
}

#[test]
fn functions_are_in_code() {
    let after = |start, size| broken(&in_file([(TEXT, 16), (start, size)]));
    assert_eq!(after(0x230, 16), NONE);
    assert_eq!(after(0x230, 17), ["function-past-code"]);
    assert_eq!(after(0x240, 1), ["function-outside-code"]);
    // A function of size 0 may be at the end.
    assert_eq!(after(0x240, 0), ["function-size-zero"]);
    assert_eq!(after(0x241, 0), ["function-outside-code", "function-size-zero"]);
    let before = |start, size| broken(&in_file([(start, size), (TEXT, 16)]));
    assert_eq!(before(0x1ff, 1), ["function-outside-code"]);
    // Linkers resolve references into discarded sections to 0.
    assert_eq!(before(0, 1), ["function-at-null"]);
    assert_eq!(before(1, 1), ["function-outside-code"]);
    let long = in_file([(TEXT, 16), (0x230, 20)]);
    let [finding] = &findings(&long, "function-past-code")[..] else { panic!("one") };
    assert_eq!(finding.field.as_ref().map(|field| &*field.allowed), Some("at most 0x10"));
    assert!(finding.message.ends_with("ends 0x4 bytes past its section"), "{}", finding.message);
}

/// In an object, the code has 64 bytes, and addresses count from its start, so 0 is a usual one.
#[test]
fn functions_of_objects() {
    let object = |starts: [i64; 2], size| {
        let function = |size| FunctionBuilder::new(0, size).row(0, entry(AMD64));
        let mut builder = of(V3, AMD64, [function(16), function(size)]);
        let built = builder.relocatable().build().expect("it fits");
        let host = object(built.bytes, &built.start_fields, &starts, PC64);
        broken(&host.with(|host| host.symbols.truncate(3)).bytes())
    };
    assert_eq!(object([0, 48], 16), NONE);
    assert_eq!(object([0, 48], 17), ["function-past-code"]);
    assert_eq!(object([0, 64], 0), ["function-size-zero"]);
    assert_eq!(object([0, 65], 1), ["relocation-target"]);
    // The table of an object is not sorted.
    assert_eq!(object([48, 0], 16), NONE);
}

/// AArch64's instructions have 4 bytes, and s390x's a multiple of 2.
#[test]
fn functions_are_at_instructions() {
    let at =
        |abi, start| broken(&alone(V3, abi, FunctionBuilder::new(start, 16).row(0, entry(abi))));
    assert_eq!([1, 2, 3].map(|start| at(AARCH64, 0x1000 + start)), [["function-alignment"]; 3]);
    assert_eq!([1, 3].map(|start| at(S390X, 0x1000 + start)), [["function-alignment"]; 2]);
    assert_eq!((at(S390X, 0x1002), at(AARCH64, 0x1004)), (vec![], vec![]));
}

/// V3 2.1.1: the flag says that the table is in the order of addresses.
#[test]
fn the_order_of_functions() {
    let table = |flags, starts: [i64; 2]| {
        // A start field counts from itself, and the entries are at 28 and 44.
        let function = |start: i64, field| {
            FunctionBuilder::new(0x1000, 16)
                .row(0, entry(AMD64))
                .with(move |f| f.start_field = Some(start - field))
        };
        let mut builder = of(V3, AMD64, [function(starts[0], 28), function(starts[1], 44)]);
        broken(&bytes(builder.with(|section| section.header.flags = flags)))
    };
    assert_eq!(table(5, [0x1000, 0x1010]), NONE);
    assert_eq!(table(5, [0x1010, 0x1000]), ["function-order"]);
    assert_eq!(table(4, [0x1010, 0x1000]), NONE);
    assert_eq!(table(5, [0x1000, 0x1000]), ["function-duplicate"]);
}

/// V3 2.3.1 does not exclude functions of size 0: a search for the last start finds the last of those with one start.
#[test]
fn functions_that_others_hide() {
    let sizes = |flags, sizes: &[u32]| {
        let mut builder = of(V3, AMD64, []);
        for &size in sizes {
            builder.function(FunctionBuilder::new(0x1000, size).row(0, entry(AMD64)));
        }
        bytes(builder.with(|section| section.header.flags = flags))
    };
    let hides = |flags, places: &[u32]| broken(&sizes(flags, places)).contains(&"function-hidden");
    let order: [(&[u32], bool); 7] = [
        (&[16, 0], true),
        (&[0, 16], false),
        (&[0, 0], false),
        (&[0, 16, 0], true),
        (&[16, 0, 0], true),
        (&[16, 0, 16], false),
        (&[16, 8, 0], true),
    ];
    for (places, is_hidden) in order {
        assert_eq!(hides(5, places), is_hidden, "{places:?}");
        // Without the flag, nobody searches.
        assert!(!hides(4, places), "{places:?}");
    }
    let finding = |bytes: &[u8]| findings(bytes, "function-hidden").remove(0);
    let found = finding(&sizes(5, &[16, 0]));
    assert_eq!(found.function.map(|function| (function.index, function.size)), Some((0, 16)));
    // Functions with code are an error without others, too.
    assert_eq!(broken(&sizes(5, &[16, 8])), ["function-overlap"]);
}

#[test]
fn functions_that_overlap() {
    let functions = |places: [(u64, u32); 3]| {
        let function = |(start, size)| FunctionBuilder::new(start, size).row(0, entry(AMD64));
        bytes(&of(V3, AMD64, places.map(function)))
    };
    let beside = functions([(0x1000, 16), (0x1010, 16), (0x1020, 16)]);
    assert_eq!(broken(&beside), NONE);
    // One function with several others inside it is too long: its size is at 36.
    let long = functions([(0x1000, 64), (0x1010, 16), (0x1020, 16)]);
    assert_eq!(broken(&long), ["function-overlap"]);
    assert_eq!(allowed(&long, "function-overlap"), (Some(36), "at most 0x10".to_owned()));
    // Of two functions, either can be wrong; the second one's start is at 44.
    let two = functions([(0x1000, 17), (0x1010, 16), (0x1020, 16)]);
    assert_eq!(broken(&two), ["function-overlap"]);
    assert_eq!(allowed(&two, "function-overlap"), (Some(44), "at least 0x1011".to_owned()));
    // Three functions at one place are not only a duplicate.
    let same = functions([(0x1000, 16), (0x1000, 16), (0x1000, 16)]);
    assert_eq!(broken(&same), ["function-overlap"]);
    // Functions of size 0 claim no code.
    let empty = functions([(0x1000, 16), (0x1008, 0), (0x1010, 16)]);
    assert_eq!(broken(&empty), ["function-size-zero"]);
    let second = second(AMD64, 0x1000);
    let shorter = of(V3, AMD64, [first(AMD64, 0x1000), second.with(|f| f.size = 8)]);
    assert_eq!(broken(&bytes(&shorter)), ["function-overlap"]);
}
