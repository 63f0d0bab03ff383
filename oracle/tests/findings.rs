//! Tests of what an account reports, with code, SFrame and CFI written by hand.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

mod common;

use common::by_hand::{eh_frame, entry};
use common::{ALL, counts, open};
use sframe_oracle::account::{Account, account};
use sframe_oracle::coverage::Cause;
use sframe_oracle::witness::CodeRange;
use sframe_validator::finding::CodeSpan;
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery, Register};
use sframe_validator::write::elf::Image;
use sframe_validator::write::{FunctionBuilder, SectionBuilder};
use sframe_validator::{Abi, Version};

/// The start of the code, which has 256 bytes.
const CODE: u64 = 0x1000;
/// The address of the SFrame section.
const SFRAME: u64 = 0x4000;
/// In version 2, the header has 28 bytes and an entry of the table has 20.
const HEADER: u64 = 28;
const ENTRY: u64 = 20;

/// SP plus an offset, and RA next to the CFA.
fn sp(offset: i64) -> Frame {
    let cfa = Cfa::RegisterOffset { register: Register(7), offset };
    Frame { cfa, ra: Recovery::AtCfa(-8), fp: Recovery::Unchanged, ra_signed: false }
}

/// The account of a file with these functions and the given `.eh_frame`.
fn of(
    version: Version,
    functions: Vec<FunctionBuilder>,
    cfi: Option<&[u8]>,
    look: impl FnOnce(&Account<'_>),
) {
    let mut builder = SectionBuilder::new(version, Abi::Amd64);
    builder.address(SFRAME);
    for function in functions {
        builder.function(function);
    }
    let sframe = builder.build().expect("a section").bytes;
    let image = Image {
        abi: Abi::Amd64,
        code: CODE..CODE + 0x100,
        sframe: (&sframe, SFRAME),
        typed: true,
        eh_frame: cfi.map(|cfi| (cfi, 0x8000)),
    };
    let file = image.bytes().expect("a file");
    open(&file, |elf, sections, cfi| look(&account(elf, sections, cfi, &ALL)));
}

fn at(offset: u64, size: u32) -> FunctionBuilder {
    FunctionBuilder::new(CODE + offset, size)
}

/// A range of code, as findings have it.
fn code(start: u64, end: u64) -> Option<CodeSpan> {
    Some(CodeSpan { start: CodeAddress::absolute(CODE + start), end: CODE + end })
}

/// Only CFI describes 0..0x10, and 0x50..0x60, where SFrame has an entry without rows. Only SFrame describes
/// 0x20..0x30, with two rows, and 0x30..0x40.
#[test]
fn code_that_one_side_describes_is_a_finding_for_each_function() {
    let functions = || {
        let stray = at(0x20, 0x10).row(0, sp(8)).row(8, sp(16));
        vec![stray, at(0x30, 0x10).row(0, sp(8)), at(0x50, 0x10)]
    };
    let cfi = eh_frame(&[(CODE, 0x10, &[]), (CODE + 0x50, 0x10, &[])]);
    of(Version::V2, functions(), Some(&cfi), |account| {
        let loss = "and CFI does not show why";
        let found: Vec<_> = account
            .findings
            .iter()
            .map(|finding| {
                let function = finding.function.map(|function| function.index);
                (finding.rule.name, finding.code, function, finding.message.clone())
            })
            .collect();
        let stray = "SFrame describes this code, CFI does not".to_owned();
        let wanted = [
            (
                "unexplained-loss",
                code(0, 0x10),
                None,
                format!("CFI describes this code, SFrame does not, {loss}"),
            ),
            ("sframe-without-cfi", code(0x20, 0x28), Some(0), stray.clone()),
            ("sframe-without-cfi", code(0x30, 0x40), Some(1), stray),
            (
                "unexplained-loss",
                code(0x50, 0x60),
                Some(2),
                format!("CFI describes this code, SFrame has an entry without rows, {loss}"),
            ),
        ];
        assert_eq!(found, wanted);
        assert_eq!((counts(account)["unexplained-loss"], counts(account).len()), (2, 2));
        assert_eq!(counts(account)["sframe-without-cfi"], 2);
        for finding in &account.findings {
            let place = finding.function.map(|f| HEADER + ENTRY * u64::from(f.index));
            assert_eq!(finding.offset, place);
            assert_eq!(finding.bytes, place.map_or(0..0, |place| place..place + ENTRY));
            assert_eq!(finding.section, place.map(|_| 0));
        }
        let functions = account.functions;
        assert_eq!((functions.only_cfi, functions.only_sframe, functions.both), (2, 2, 0));
    });
    // Without any CFI there is nothing to compare with.
    for cfi in [None, Some([0; 4].as_slice())] {
        of(Version::V2, functions(), cfi, |account| {
            assert!(account.findings.is_empty() && account.counts.is_empty());
            assert_eq!(account.sums.only_sframe, 0x20);
        });
    }
}

/// Two entries of CFI without bytes are at 8, where SFrame has one, too; two more are at 0x18, where it has none, but
/// another function.
#[test]
fn functions_without_bytes_are_counted_by_place() {
    let functions = vec![at(8, 0), at(0x18, 8).row(0, sp(8))];
    let empty = [(CODE + 8, 0, [].as_slice()), (CODE + 0x18, 0, &[])];
    let cfi = eh_frame(&[empty[0], empty[0], empty[1], empty[1]]);
    of(Version::V2, functions, Some(&cfi), |account| {
        let functions = account.functions;
        assert_eq!((functions.both, functions.only_cfi, functions.only_sframe), (1, 1, 1));
        let [loss] = account.losses.as_slice() else { panic!("one cause") };
        assert_eq!((loss.cause, loss.functions, loss.bytes), (Cause::ZeroSize, 1, 0));
        let start = CodeAddress::absolute(CODE + 0x18);
        assert_eq!(loss.examples, [CodeRange { start, end: CODE + 0x18 }]);
        assert_eq!(
            (loss.examples[0].bytes(), loss.examples[0].to_string().as_str()),
            (0, "0x1018..0x1018")
        );
    });
}

/// Rows whose info byte has the undefined width 3 (`format`, "fre_info": bits 5 and 6), in code with and without CFI.
#[test]
fn unreadable_rows_are_undecided() {
    let unreadable = |offset| at(offset, 0x10).raw_row(0, 0x63, &[8]);
    let cfi = eh_frame(&[(CODE, 0x10, &[])]);
    let reasons = |account: &Account<'_>| {
        let reasons = account.undecided.iter().map(|u| (u.section, u.reason.clone()));
        reasons.collect::<Vec<_>>()
    };
    let why = "not compared: rows cannot be read in";
    of(Version::V2, vec![unreadable(0)], Some(&cfi), |account| {
        assert_eq!(reasons(account), [(Some(0), format!("{why} 1 function, 16 bytes"))]);
        assert_eq!(account.sums.undecided, 16);
    });
    of(Version::V2, vec![unreadable(0), unreadable(0x20)], Some(&cfi), |account| {
        assert_eq!(reasons(account), [(Some(0), format!("{why} 2 functions, 32 bytes"))]);
    });
}

/// SFrame has two different rows where the instructions of CFI are malformed (0x3f is not defined).
#[test]
fn a_function_with_unreadable_cfi_is_counted_once() {
    let functions = vec![at(0, 0x10).row(0, sp(8)).row(8, sp(16))];
    let cfi = eh_frame(&[(CODE, 0x10, &[0x3f])]);
    of(Version::V2, functions, Some(&cfi), |account| {
        let reasons: Vec<_> = account.undecided.iter().map(|u| u.reason.as_str()).collect();
        assert_eq!(reasons, ["not compared: CFI cannot be read in 1 function, 16 bytes"]);
        let [finding] = account.findings.as_slice() else { panic!("one finding") };
        assert_eq!(finding.rule.name, "cfi-unknown-instruction");
    });
}

/// The CIE, which has 14 bytes, has an augmentation that no reader knows, so the three functions cannot be read. The
/// pointer of the first to its CIE is at 14 + 4.
#[test]
fn a_limit_is_reported_with_its_number() {
    let mut cfi = entry(0, &[1, b'Q', 0, 1, 0x78, 16]);
    for number in 0..3 {
        let range = [(CODE + 16 * number).to_le_bytes(), 16_u64.to_le_bytes()].concat();
        cfi.extend(entry(cfi.len() as u32 + 4, &range));
    }
    of(Version::V2, vec![], Some(&cfi), |account| {
        let reasons: Vec<_> = account.undecided.iter().map(|u| u.reason.as_str()).collect();
        let many = ".eh_frame+0x12: the CIE at 0x0 is not readable, and 2 more of this kind";
        assert_eq!(reasons, [many]);
    });
}

/// A function of 48 bytes whose rows, SP+16 at 0 and SP+24 at 11, repeat every 16 bytes, against CFI with one CFA for
/// all of it. Each range that differs belongs to the row that is valid there in its block.
#[test]
fn rows_of_repeated_blocks_are_found_in_their_block() {
    let functions = || vec![at(0, 48).repeat(16).row(0, sp(16)).row(11, sp(24))];
    let found = |cfa: u8| {
        let cfi = eh_frame(&[(CODE, 48, &[0x0e, cfa])]);
        let mut found = Vec::new();
        of(Version::V2, functions(), Some(&cfi), |account| {
            for difference in &account.differences {
                let finding = &difference.finding;
                assert!(!finding.message.contains("starts at"), "{}", finding.message);
                // A row has a start of one byte, an info byte, and a word of one byte.
                let row = finding.row.expect("known");
                let place = HEADER + ENTRY + 3 * u64::from(row);
                assert_eq!((finding.offset, &finding.bytes), (Some(place), &(place..place + 3)));
                let start = difference.start.address - CODE;
                found.push((start, difference.end - CODE, row));
            }
        });
        found
    };
    // The first or the second row differs.
    assert_eq!(found(24), [(0, 11, 0), (16, 27, 0), (32, 43, 0)]);
    assert_eq!(found(16), [(11, 16, 1), (27, 32, 1), (43, 48, 1)]);
    let both = [(0, 11, 0), (11, 16, 1), (16, 27, 0), (27, 32, 1), (32, 43, 0), (43, 48, 1)];
    assert_eq!(found(32), both);
}

/// Version 1 does not record the size of a block, which does not matter if there is only one row.
#[test]
fn the_only_row_of_a_repeated_block_is_found() {
    let repeats = |function: FunctionBuilder| function.with(|stored| stored.info |= 0x10);
    let functions = vec![repeats(at(0, 48).row(0, sp(16)))];
    let cfi = eh_frame(&[(CODE, 48, &[])]);
    of(Version::V1, functions, Some(&cfi), |account| {
        let [difference] = account.differences.as_slice() else { panic!("one difference") };
        assert_eq!((difference.start.address, difference.end), (CODE, CODE + 48));
        assert_eq!(difference.finding.row, Some(0));
        assert_eq!(difference.finding.message, "CFA is rsp+16, CFI says rsp+8");
    });
}
