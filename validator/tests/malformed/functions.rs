//! The function table, and the places of functions and rows. In a version 3 section with one function, the entry is at
//! 28, its attributes at 44 and its first row at 49. With two functions, the entries are at 28 and 44; attributes and
//! rows are at 60 and 65 for the first function, and at 72 and 77 for the second. In version 2, the only entry is at
//! 28, and its rows are at 48.

use super::{at, field};
use crate::Case;
use crate::host::{PC64, SFRAME, TEXT, linked, object};
use crate::sound::{
    AARCH64, AMD64, V1, V2, V3, alone, based, bytes, entry, first, function, of, saved, second, two,
};
use sframe_validator::section::FreType;
use sframe_validator::unwind::Frame;
use sframe_validator::write::{FunctionBuilder, StoredFunction};
use sframe_validator::{Abi, Version};

/// One function of 16 bytes with a row at 0, with changed fields.
fn one(version: Version, abi: Abi, change: impl FnOnce(&mut StoredFunction)) -> Vec<u8> {
    alone(version, abi, function().row(0, entry(abi)).with(change))
}

fn unchanged(_: &mut StoredFunction) {}

/// A stub of four blocks of 16 bytes, with rows at 0 and 11, as GNU ld writes it for AMD64.
fn stub(start: u64) -> FunctionBuilder {
    FunctionBuilder::new(start, 64)
        .row(0, entry(AMD64))
        .row(11, based(AMD64, AMD64.sp(), 16))
        .repeat(16)
}

/// Functions of a linked file. Symbols would only add lints.
fn in_file(functions: [FunctionBuilder; 2]) -> Vec<u8> {
    let mut builder = of(V3, AMD64, functions);
    builder.address(SFRAME);
    linked(bytes(&builder)).with(|host| host.symbols.clear()).bytes()
}

/// One function of an object.
fn in_object(function: FunctionBuilder) -> Vec<u8> {
    let mut builder = of(V3, AMD64, [function]);
    builder.relocatable();
    let built = builder.build().expect("the section can be written");
    let host = object(built.bytes, &built.start_fields, &[0], PC64);
    host.with(|host| host.symbols.truncate(3)).bytes()
}

pub fn cases() -> Vec<Case> {
    let mut cases = attributes();
    cases.extend(repeats());
    cases.extend(places());
    cases.extend(rows());
    cases.extend(row_places());
    cases
}

fn attributes() -> Vec<Case> {
    let sound = || one(V3, AMD64, unchanged);
    let no_rows = |f: FunctionBuilder| bytes(&of(V3, AMD64, [first(AMD64, 0x1000), f]));
    let empty = || FunctionBuilder::new(0x1010, 16);
    let signal = |size| FunctionBuilder::new(0x1000, size).signal_frame().row(0, entry(AMD64));
    vec![
        field(
            "rows-offset-outside",
            sound(),
            one(V3, AMD64, |f| f.fre_offset = Some(0xffff_0000)),
            40,
            "sfdi_func_start_fre_off",
        ),
        field("fre-type", sound(), one(V3, AMD64, |f| f.info = 3), 46, "sfda_func_info"),
        field(
            "function-info-reserved",
            sound(),
            one(V3, AMD64, |f| f.info = 0x40),
            46,
            "sfda_func_info",
        ),
        field("pauth-key", sound(), one(V3, AMD64, |f| f.info = 0x20), 46, "sfda_func_info"),
        field("fde-type", sound(), one(V3, AMD64, |f| f.info2 = 2), 47, "sfda_func_info2"),
        field(
            "function-info2-reserved",
            sound(),
            one(V3, AMD64, |f| f.info2 = 0x20),
            47,
            "sfda_func_info2",
        ),
        field(
            "function-padding",
            one(V2, AMD64, unchanged),
            one(V2, AMD64, |f| f.padding = 0xbeef),
            46,
            "sfde_func_padding2",
        ),
        field(
            "flexible-without-rows",
            no_rows(empty().row(0, entry(AMD64))),
            no_rows(empty().with(|f| f.info2 = 1)),
            75,
            "sfda_func_info2",
        ),
        field(
            "outermost-by-absence",
            no_rows(empty().row(0, entry(AMD64))),
            no_rows(empty()),
            72,
            "sfda_func_num_fres",
        ),
        field(
            "signal-frame-size",
            alone(V3, AMD64, signal(16)),
            alone(V3, AMD64, signal(256)),
            36,
            "sfdi_func_size",
        ),
        field(
            "fre-type-wide",
            sound(),
            alone(V3, AMD64, function().row(0, entry(AMD64)).fre_type(FreType::Addr4)),
            46,
            "sfda_func_info",
        ),
        field(
            "flex-abi",
            alone(V3, AARCH64, function().row(0, entry(AARCH64))),
            // A CFA based on this register requires a flexible function.
            alone(V3, AARCH64, function().row(0, x9_based())),
            47,
            "sfda_func_info2",
        ),
        field(
            "flex-needless",
            sound(),
            alone(V3, AMD64, function().row(0, entry(AMD64)).flexible()),
            47,
            "sfda_func_info2",
        ),
        field(
            "pauth-key-unused",
            one(V3, AARCH64, unchanged),
            alone(V3, AARCH64, function().row(0, entry(AARCH64)).pauth_key_b()),
            46,
            "sfda_func_info",
        ),
    ]
}

/// CFA = x9 + 0.
fn x9_based() -> Frame {
    based(AARCH64, sframe_validator::unwind::Register(9), 0)
}

fn repeats() -> Vec<Case> {
    let sound = || alone(V3, AMD64, stub(0x1000));
    let unaligned = |start| in_file([stub_of(start, 32), second(AMD64, TEXT + 48)]);
    vec![
        field(
            "repeat-size-zero",
            sound(),
            alone(V3, AMD64, stub(0x1000).with(|f| f.rep_size = 0)),
            48,
            "sfda_func_rep_size",
        ),
        field(
            "repeat-size-unknown",
            alone(V1, AMD64, function().row(0, entry(AMD64))),
            alone(V1, AMD64, stub(0x1000).repeat(0)),
            // The only entry of version 1 is at 28.
            44,
            "sfde_func_info",
        )
        .besides(&["obsolete-version"]),
        field(
            "repeat-size-unused",
            one(V3, AMD64, unchanged),
            one(V3, AMD64, |f| f.rep_size = 16),
            48,
            "sfda_func_rep_size",
        ),
        field(
            "repeat-size-multiple",
            sound(),
            alone(V3, AMD64, stub_of(0x1000, 40)),
            36,
            "sfdi_func_size",
        ),
        field(
            "repeat-start-alignment",
            unaligned(TEXT),
            unaligned(TEXT + 8),
            28,
            "sfdi_func_start_offset",
        )
        // The stub is in .text, which another rule reports as well.
        .besides(&["repeat-outside-stubs"]),
        field(
            "repeat-size-unusual",
            sound(),
            alone(V3, AMD64, stub_of(0x1000, 48).repeat(12)),
            48,
            "sfda_func_rep_size",
        ),
        field(
            "repeat-in-object",
            in_object(FunctionBuilder::new(0, 16).row(0, entry(AMD64))),
            in_object(FunctionBuilder::new(0, 16).row(0, entry(AMD64)).repeat(16)),
            46,
            "sfda_func_info",
        ),
        field(
            "row-outside-block",
            sound(),
            alone(V3, AMD64, stub(0x1000).row(16, entry(AMD64))),
            // This follows rows of 3 bytes at 49 and 52.
            55,
            "sfre_start_address",
        ),
    ]
}

fn stub_of(start: u64, size: u32) -> FunctionBuilder {
    FunctionBuilder::new(start, size)
        .row(0, entry(AMD64))
        .row(11, based(AMD64, AMD64.sp(), 16))
        .repeat(16)
}

fn places() -> Vec<Case> {
    let sound = || in_file([first(AMD64, TEXT), second(AMD64, TEXT + 16)]);
    let second_at = |start| in_file([first(AMD64, TEXT), second(AMD64, start)]);
    let pair = |a, b| bytes(&of(V3, AMD64, [first(AMD64, a), second(AMD64, b)]));
    let sizes = |sizes: [u32; 2]| {
        let function = |size| FunctionBuilder::new(0x1000, size).row(0, entry(AMD64));
        bytes(&of(V3, AMD64, sizes.map(function)))
    };
    let object_of = |size| in_object(FunctionBuilder::new(0, size).row(0, entry(AMD64)));
    let aarch64 =
        |start| alone(V3, AARCH64, FunctionBuilder::new(start, 16).row(0, entry(AARCH64)));
    let unsorted = {
        // Each start field has the value that the other should have: 0x1010 - 28 and 0x1000 - 44.
        let starts = |value| move |f: &mut StoredFunction| f.start_field = Some(value);
        let a = first(AMD64, 0x1000).with(starts(0x1010 - 28));
        let b = second(AMD64, 0x1010).with(starts(0x1000 - 44));
        bytes(&of(V3, AMD64, [a, b]))
    };
    vec![
        field(
            "function-at-null",
            sound(),
            in_file([second(AMD64, 0), first(AMD64, TEXT)]),
            28,
            "sfdi_func_start_offset",
        ),
        field(
            "function-outside-code",
            sound(),
            // The place is in the section that follows .sframe.
            second_at(0x2f0),
            44,
            "sfdi_func_start_offset",
        ),
        field("function-past-code", object_of(64), object_of(65), 36, "sfdi_func_size"),
        field("function-alignment", aarch64(0x1000), aarch64(0x1002), 28, "sfdi_func_start_offset"),
        field(
            "function-size-zero",
            one(V3, AMD64, unchanged),
            alone(V3, AMD64, FunctionBuilder::new(0x1000, 0).row(0, entry(AMD64))),
            36,
            "sfdi_func_size",
        ),
        field("function-order", pair(0x1000, 0x1010), unsorted, 44, "sfdi_func_start_offset"),
        field(
            "function-overlap",
            pair(0x1000, 0x1010),
            pair(0x1000, 0x1008),
            44,
            "sfdi_func_start_offset",
        ),
        field(
            "function-duplicate",
            pair(0x1000, 0x1010),
            pair(0x1000, 0x1000),
            44,
            "sfdi_func_start_offset",
        ),
        // Where the empty function comes first, it hides nothing.
        field("function-hidden", sizes([0, 16]), sizes([16, 0]), 28, "sfdi_func_start_offset")
            .besides(&["function-size-zero"]),
    ]
}

fn rows() -> Vec<Case> {
    let sound = || one(V2, AMD64, unchanged);
    let shared = {
        let second = second(AMD64, 0x1010).with(|f| f.fre_offset = Some(0));
        let mut builder = of(V3, AMD64, [first(AMD64, 0x1000), second]);
        // The second function's own rows are not written, because they would be a gap as well.
        builder.with(|s| s.header.fre_len = Some(12));
        let mut bytes = bytes(&builder);
        bytes.truncate(72);
        bytes
    };
    let swapped = {
        let a = FunctionBuilder::new(0, 16).row(0, entry(AMD64)).with(|f| f.fre_offset = Some(8));
        let b = FunctionBuilder::new(16, 16).row(0, entry(AMD64)).with(|f| f.fre_offset = Some(0));
        object_of_two(a, b)
    };
    let in_order = object_of_two(
        FunctionBuilder::new(0, 16).row(0, entry(AMD64)),
        FunctionBuilder::new(16, 16).row(0, entry(AMD64)),
    );
    vec![
        at("row-truncated", sound(), one(V2, AMD64, |f| f.num_fres = Some(2)), Some(51)),
        at(
            "word-size-reserved",
            sound(),
            alone(V2, AMD64, function().raw_row(0, 0x63, &[8])),
            // The info byte.
            Some(49),
        ),
        field(
            "rows-overlap",
            bytes(&two(V3, AMD64)),
            shared,
            // The offset of rows in the second entry.
            56,
            "sfdi_func_start_fre_off",
        ),
        // The second function's rows, which have 8 bytes with its attributes, come first.
        field("rows-order-in-object", in_order, swapped, 40, "sfdi_func_start_fre_off"),
    ]
}

fn object_of_two(a: FunctionBuilder, b: FunctionBuilder) -> Vec<u8> {
    let mut builder = of(V3, AMD64, [a, b]);
    builder.relocatable();
    let built = builder.build().expect("the section can be written");
    object(built.bytes, &built.start_fields, &[0, 16], PC64).bytes()
}

fn row_places() -> Vec<Case> {
    let rows = |starts: &[u32]| {
        // Adjacent rows differ, so that none repeats the preceding one.
        let frames = [entry(AMD64), saved(AMD64)].into_iter().cycle();
        let function =
            starts.iter().zip(frames).fold(function(), |f, (&at, frame)| f.row(at, frame));
        alone(V2, AMD64, function)
    };
    let aarch64 =
        |start| alone(V3, AARCH64, function().row(0, entry(AARCH64)).row(start, saved(AARCH64)));
    let then = |a, b| alone(V3, AMD64, function().row(0, a).row(4, b));
    let at_entry = |offset| alone(V3, AMD64, function().row(0, based(AMD64, AMD64.sp(), offset)));
    let signed = |ra_signed| {
        let later = Frame { ra_signed: true, ..saved(AARCH64) };
        let first = Frame { ra_signed, ..entry(AARCH64) };
        alone(V3, AARCH64, function().row(0, first).row(4, later))
    };
    vec![
        field("first-row-offset", rows(&[0]), rows(&[4]), 48, "sfre_start_address"),
        // Rows of 3, 4 and 3 bytes.
        field("row-order", rows(&[0, 4, 8]), rows(&[0, 8, 4]), 55, "sfre_start_address"),
        field("row-duplicate-start", rows(&[0, 4, 8]), rows(&[0, 4, 4]), 55, "sfre_start_address"),
        field("row-past-end", rows(&[0, 15]), rows(&[0, 17]), 51, "sfre_start_address"),
        field("row-at-end", rows(&[0, 15]), rows(&[0, 16]), 51, "sfre_start_address"),
        field("row-alignment", aarch64(4), aarch64(2), 52, "sfre_start_address"),
        at(
            "row-redundant",
            rows(&[0, 4]),
            alone(V2, AMD64, function().row(0, entry(AMD64)).row(4, entry(AMD64))),
            Some(51),
        ),
        // A row without words has 2 bytes.
        at(
            "row-after-outermost",
            then(entry(AMD64), saved(AMD64)),
            then(Frame::OUTERMOST, entry(AMD64)),
            Some(51),
        ),
        at("entry-cfa", at_entry(8), at_entry(16), Some(49)),
        field("mangled-at-entry", signed(false), signed(true), 50, "sfre_info"),
    ]
}
