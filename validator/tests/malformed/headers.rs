//! The preamble, the header, and how the parts fill the section. Version 3 sections with two functions have 80 bytes:
//! the header, two entries at 28 and 44, and 20 bytes of rows at 60. Version 2 sections have 78: entries at 28 and 48,
//! and 10 bytes of rows at 68.

use super::{at, field};
use crate::Case;
use crate::host::{Host, PC32, PC64, TEXT, linked, object};
use crate::sound::{
    AARCH64, AMD64, S390X, V1, V2, V3, alone, bytes, first, function, of, second, two, with_header,
};
use sframe_validator::write::{FunctionBuilder, StoredSection};
use sframe_validator::{Endian, Version};

/// Version 1 is obsolete, which is reported for valid sections too.
const OBSOLETE: &[&str] = &["obsolete-version"];

/// Two functions in a linked file.
fn in_file(version: Version, change: impl FnOnce(&mut StoredSection)) -> Host {
    let mut builder = of(version, AMD64, [first(AMD64, TEXT), second(AMD64, TEXT + 16)]);
    builder.address(crate::host::SFRAME);
    builder.with(change);
    linked(bytes(&builder))
}

/// Two functions in an object.
fn in_object(version: Version, change: impl FnOnce(&mut StoredSection)) -> Host {
    let mut builder = of(version, AMD64, [first(AMD64, 0), second(AMD64, 16)]);
    builder.relocatable();
    builder.with(change);
    let built = builder.build().expect("the section can be written");
    let kind = if version == V3 { PC64 } else { PC32 };
    object(built.bytes, &built.start_fields, &[0, 16], kind)
}

pub fn cases() -> Vec<Case> {
    let mut cases = preamble();
    cases.extend(flags());
    cases.extend(header());
    cases.extend(tiling());
    cases
}

fn preamble() -> Vec<Case> {
    let sound = || bytes(&two(V3, AMD64));
    let cut = |length: usize| sound()[..length].to_vec();
    let foreign = {
        let mut builder = of(V3, AMD64, [first(AMD64, TEXT), second(AMD64, TEXT + 16)]);
        builder.address(crate::host::SFRAME).endian(Endian::Big);
        linked(bytes(&builder)).bytes()
    };
    vec![
        at("section-empty", sound(), Vec::new(), None),
        at("section-truncated", sound(), cut(27), Some(0)),
        field(
            "bad-magic",
            sound(),
            with_header(V3, AMD64, |s| s.header.magic = 0xdee3),
            0,
            "sfp_magic",
        ),
        field("foreign-endian", in_file(V3, |_| ()).bytes(), foreign, 0, "sfp_magic"),
        field(
            "unknown-version",
            sound(),
            with_header(V3, AMD64, |s| s.header.version = 4),
            2,
            "sfp_version",
        ),
        field("obsolete-version", sound(), bytes(&two(V1, AMD64)), 2, "sfp_version"),
    ]
}

fn flags() -> Vec<Case> {
    let flags = |version, flags| with_header(version, AMD64, |s| s.header.flags = flags);
    let file = |flags| in_file(V3, |s| s.header.flags = flags).bytes();
    let object = |flags| in_object(V3, |s| s.header.flags = flags).bytes();
    vec![
        field("reserved-flags", flags(V3, 0x5), flags(V3, 0x15), 3, "sfp_flags"),
        field("frame-pointer-flag", flags(V3, 0x5), flags(V3, 0x7), 3, "sfp_flags"),
        field("frame-pointer-claim", flags(V2, 0x5), flags(V2, 0x7), 3, "sfp_flags"),
        field("unsorted-linked", file(0x5), file(0x4), 3, "sfp_flags"),
        field("sorted-object", object(0x4), object(0x5), 3, "sfp_flags"),
        field("pcrel-flag-missing", flags(V3, 0x5), flags(V3, 0x1), 3, "sfp_flags"),
        field("pcrel-flag-clear", flags(V2, 0x5), flags(V2, 0x1), 3, "sfp_flags"),
    ]
}

fn header() -> Vec<Case> {
    let sound = || bytes(&two(V3, AMD64));
    let empty = |version| {
        let mut builder = of(version, AMD64, []);
        builder.address(crate::host::SFRAME);
        linked(bytes(&builder)).with(|host| host.symbols.clear()).bytes()
    };
    let no_rows = alone(V2, AMD64, function());
    vec![
        field(
            "unknown-abi",
            sound(),
            with_header(V3, AMD64, |s| s.header.abi_arch = 5),
            4,
            "sfh_abi_arch",
        ),
        field(
            "abi-endian",
            bytes(&two(V3, AARCH64)),
            with_header(V3, AARCH64, |s| s.header.abi_arch = 1),
            4,
            "sfh_abi_arch",
        ),
        field(
            "fixed-ra-offset",
            sound(),
            with_header(V3, AMD64, |s| s.header.cfa_fixed_ra_offset = 0),
            6,
            "sfh_cfa_fixed_ra_offset",
        ),
        field(
            "fixed-fp-offset",
            sound(),
            with_header(V3, AMD64, |s| s.header.cfa_fixed_fp_offset = -16),
            5,
            "sfh_cfa_fixed_fp_offset",
        ),
        field(
            "auxiliary-header",
            sound(),
            with_header(V3, AMD64, |s| s.auxiliary = vec![0; 4]),
            7,
            "sfh_auxhdr_len",
        ),
        field(
            "auxiliary-header-outside",
            sound(),
            with_header(V3, AMD64, |s| s.header.auxhdr_len = Some(255)),
            7,
            "sfh_auxhdr_len",
        ),
        field(
            "no-functions",
            in_file(V3, |_| ()).with(|host| host.symbols.clear()).bytes(),
            empty(V3),
            8,
            "sfh_num_fdes",
        ),
        field("no-rows", bytes(&two(V2, AMD64)), no_rows, 12, "sfh_num_fres"),
    ]
}

fn tiling() -> Vec<Case> {
    let sound = || bytes(&two(V3, AMD64));
    let sound2 = || bytes(&two(V2, AMD64));
    let trailing = with_header(V3, AMD64, |s| s.trailing = vec![0xff; 8]);
    let appended = {
        let second_section = bytes(&two(V3, AMD64));
        in_file(V3, |s| s.trailing = second_section).bytes()
    };
    vec![
        field(
            "function-table-outside",
            sound(),
            with_header(V3, AMD64, |s| s.header.num_fdes = Some(u32::MAX)),
            8,
            "sfh_num_fdes",
        ),
        field(
            "rows-outside",
            sound(),
            with_header(V3, AMD64, |s| s.header.fre_len = Some(21)),
            16,
            "sfh_fre_len",
        ),
        field(
            "subsection-overlap",
            sound(),
            with_header(V3, AMD64, |s| s.header.freoff = Some(16)),
            24,
            "sfh_freoff",
        ),
        field(
            "function-table-offset",
            sound(),
            with_header(V3, AMD64, |s| s.gap_before_functions = vec![0; 4]),
            20,
            "sfh_fdeoff",
        ),
        field(
            "version-entry-size",
            sound2(),
            with_header(V2, AMD64, |s| s.header.version = 3),
            2,
            "sfp_version",
        ),
        field(
            "subsection-gap",
            sound(),
            with_header(V3, AMD64, |s| s.gap_before_rows = vec![0; 4]),
            24,
            "sfh_freoff",
        ),
        field(
            "function-table-alignment",
            with_header(V2, AMD64, |s| s.auxiliary = vec![0; 4]),
            with_header(V2, AMD64, |s| s.auxiliary = vec![0; 2]),
            20,
            "sfh_fdeoff",
        )
        .besides(&["auxiliary-header"]),
        at("trailing-bytes", sound(), trailing, Some(80)),
        at(
            "section-padding",
            sound2(),
            with_header(V2, AMD64, |s| s.trailing = vec![0; 2]),
            Some(78),
        ),
        at("concatenated-section", in_file(V3, |_| ()).bytes(), appended, Some(80)),
        field(
            "row-count-total",
            sound2(),
            with_header(V2, AMD64, |s| s.header.num_fres = Some(4)),
            12,
            "sfh_num_fres",
        ),
        at(
            "rows-unused",
            sound(),
            with_header(V3, AMD64, |s| s.unused_rows = vec![0; 3]),
            Some(80),
        ),
        field(
            "function-without-rows",
            bytes(&two(V1, AMD64)),
            bytes(&of(V1, AMD64, [first(AMD64, 0x1000), function_at(0x1010)])),
            // The second entry of version 1 is at 28 + 17, and its count is 12 bytes further on.
            57,
            "sfde_func_num_fres",
        )
        .besides(OBSOLETE),
        field("machine-abi", in_file(V3, |_| ()).bytes(), foreign_machine(), 4, "sfh_abi_arch"),
    ]
}

fn function_at(start: u64) -> FunctionBuilder {
    FunctionBuilder::new(start, 16)
}

/// An s390x section, but in the byte order of the x86-64 file around it.
fn foreign_machine() -> Vec<u8> {
    let mut builder = of(V3, S390X, [first(S390X, TEXT), second(S390X, TEXT + 16)]);
    builder.address(crate::host::SFRAME).endian(Endian::Little);
    linked(bytes(&builder)).bytes()
}
