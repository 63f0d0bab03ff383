//! The preamble, the header, and how the parts fill the section. The header has 28 bytes (V3 2.1, 2.2). Sections with
//! two functions have 80 bytes in version 3 (entries at 28 and 44, rows at 60) and 78 in version 2 (entries at 28 and
//! 48, rows at 68).

use crate::host::{Host, PC64, SFRAME, TEXT, linked, object};
use crate::sound::{
    AMD64, S390X, V1, V2, V3, alone, bytes, first, function, of, second, two, with_header,
};
use crate::{allowed, broken};
use sframe_validator::check::Checker;
use sframe_validator::write::StoredSection;
use sframe_validator::{Abi, Endian, Placement, Version};

const NONE: [&str; 0] = [];

fn empty(version: Version, abi: Abi) -> Vec<u8> {
    bytes(&of(version, abi, []))
}

/// Two functions in a linked file.
fn in_file(change: impl FnOnce(&mut StoredSection)) -> Host {
    let mut builder = of(V3, AMD64, [first(AMD64, TEXT), second(AMD64, TEXT + 16)]);
    builder.address(SFRAME).with(change);
    linked(bytes(&builder))
}

#[test]
fn sizes_of_sections() {
    assert_eq!(broken(&[]), ["section-empty"]);
    assert_eq!(broken(&empty(V3, AMD64)[..1]), ["section-truncated"]);
    assert_eq!(broken(&empty(V3, AMD64)[..27]), ["section-truncated"]);
    assert_eq!(broken(&empty(V3, AMD64)), NONE);
    // Too short for a header: its magic number, version and byte order are not judged.
    assert_eq!(broken(&[0; 27]), ["section-truncated"]);
    assert_eq!(broken(&[0; 28]), ["bad-magic"]);
    let mut unknown = empty(V3, AMD64);
    unknown[2] = 4;
    assert_eq!(broken(&unknown[..27]), ["section-truncated"]);
    assert_eq!(broken(&unknown), ["unknown-version"]);
    let mut builder = of(V3, AMD64, []);
    let foreign = bytes(builder.endian(Endian::Big));
    let in_file =
        |data: &[u8]| broken(&linked(data.to_vec()).with(|host| host.symbols.clear()).bytes());
    assert_eq!(in_file(&foreign[..27]), ["section-truncated"]);
    assert_eq!(in_file(&foreign), ["foreign-endian"]);
}

/// Without a file, the byte order is the one in which the magic number is right.
#[test]
fn preambles_of_both_byte_orders() {
    for abi in [AMD64, S390X] {
        let with = |version: u8| {
            let mut bytes = empty(V3, abi);
            // Only versions 2 and 3 define flag 4.
            (bytes[2], bytes[3]) = (version, 1);
            broken(&bytes)
        };
        assert_eq!((with(0), with(4)), (vec!["unknown-version"], vec!["unknown-version"]));
        assert_eq!(with(2), ["pcrel-flag-clear"]);
        assert_eq!(with(1)[..1], ["obsolete-version"]);
        let mut bad = empty(V3, abi);
        bad[1] ^= 1;
        assert_eq!(broken(&bad), ["bad-magic"]);
    }
}

/// Format sheet 1.3: the flags that each version defines.
#[test]
fn flags_of_each_version() {
    let flags = |version, flags| broken(&with_header(version, AMD64, |s| s.header.flags = flags));
    assert_eq!(flags(V1, 1), ["obsolete-version"]);
    assert_eq!(flags(V1, 3), ["obsolete-version", "frame-pointer-claim"]);
    assert_eq!(flags(V1, 5), ["obsolete-version", "reserved-flags"]);
    assert_eq!(flags(V2, 5), NONE);
    assert_eq!(flags(V2, 7), ["frame-pointer-claim"]);
    assert_eq!(flags(V3, 7), ["frame-pointer-flag"]);
    for bit in [8, 0x10, 0x20, 0x40, 0x80] {
        assert_eq!(flags(V1, 1 | bit), ["obsolete-version", "reserved-flags"]);
        assert_eq!(flags(V2, 5 | bit), ["reserved-flags"]);
        assert_eq!(flags(V3, 5 | bit), ["reserved-flags"]);
    }
    assert_eq!(flags(V2, 1), ["pcrel-flag-clear"]);
    assert_eq!(flags(V3, 1), ["pcrel-flag-missing"]);
}

/// A linker sorts the table and sets the flag. If it appends whole sections, that is the only defect. Without a file,
/// and in an object, either may be right.
#[test]
fn flags_of_sorted_tables() {
    let second_section = bytes(&two(V3, AMD64));
    let file = |flags, trailing: &[u8]| {
        let change = |s: &mut StoredSection| {
            s.header.flags = flags;
            s.trailing = trailing.to_vec();
        };
        broken(&in_file(change).bytes())
    };
    assert_eq!(file(5, &[]), NONE);
    assert_eq!(file(4, &[]), ["unsorted-linked"]);
    assert_eq!(file(4, &second_section), ["concatenated-section"]);
    assert_eq!(file(5, &second_section), ["concatenated-section"]);
    assert_eq!(broken(&with_header(V3, AMD64, |s| s.header.flags = 4)), NONE);
    // A preamble with another magic number or an unknown version is no second section.
    let mut other = second_section.clone();
    other[0] ^= 1;
    assert_eq!(file(5, &other), ["trailing-bytes"]);
    let mut other = second_section;
    other[2] = 4;
    assert_eq!(file(5, &other), ["trailing-bytes"]);
}

/// Appended sections start at the next multiple of 8, or directly after the content.
#[test]
fn appended_sections() {
    let appended = |padding: usize| {
        let mut trailing = vec![0; padding];
        trailing.extend(bytes(&two(V2, AMD64)));
        with_header(V2, AMD64, |s| s.trailing = trailing)
    };
    // The content ends at 78.
    assert_eq!(broken(&appended(0)), ["concatenated-section"]);
    assert_eq!(allowed_offset(&appended(0)), Some(78));
    assert_eq!(broken(&appended(2)), ["concatenated-section"]);
    assert_eq!(allowed_offset(&appended(2)), Some(80));
    assert_eq!(broken(&appended(1)), ["trailing-bytes"]);
    // A big-endian section after a big-endian one.
    let big = with_header(V3, S390X, |s| s.trailing = bytes(&two(V3, S390X)));
    assert_eq!(broken(&big), ["concatenated-section"]);
    let mixed = with_header(V3, S390X, |s| s.trailing = bytes(&two(V3, AMD64)));
    assert_eq!(broken(&mixed), ["trailing-bytes"]);
}

fn allowed_offset(data: &[u8]) -> Option<u64> {
    let [finding] = &crate::findings(data, "concatenated-section")[..] else { panic!("one") };
    assert_eq!(finding.bytes.end - finding.bytes.start, 4);
    finding.offset
}

/// Format sheet 1.4: ABIs 1 to 4, of which the last one exists since version 2.
#[test]
fn identifiers_of_abis() {
    let id = |version, id| with_header(version, AMD64, |s| s.header.abi_arch = id);
    for unknown in [0, 5] {
        assert_eq!(broken(&id(V3, unknown)), ["unknown-abi"]);
        assert_eq!(allowed(&id(V3, unknown), "unknown-abi").1, "1 to 4");
        assert_eq!(allowed(&id(V2, unknown), "unknown-abi").1, "1 to 4");
        assert_eq!(allowed(&id(V1, unknown), "unknown-abi").1, "1 to 3");
    }
    assert_eq!(broken(&bytes(&two(V2, S390X))), NONE);
    let old = with_header(V1, S390X, |_| ());
    assert_eq!(broken(&old), ["obsolete-version", "unknown-abi"]);
    // A caller that knows the ABI decides.
    let placement = Placement::at(0).with_abi(Some(AMD64));
    let report = Checker::default().section(&id(V3, 5), placement);
    assert!(report.counts.is_empty(), "{:?}", report.counts);
}

/// A linked file without functions needs no section. An object may have one (observed: GNU as).
#[test]
fn sections_without_functions() {
    let file = linked(empty(V3, AMD64)).with(|host| host.symbols.clear()).bytes();
    assert_eq!(broken(&file), ["no-functions"]);
    let mut builder = of(V3, AMD64, []);
    let built = builder.relocatable().build().expect("it fits");
    let object = object(built.bytes, &[], &[], PC64).with(|host| host.symbols.truncate(3));
    assert_eq!(broken(&object.bytes()), NONE);
    let mut sorted = of(V3, AMD64, []);
    let built = sorted.relocatable().with(|s| s.header.flags = 5).build().expect("it fits");
    let object = crate::host::object(built.bytes, &[], &[], PC64);
    assert_eq!(broken(&object.with(|host| host.symbols.truncate(3)).bytes()), ["sorted-object"]);
}

/// The auxiliary header follows the 28 bytes.
#[test]
fn auxiliary_headers() {
    let with = |length: usize, stated| {
        let mut builder = of(V3, AMD64, []);
        builder.with(|section| {
            section.auxiliary = vec![0; length];
            section.header.auxhdr_len = Some(stated);
        });
        bytes(&builder)
    };
    assert_eq!(broken(&with(4, 4)), ["auxiliary-header"]);
    assert_eq!(broken(&with(4, 5)), ["auxiliary-header-outside"]);
    assert_eq!(allowed(&with(4, 5), "auxiliary-header-outside").1, "at most 4");
}

/// The function table: entries of 16 bytes in version 3, from the header's end on.
#[test]
fn function_tables_end_inside_the_section() {
    const OUTSIDE: &str = "function-table-outside";
    let sized = |size: usize, fdes, fdeoff| {
        let mut bytes = empty(V3, AMD64);
        bytes.resize(size, 0);
        (bytes[8], bytes[20]) = (fdes, fdeoff);
        // The rows are after the table.
        bytes[24] = fdeoff + 16 * fdes;
        bytes
    };
    assert!(!broken(&sized(60, 2, 0)).contains(&OUTSIDE));
    assert_eq!(broken(&sized(59, 2, 0)), [OUTSIDE]);
    assert_eq!(allowed(&sized(59, 2, 0), OUTSIDE), (Some(8), "at most 1".to_owned()));
    assert_eq!(allowed(&sized(60, 3, 0), OUTSIDE), (Some(8), "at most 2".to_owned()));
    // A table without entries may be at the end.
    assert_eq!(broken(&sized(32, 0, 4)), ["function-table-offset"]);
    assert_eq!(broken(&sized(32, 0, 5)), [OUTSIDE]);
    assert_eq!(allowed(&sized(32, 0, 5), OUTSIDE), (Some(20), "at most 0x4".to_owned()));
    assert_eq!(allowed(&sized(34, 1, 6), OUTSIDE), (Some(8), "at most 0".to_owned()));
}

/// The FRE sub-section of a version 3 section with two functions is at 60, and has 20 bytes.
#[test]
fn rows_end_inside_the_section() {
    const OUTSIDE: &str = "rows-outside";
    let with = |freoff, length| {
        with_header(V3, AMD64, |s| {
            (s.header.freoff, s.header.fre_len) = (Some(freoff), Some(length));
        })
    };
    assert_eq!(broken(&with(32, 20)), NONE);
    assert_eq!(broken(&with(32, 21)), [OUTSIDE]);
    assert_eq!(allowed(&with(32, 21), OUTSIDE), (Some(16), "at most 0x14".to_owned()));
    assert_eq!(broken(&with(53, 0)), [OUTSIDE]);
    assert_eq!(allowed(&with(53, 0), OUTSIDE), (Some(24), "at most 0x34".to_owned()));
    assert_eq!(allowed(&with(52, 1), OUTSIDE), (Some(16), "at most 0x0".to_owned()));
    // An empty sub-section may be at the end of the section.
    assert!(!broken(&with(52, 0)).contains(&OUTSIDE));
    // The sub-section follows the table, so a truncated table is the cause.
    let both = with_header(V3, AMD64, |s| {
        (s.header.num_fdes, s.header.fre_len) = (Some(9), Some(99));
    });
    assert_eq!(broken(&both), ["function-table-outside"]);
}

/// The table ends at 60, which is 32 bytes after the header.
#[test]
fn parts_do_not_overlap() {
    let freoff = |freoff, length| {
        with_header(V3, AMD64, |s| {
            (s.header.freoff, s.header.fre_len) = (Some(freoff), Some(length));
        })
    };
    assert_eq!(broken(&freoff(31, 21)), ["subsection-overlap"]);
    assert_eq!(allowed(&freoff(31, 21), "subsection-overlap").1, "at least 0x20");
    // The bytes after overlapping parts are a consequence.
    assert_eq!(broken(&freoff(31, 20)), ["subsection-overlap"]);
    assert_eq!(broken(&freoff(16, 37)), ["rows-outside"]);
}

/// Version 2: the rows end at 78, and sections are padded to 80.
#[test]
fn bytes_after_the_rows() {
    let with =
        |trailing: &[u8]| broken(&with_header(V2, AMD64, |s| s.trailing = trailing.to_vec()));
    assert_eq!(with(&[]), NONE);
    assert_eq!(with(&[0]), ["trailing-bytes"]);
    assert_eq!(with(&[0; 2]), ["section-padding"]);
    assert_eq!(with(&[0, 1]), ["trailing-bytes"]);
    assert_eq!(with(&[0; 3]), ["trailing-bytes"]);
    assert_eq!(with(&[0; 10]), ["trailing-bytes"]);
}

/// Before version 3, entries of 20 bytes have fields that are aligned to 4.
#[test]
fn gaps_between_the_parts() {
    let gap = |version, before: usize, between: usize| {
        broken(&with_header(version, AMD64, |s| {
            s.gap_before_functions = vec![0; before];
            s.gap_before_rows = vec![0; between];
        }))
    };
    assert_eq!(gap(V2, 4, 0), ["function-table-offset"]);
    assert_eq!(gap(V2, 2, 0), ["function-table-offset", "function-table-alignment"]);
    assert_eq!(gap(V2, 0, 1), ["subsection-gap"]);
    assert_eq!(gap(V3, 0, 1), ["subsection-gap"]);
}

/// The version is judged by the size of at least two entries: in the space for two entries of version 2, version 3 and
/// its 16 bytes would leave a gap.
#[test]
fn entries_of_another_version() {
    let claimed = |functions, version: u8| {
        let mut bytes = match functions {
            1 => alone(V2, AMD64, function().row(0, crate::sound::entry(AMD64))),
            _ => bytes(&two(V2, AMD64)),
        };
        bytes[2] = version;
        broken(&bytes)
    };
    assert_eq!(claimed(2, 3), ["version-entry-size"]);
    assert!(!claimed(1, 3).contains(&"version-entry-size"));
    assert!(claimed(1, 3).contains(&"subsection-gap"));
    // Two entries of version 3 have 32 bytes, and version 2 would need 40.
    let mut bytes = bytes(&two(V3, AMD64));
    bytes[2] = 2;
    assert_eq!(broken(&bytes), ["version-entry-size"]);
}

/// The byte orders of the machines (V3 2.2.1): AMD64 and AArch64 with 2 are little-endian, AArch64 with 1 and s390x are
/// big-endian. Whoever knows the machine or the byte order decides.
#[test]
fn the_abi_has_the_byte_order_of_the_section() {
    for abi in [Abi::Amd64, Abi::Aarch64Little, Abi::Aarch64Big, Abi::S390x] {
        for endian in [Endian::Little, Endian::Big] {
            let mut builder = of(V3, abi, []);
            builder.endian(endian);
            let data = bytes(&builder);
            let is_little = matches!(abi, Abi::Amd64 | Abi::Aarch64Little);
            let is_right = is_little == (endian == Endian::Little);
            let expected: &[&str] = if is_right { &[] } else { &["abi-endian"] };
            assert_eq!(broken(&data), expected, "{abi} {endian:?}");
            for placement in
                [Placement::at(0).with_abi(Some(abi)), Placement::at(0).with_endian(Some(endian))]
            {
                let report = Checker::default().section(&data, placement);
                assert!(report.counts.is_empty(), "{abi} {endian:?}: {:?}", report.counts);
            }
        }
    }
}

/// An unsorted table, and rows that repeat from an unaligned start, are wrong in a linked file alone.
#[test]
fn bare_sections_of_linked_files() {
    let unsorted = with_header(V3, AMD64, |s| s.header.flags = 4);
    let names = |checker: Checker<'_>| {
        let report = checker.section(&unsorted, Placement::at(0));
        report.counts.iter().map(|(rule, _)| rule.name).collect::<Vec<_>>()
    };
    assert_eq!(names(Checker::default()), NONE);
    assert_eq!(names(Checker::default().linked()), ["unsorted-linked"]);
}
