//! The check skips what is known to be sound, and does not judge what an overlap makes meaningless. Each of these tests
//! would miss a finding, or have one too many, if it skipped more or less.

use crate::sound::{
    AARCH64, AMD64, S390X, V1, V2, V3, alone, based, bytes, entry, first, function, of, saved,
    second,
};
use crate::{broken, check, findings};
use sframe_validator::Placement;
use sframe_validator::check::{Checker, Options};
use sframe_validator::finding::{Keep, Report};
use sframe_validator::rules::Severity;
use sframe_validator::unwind::{Frame, Recovery};
use sframe_validator::write::{FunctionBuilder, StoredFunction};
use sframe_validator::{Abi, Version};

const NONE: [&str; 0] = [];

fn counts(report: &Report) -> Vec<(&'static str, u64)> {
    report.counts.iter().map(|(rule, count)| (rule.name, *count)).collect()
}

/// Functions of 16 bytes, one after the other, of which these are changed.
fn functions(abi: Abi, count: u64, change: impl Fn(u64, &mut StoredFunction)) -> Vec<u8> {
    let mut builder = of(V3, abi, []);
    for index in 0..count {
        let function = FunctionBuilder::new(0x1000 + 16 * index, 16).row(0, entry(abi));
        builder.function(function.with(|function| change(index, function)));
    }
    bytes(&builder)
}

/// Functions of the same shape break the same rules.
#[test]
fn every_function_is_judged() {
    for broken in [&[0, 1, 2, 3, 4, 5][..], &[1, 3, 4], &[5], &[0, 5]] {
        let data = functions(AMD64, 6, |index, function| {
            function.info2 = if broken.contains(&index) { 0x20 } else { 0 };
        });
        let found = findings(&data, "function-info2-reserved");
        let found: Vec<_> =
            found.iter().filter_map(|f| Some(u64::from(f.function?.index))).collect();
        assert_eq!(found, broken);
        assert_eq!(counts(&check(&data)), [("function-info2-reserved", broken.len() as u64)]);
    }
}

/// Rows of the same content, and at the same places, break the same rules.
#[test]
fn every_row_is_judged() {
    let section = |odd: &[u32]| {
        let mut builder = of(V3, AMD64, []);
        for index in 0..6 {
            let offset = if odd.contains(&index) { 12 } else { 16 };
            let function = FunctionBuilder::new(0x1000 + 16 * u64::from(index), 16);
            let moved = based(AMD64, AMD64.sp(), offset);
            builder.function(function.row(0, entry(AMD64)).row(4, moved).row(8, saved(AMD64)));
        }
        // A row is recognised as one that has been seen only if enough bytes follow it.
        bytes(builder.with(|section| section.trailing = vec![0xff; 32]))
    };
    for odd in [&[0, 1, 2, 3, 4, 5][..], &[1, 3, 4], &[5], &[0, 5]] {
        let report = Checker::default().section(&section(odd), Placement::at(0));
        let expected = [("trailing-bytes", 1), ("cfa-alignment", odd.len() as u64)];
        assert_eq!(counts(&report), expected);
        let found = report.findings.iter().filter(|f| f.rule.name == "cfa-alignment");
        let found: Vec<_> = found.filter_map(|f| Some(f.function?.index)).collect();
        assert_eq!(found, odd[..odd.len().min(3)]);
    }
}

/// At most three findings of each rule are kept, unless the caller wants another number. All are counted.
#[test]
fn findings_are_kept_and_counted() {
    let data = functions(AMD64, 9, |_, function| function.info2 = 0x20);
    for (keep, kept) in [(Keep::First(0), 0), (Keep::First(4), 4), (Keep::All, 9)] {
        let options = Options { keep, ..Options::default() };
        let report = Checker::new(&options).section(&data, Placement::at(0));
        assert_eq!((report.findings.len(), counts(&report)[0].1), (kept, 9));
        let mut passed = 0;
        let each =
            Checker::new(&options).section_each(&data, Placement::at(0), &mut |_| passed += 1);
        assert_eq!((passed, each.findings.len()), (kept, 0));
    }
    assert_eq!(Checker::default().section(&data, Placement::at(0)).findings.len(), 3);
}

/// Lints are checked on request.
#[test]
fn lints_are_optional() {
    let data = alone(V3, AMD64, function().row(0, based(AMD64, AMD64.sp(), 16)));
    let report = Checker::default().section(&data, Placement::at(0));
    assert!(report.counts.is_empty() && report.findings.is_empty());
    assert_eq!(counts(&check(&data)), [("entry-cfa", 1)]);
    assert_eq!(check(&data).worst(), Some(Severity::Lint));
}

/// After a row with an error, the following bytes may not be rows.
#[test]
fn rows_after_an_error_are_not_judged() {
    let odd = |f: FunctionBuilder, at| f.row(at, based(AMD64, AMD64.sp(), 12 + 4 * i64::from(at)));
    let order = odd(odd(odd(function(), 0), 8), 4);
    let data = alone(V3, AMD64, odd(order, 10));
    let report = Checker::default().section(&data, Placement::at(0));
    // SP + 12, SP + 44, SP + 28 (out of order), SP + 52.
    assert_eq!(counts(&report), [("row-order", 1), ("cfa-alignment", 3)]);
}

/// In version 3, a function's attributes are stored with its rows. If these are another function's, the attributes are
/// meaningless as well.
#[test]
fn attributes_that_belong_to_other_rows_are_not_judged() {
    // The words of the second row: CFA = SP + 0xc00008, and FP at CFA - 16, in 4 bytes each. Read as attributes, they
    // are 8 rows, info byte 0xc0, second info byte 0, and a block size of 0xf0.
    let moved = Frame { fp: Recovery::AtCfa(-16), ..based(AMD64, AMD64.sp(), 0x00c0_0008) };
    let first = FunctionBuilder::new(0x1000, 16).row(0, entry(AMD64)).row(4, moved);
    // The words are after 5 bytes of attributes, a row of 3 bytes, a start field and an info byte.
    let second = FunctionBuilder::new(0x1010, 128).row(0, entry(AMD64));
    let second = second.with(|f| f.fre_offset = Some(5 + 3 + 2));
    assert_eq!(broken(&bytes(&of(V3, AMD64, [first, second]))), ["rows-overlap"]);
    // In version 2, attributes are in the table.
    let second = second_of_version_2(|f| f.padding = 1);
    assert_eq!(second, ["function-padding", "rows-overlap"]);
    let second = second_of_version_2(|f| f.info = 0x40);
    assert_eq!(second, ["function-info-reserved", "rows-overlap"]);
}

fn second_of_version_2(change: impl Fn(&mut StoredFunction)) -> Vec<&'static str> {
    let overlapping = second(AMD64, 0x1010).with(|f| {
        f.fre_offset = Some(0);
        change(f);
    });
    broken(&bytes(&of(V2, AMD64, [first(AMD64, 0x1000), overlapping])))
}

/// A function whose rows belong to another one has no findings about its rows.
#[test]
fn shared_rows_are_not_judged() {
    let odd = FunctionBuilder::new(0x1000, 16).row(0, entry(AMD64));
    let odd = odd.row(4, based(AMD64, AMD64.sp(), 12));
    let second = second(AMD64, 0x1010).with(|f| f.fre_offset = Some(0));
    assert_eq!(broken(&bytes(&of(V2, AMD64, [odd.clone(), second]))), ["rows-overlap"]);
    assert_eq!(broken(&alone(V2, AMD64, odd)), ["cfa-alignment"]);
}

/// The rules that apply depend on version and ABI.
#[test]
fn rules_apply_to_their_versions_and_abis() {
    let sorted = |version: Version, abi| broken(&bytes(&of(version, abi, [first(abi, 0x1000)])));
    assert_eq!(sorted(V1, AARCH64), ["obsolete-version"]);
    assert_eq!(sorted(V2, S390X), NONE);
    assert_eq!(sorted(V3, AARCH64), NONE);
}

/// The sums in the report: two functions of 16 bytes with three rows.
#[test]
fn sections_are_summed_up() {
    let report = check(&bytes(&of(V3, AMD64, [first(AMD64, 0x1000), second(AMD64, 0x1008)])));
    let [section] = &report.sections[..] else { panic!("one") };
    assert_eq!((section.functions, section.rows, section.covered_bytes), (2, 3, 24));
    assert_eq!((section.size, section.name.as_str(), section.index), (80, ".sframe", None));
    assert!(section.certain_layout);
    let header = section.header.expect("readable");
    assert_eq!((header.version, header.flags.0, header.abi), (V3, 5, Some(AMD64)));
    assert_eq!((header.fixed_fp_offset, header.fixed_ra_offset), (0, -8));
}

/// Lints about a row and the preceding one see every row, also those whose content and place are known to be sound.
#[test]
fn every_row_is_compared_with_the_preceding_one() {
    for version in [V2, V3] {
        let section = |repeated: &[u64]| {
            let mut builder = of(version, AMD64, []);
            for index in 0..6 {
                let function = FunctionBuilder::new(0x1000 + 16 * index, 16).row(0, entry(AMD64));
                let same = repeated.contains(&index);
                let later = if same { entry(AMD64) } else { saved(AMD64) };
                builder.function(function.row(4, later).row(8, based(AMD64, AMD64.sp(), 24)));
            }
            bytes(&builder)
        };
        for repeated in [&[5][..], &[3, 5], &[0, 1, 2]] {
            let found = findings(&section(repeated), "row-redundant");
            let found: Vec<_> =
                found.iter().map(|f| (f.function.map(|f| u64::from(f.index)), f.row)).collect();
            let expected: Vec<_> = repeated.iter().map(|index| (Some(*index), Some(1))).collect();
            assert_eq!(found, expected);
        }
    }
}

/// The section of a file has the name in its header, up to 64 bytes.
#[test]
fn names_of_sections_are_truncated() {
    let name = |name: &'static str| {
        let mut builder = of(V3, AMD64, [first(AMD64, crate::host::TEXT)]);
        builder.address(crate::host::SFRAME);
        let host = crate::host::linked(bytes(&builder));
        let report = check(&host.with(|host| host.sections[1].name = name).bytes());
        report.sections[0].name.clone()
    };
    assert_eq!(name(".sframe"), ".sframe");
    const LONG: &str = "0123456789012345678901234567890123456789012345678901234567890123456789";
    assert_eq!(name(LONG), LONG[..64]);
    assert_eq!(name("a\nb"), "a\\x0ab");
}
