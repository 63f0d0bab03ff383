//! The places of rows in their function, and of rows in the FRE sub-section.
//!
//! In a version 2 section with functions of one row each, entries of 20 bytes are at 28, 48 and so on, and rows of 3
//! bytes follow the last entry.

use crate::host::{PC64, TEXT, linked, object};
use crate::sound::{
    AARCH64, AMD64, S390X, V1, V2, V3, alone, based, bytes, entry, first, function, of, saved,
    second, two, with_header,
};
use crate::{allowed, broken, findings};
use sframe_validator::unwind::Frame;
use sframe_validator::write::{FunctionBuilder, StoredFunction};

const NONE: [&str; 0] = [];

/// A function of 16 bytes whose rows alternate between two frames.
fn rows(starts: &[u32]) -> Vec<&'static str> {
    let frames = [entry(AMD64), saved(AMD64)].into_iter().cycle();
    let function = starts.iter().zip(frames).fold(function(), |f, (&at, frame)| f.row(at, frame));
    broken(&alone(V3, AMD64, function))
}

#[test]
fn starts_of_rows() {
    assert_eq!(rows(&[0, 1, 2, 15]), NONE);
    assert_eq!(rows(&[1]), ["first-row-offset"]);
    assert_eq!(rows(&[0, 16]), ["row-at-end"]);
    assert_eq!(rows(&[0, 17]), ["row-past-end"]);
    assert_eq!(rows(&[0, 4, 4]), ["row-duplicate-start"]);
    assert_eq!(rows(&[0, 4, 3]), ["row-order"]);
    // Only the first of these rows is at a wrong place.
    assert_eq!(rows(&[0, 8, 4, 6]), ["row-order"]);
}

/// In a block of 16 bytes that is repeated in 32 bytes.
#[test]
fn starts_in_repeated_blocks() {
    let rows = |start| {
        let function = FunctionBuilder::new(0x1000, 32).repeat(16).row(0, entry(AMD64));
        broken(&alone(V3, AMD64, function.row(start, based(AMD64, AMD64.sp(), 16))))
    };
    assert_eq!(rows(15), NONE);
    assert_eq!(rows(16), ["row-outside-block"]);
    assert_eq!(rows(17), ["row-outside-block"]);
    assert_eq!(rows(33), ["row-outside-block"]);
}

/// A function without code has a row at its end, which is its start.
#[test]
fn rows_of_empty_functions() {
    let empty = |start| {
        let function = FunctionBuilder::new(0x1000, 0).row(0, entry(AMD64));
        let function = if start > 0 { function.row(start, saved(AMD64)) } else { function };
        broken(&alone(V3, AMD64, function))
    };
    assert_eq!(empty(0), ["function-size-zero"]);
    assert_eq!(empty(1), ["function-size-zero", "row-past-end"]);
}

/// Instructions have 4 bytes on AArch64 and a multiple of 2 on s390x.
#[test]
fn rows_are_at_instructions() {
    let at =
        |abi, start| broken(&alone(V3, abi, function().row(0, entry(abi)).row(start, saved(abi))));
    assert_eq!([1, 2, 3].map(|start| at(AARCH64, start)), [["row-alignment"]; 3]);
    assert_eq!(at(AARCH64, 4), NONE);
    assert_eq!([1, 3].map(|start| at(S390X, start)), [["row-alignment"]; 2]);
    assert_eq!((at(S390X, 2), at(S390X, 4)), (vec![], vec![]));
}

/// Lints about a function's entry concern only its first row, and only if that is at its start.
#[test]
fn rows_at_the_entry() {
    let cfa = based(AMD64, AMD64.sp(), 16);
    let amd64 = |function| broken(&alone(V3, AMD64, function));
    assert_eq!(amd64(function().row(0, cfa)), ["entry-cfa"]);
    assert_eq!(amd64(function().row(4, cfa)), ["first-row-offset"]);
    assert_eq!(amd64(function().row(0, entry(AMD64)).row(0, cfa)), ["row-duplicate-start"]);
    assert_eq!(amd64(function().row(0, Frame::OUTERMOST)), NONE);
    let signed = Frame { ra_signed: true, ..entry(AARCH64) };
    let aarch64 = |function| broken(&alone(V3, AARCH64, function));
    assert_eq!(aarch64(function().row(0, signed)), ["mangled-at-entry"]);
    assert_eq!(aarch64(function().row(4, signed)), ["first-row-offset"]);
    assert_eq!(aarch64(function().row(0, entry(AARCH64)).row(0, signed)), ["row-duplicate-start"]);
    assert_eq!(aarch64(function().row(0, entry(AARCH64)).row(4, signed)), NONE);
}

#[test]
fn rows_compared_with_the_preceding_one() {
    let outermost = || function().row(0, Frame::OUTERMOST);
    let amd64 = |function| broken(&alone(V3, AMD64, function));
    assert_eq!(amd64(outermost().row(4, Frame::OUTERMOST)), ["row-redundant"]);
    assert_eq!(amd64(outermost().row(4, saved(AMD64))), ["row-after-outermost"]);
    assert_eq!(amd64(function().row(0, entry(AMD64)).row(4, Frame::OUTERMOST)), NONE);
    // Two rows without a meaning are not equal.
    let words = |f: FunctionBuilder, at| f.raw_row(at, 0x07, &[16, 0xf0, 0xf0]);
    assert_eq!(amd64(words(words(function().row(0, entry(AMD64)), 4), 8)), ["word-count"]);
}

/// The rows of functions that overlap with several others, or with one.
#[test]
fn rows_that_overlap() {
    let functions = [0x1000, 0x1010, 0x1020].map(|start| second(AMD64, start));
    let [a, b, c] = functions.clone();
    // The first function claims the rows of the others as well.
    let long = of(V2, AMD64, [a.with(|f| f.num_fres = Some(3)), b, c]);
    assert_eq!(broken(&bytes(&long)), ["rows-overlap"]);
    assert_eq!(allowed(&bytes(&long), "rows-overlap"), (Some(40), "fewer".to_owned()));
    let [a, b, c] = functions;
    // The second function's rows start inside the first one's, and its own are a consequence.
    let inside = of(V2, AMD64, [a, b.with(|f| f.fre_offset = Some(0)), c]);
    assert_eq!(broken(&bytes(&inside)), ["rows-overlap"]);
    assert_eq!(allowed(&bytes(&inside), "rows-overlap"), (Some(56), "at least 0x3".to_owned()));
    // A wrong total is a consequence as well.
    let mut inside = inside;
    inside.with(|section| section.header.num_fres = Some(7));
    assert_eq!(broken(&bytes(&inside)), ["rows-overlap"]);
}

#[test]
fn numbers_of_rows() {
    let total = |version, count| with_header(version, AMD64, |s| s.header.num_fres = Some(count));
    assert_eq!(broken(&total(V3, 3)), NONE);
    assert_eq!(broken(&total(V3, 2)), ["row-count-total"]);
    assert_eq!(broken(&total(V3, 4)), ["row-count-total"]);
    assert_eq!(broken(&total(V3, 0)), ["row-count-total"]);
    // If a function's count is too small, its last rows belong to no function. The total may be right.
    let short = |count| {
        let first = first(AMD64, 0x1000).with(|f| f.num_fres = Some(1));
        let mut builder = of(V2, AMD64, [first, second(AMD64, 0x1010)]);
        builder.with(|section| section.header.num_fres = Some(count));
        broken(&bytes(&builder))
    };
    assert_eq!((short(2), short(3)), (vec!["rows-unused"], vec!["rows-unused"]));
    // If it is too large, a row is missing, and the total is unknown.
    let long = |count| {
        let function = function().row(0, entry(AMD64)).with(|f| f.num_fres = Some(2));
        let mut builder = of(V2, AMD64, [function]);
        builder.with(|section| section.header.num_fres = Some(count));
        bytes(&builder)
    };
    assert_eq!(
        (broken(&long(1)), broken(&long(2))),
        (vec!["row-truncated"], vec!["row-truncated"])
    );
    // The bytes of the second row would be at 51, where the section ends.
    let truncated = findings(&long(2), "row-truncated");
    assert_eq!((truncated[0].offset, truncated[0].row), (Some(51), Some(1)));
    // Sections without functions have no rows.
    assert_eq!(broken(&bytes(&of(V3, AMD64, []))), NONE);
    assert_eq!(broken(&bytes(&of(V2, AMD64, []))), NONE);
}

#[test]
fn one_row_is_not_plural() {
    let message = |count| {
        let function = function().row(0, entry(AMD64)).with(|f| f.num_fres = Some(count));
        let mut bytes = alone(V2, AMD64, function);
        // Without its last byte, a row is not complete.
        bytes.truncate(50);
        bytes[16] = 2;
        findings(&bytes, "row-truncated")[0].message.clone()
    };
    assert!(message(1).ends_with("the function has 1 row"), "{}", message(1));
    assert!(message(2).ends_with("the function has 2 rows"), "{}", message(2));
}

/// Assemblers write rows in the order of the functions, and linkers in another one.
#[test]
fn rows_in_another_order() {
    let swapped = |relocatable| {
        let function = |start, offset| {
            second(AMD64, start).with(move |f: &mut StoredFunction| f.fre_offset = Some(offset))
        };
        let base = if relocatable { 0 } else { TEXT };
        let mut builder = of(V3, AMD64, [function(base, 8), function(base + 16, 0)]);
        if relocatable {
            builder.relocatable();
        } else {
            builder.address(crate::host::SFRAME);
        }
        let built = builder.build().expect("it fits");
        if relocatable {
            object(built.bytes, &built.start_fields, &[0, 16], PC64).bytes()
        } else {
            linked(built.bytes).bytes()
        }
    };
    assert_eq!(broken(&swapped(true)), ["rows-order-in-object"]);
    assert_eq!(broken(&swapped(false)), NONE);
}

/// The attributes of version 3 have 5 bytes, and a row of these functions 3. The FRE sub-section has 12 and 8 bytes
/// of the two functions in version 3, and 10 in version 2.
#[test]
fn rows_start_inside_the_sub_section() {
    let second_at = |version, offset, count| {
        let second = second(AMD64, 0x1010).with(|f| {
            f.fre_offset = Some(offset);
            f.num_fres = Some(count);
        });
        bytes(&of(version, AMD64, [first(AMD64, 0x1000), second]))
    };
    // The entry's field is at 44 + 12 in version 3, and at 48 + 8 in version 2.
    const OUTSIDE: &str = "rows-offset-outside";
    let outside = |version, offset, count| allowed(&second_at(version, offset, count), OUTSIDE);
    assert_eq!(outside(V3, 16, 1), (Some(56), "at most 0xf".to_owned()));
    assert_eq!(outside(V3, 17, 0), (Some(56), "at most 0xf".to_owned()));
    assert_eq!(outside(V2, 10, 1), (Some(56), "at most 0x9".to_owned()));
    assert_eq!(outside(V2, 11, 1), (Some(56), "at most 0x9".to_owned()));
    assert_eq!(outside(V2, 11, 0), (Some(56), "at most 0xa".to_owned()));
    // Nothing else is reported about rows that are not there, not even if two functions share them.
    for (version, offset) in [(V3, 16), (V3, 17), (V2, 10), (V2, 11)] {
        assert_eq!(broken(&second_at(version, offset, 1)), [OUTSIDE]);
    }
    let outside = |start| second(AMD64, start).with(|f| f.fre_offset = Some(0xffff_0000));
    for version in [V2, V3] {
        let both = bytes(&of(version, AMD64, [outside(0x1000), outside(0x1010)]));
        assert_eq!(broken(&both), [OUTSIDE]);
    }
    let unknown = |start| second(AMD64, start).with(|f| (f.fre_offset, f.info) = (Some(0), 3));
    let both = bytes(&of(V2, AMD64, [unknown(0x1000), unknown(0x1010)]));
    assert_eq!(broken(&both), ["fre-type"]);
    // The end of the sub-section is a possible place for no rows.
    let without = broken(&second_at(V2, 10, 0));
    assert_eq!(without, ["function-without-rows", "rows-unused"]);
    // The attributes of version 3 fit exactly, but the row after them is missing.
    let function = function().row(0, entry(AMD64));
    let mut exact = alone(V3, AMD64, function);
    exact.truncate(49);
    exact[16] = 5;
    assert_eq!(broken(&exact), ["row-truncated"]);
    assert_eq!(broken(&bytes(&two(V1, AMD64))), ["obsolete-version"]);
}
