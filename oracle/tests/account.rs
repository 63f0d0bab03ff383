//! Tests of the account of a file against other ways to count: the sums of the sweep, look-ups of every PC, objdump's
//! output for the golden files, and entries written by hand.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::by_hand::{eh_frame, entry};
use common::{ALL, ALL_BY_PATTERN, counts, golden, golden_files, members, of_file, open};
use object::{Object, ObjectSection};
use sframe_oracle::account::{Account, Difference, Options, Similar, account};
use sframe_oracle::cfi::{Cfi, Kind};
use sframe_oracle::compare::{Arbiter, FunctionCounts, Verdict, Wrong, compare};
use sframe_oracle::coverage::Cause;
use sframe_oracle::rules::CATALOGUE;
use sframe_oracle::witness::{CodeRange, Statement};
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::finding::{CodeSpan, Keep};
use sframe_validator::rules::{Group, Severity};
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery, Register};
use sframe_validator::write::{FunctionBuilder, SectionBuilder};
use sframe_validator::{Abi, Placement, Section, Version};

/// Checks that the numbers of an account add up.
fn check(elf: &Elf<'_>, sections: &[Section<'_>], cfi: &[Cfi<'_>]) {
    let mut arbiter = Arbiter::new(elf, sections, cfi);
    let (mut ranges, mut alike) = (Vec::new(), 0);
    let totals = compare(elf, sections, cfi, |range| {
        if let Verdict::Different(fields) = range.verdict {
            let start = CodeAddress { section: range.section, address: range.start };
            let frames = (range.sframe.and_then(|it| it.frame), range.cfi.and_then(|it| it.frame));
            let (sframe, cfi) = frames.0.zip(frames.1).expect("both have rows");
            for part in arbiter.rule((start, range.end), fields, (&sframe, &cfi)) {
                if part.ruling.wrong == Wrong::Neither {
                    alike += part.end - part.start;
                } else {
                    ranges.push((range.section, part.start, part.end, fields));
                }
            }
        }
    });
    let all = account(elf, sections, cfi, &ALL);
    // Where the code proves both right, they say the same in different ways.
    let mut sums = totals.bytes;
    (sums.different, sums.equal) = (sums.different - alike, sums.equal + alike);
    assert_eq!(all.sums, sums);
    let lost =
        |what: fn(&sframe_oracle::account::Loss) -> u64| all.losses.iter().map(what).sum::<u64>();
    let FunctionCounts { partly, only_cfi, .. } = all.functions;
    assert_eq!(partly + only_cfi, lost(|loss| loss.functions));
    assert_eq!(sums.only_cfi, lost(|loss| loss.bytes));
    assert!(all.losses.is_sorted_by_key(|loss| loss.cause));
    for loss in &all.losses {
        assert_eq!(loss.examples.len() as u64, loss.functions.min(3));
    }
    // Everything is kept, so the counts are those of the kept items: each differing range, in order.
    let counts = counts(&all);
    let mut kept: BTreeMap<&str, u64> = BTreeMap::new();
    for finding in &all.findings {
        *kept.entry(finding.rule.name).or_default() += 1;
        assert!(CATALOGUE.contains(&finding.rule));
    }
    assert!(kept.iter().all(|(rule, count)| counts[rule] == *count), "{counts:?} {kept:?}");
    let of_differences: u64 = counts.values().sum::<u64>() - kept.values().sum::<u64>();
    let place = |it: &Difference<'_>| (it.start.section, it.start.address, it.end, it.fields);
    assert_eq!(all.differences.iter().map(place).collect::<Vec<_>>(), ranges);
    // A pattern counts once per function.
    let first = all.differences.iter().filter(|difference| !difference.repeats).count();
    assert_eq!(of_differences, first as u64);
    for difference in &all.differences {
        assert!(counts.contains_key(difference.finding.rule.name));
        assert_eq!(difference.similar, None);
        let by_absence = difference.finding.message.contains("has no rows");
        assert_eq!(difference.finding.row.is_none(), by_absence);
        assert!(!difference.finding.bytes.is_empty());
    }
    // By pattern, one difference represents all of its kind, and their sizes add up to all bytes.
    let grouped = account(elf, sections, cfi, &ALL_BY_PATTERN);
    assert_eq!(grouped.counts, all.counts);
    let mut together = Similar::default();
    for difference in &grouped.differences {
        let others = difference.similar.expect("by pattern");
        together.functions += 1 + others.functions;
        together.ranges += 1 + others.ranges;
        together.bytes += difference.end - difference.start.address + others.bytes;
    }
    let (functions, ranges) = (of_differences, all.differences.len() as u64);
    assert_eq!(together, Similar { functions, ranges, bytes: sums.different });
    // On request, fewer are kept, but just as many are counted.
    let few = account(elf, sections, cfi, &Options { keep: Keep::First(1), ..ALL_BY_PATTERN });
    assert_eq!(few.counts, all.counts);
    let rules: BTreeSet<_> = few.differences.iter().map(|d| d.finding.rule.name).collect();
    assert_eq!(rules.len(), few.differences.len());
}

#[test]
fn golden_accounts_add_up() {
    let mut files = 0;
    for path in golden_files() {
        let data = std::fs::read(&path).expect("readable");
        for member in members(&data) {
            std::panic::catch_unwind(|| open(member, check))
                .unwrap_or_else(|_| panic!("{}", path.display()));
            files += 1;
        }
    }
    assert!(files > 400, "{files}");
}

/// Counts functions by looking up each of their PCs in both sources.
#[test]
fn functions_are_counted_once() {
    for name in [
        "2.44/x86_64/handwritten.so",
        "2.47.50/x86_64/cfi.o",
        "2.47.50/aarch64/signal.o",
        "2.44/x86_64/mixed-3-into-2-first.exe",
        "lld/x86_64/v3-shared.so",
        "2.47.50/x86_64/static.exe",
    ] {
        open(&golden(name), |elf, sections, cfi| {
            let linked = elf.kind() != ElfKind::Relocatable;
            let in_sframe = |place: CodeAddress| {
                sections.iter().any(|section| {
                    let function = section.find_function(place).expect("readable");
                    function.is_some_and(|f| f.find_row(place.address).expect("readable").is_some())
                })
            };
            let mut expected = FunctionCounts::default();
            for function in cfi.iter().flat_map(Cfi::functions) {
                let start = function.start();
                let places = (0..function.size())
                    .map(|offset| CodeAddress { address: start.address + offset, ..start });
                let code = |place: &CodeAddress| {
                    elf.code_sections().any(|section| match linked {
                        true => section.contains(place.address, 1),
                        false => section.index == place.section,
                    })
                };
                let covered: Vec<_> = places.filter(code).map(in_sframe).collect();
                match (covered.contains(&true), covered.contains(&false)) {
                    (true, false) => expected.both += 1,
                    (true, true) => expected.partly += 1,
                    (false, true) => expected.only_cfi += 1,
                    (false, false) => {}
                }
            }
            let found = account(elf, sections, cfi, &ALL).functions;
            assert_eq!(found, expected, "{name}");
            assert!(expected.both > 0);
        });
    }
}

#[test]
fn limits_of_the_version_have_their_own_sums() {
    // `.cfi_undefined rip` is in two functions of 8 and 7 bytes; in the second, it applies from 1 to 7.
    of_file("2.44/x86_64/outermost.o", &ALL, |account| {
        let limits: Vec<_> =
            account.limits.iter().map(|l| (l.field.to_string(), l.functions, l.bytes)).collect();
        assert_eq!(limits[0], ("undefined-ra".to_owned(), 2, 14));
        assert_eq!(account.sums.limited, limits.iter().map(|limit| limit.2).sum::<u64>());
    });
}

/// Function 1 has `.cfi_undefined rip` from its second byte on. Its entry without rows claims this for all 7 bytes (V3
/// 1.2). That is right for 6 bytes. At the first byte, a reader ends the stack although there is a caller.
#[test]
fn an_entry_without_rows_agrees_with_an_undefined_return_address() {
    let mut data = golden("2.47.50/x86_64/outermost.o");
    let (count, before) = open(&data, |elf, sections, cfi| {
        let header = elf.sframe_sections().next().expect("one");
        let place = sections[0].entry(1).expect("in the table").rows_offset();
        (header.offset + place, account(elf, sections, cfi, &ALL).sums)
    });
    let count = count as usize;
    assert_eq!(data[count..count + 2], [2, 0]);
    data[count] = 0;
    open(&data, |elf, sections, cfi| {
        let account = account(elf, sections, cfi, &ALL);
        assert_eq!(account.sums.equal, before.equal - 1);
        assert_eq!((account.sums.only_cfi, account.sums.different), (0, 1));
        let finding = &account.differences[0].finding;
        assert_eq!(finding.rule.name, "outermost-mismatch");
        let says = "RA is undefined (the function has no rows, which marks an outermost frame), CFI \
                    says *(CFA-8)";
        assert_eq!(finding.message, says);
        let function = finding.function.expect("known");
        assert_eq!((function.index, function.size, finding.row), (1, 7, None));
        assert_eq!((account.functions.both, account.functions.partly), (3, 0));
    });
}

/// Without SFrame sections, every function that a version 3 section could describe is lost.
#[test]
fn coverage_alone_counts_every_byte() {
    let mut files = 0;
    for path in golden_files() {
        let data = std::fs::read(&path).expect("readable");
        let Ok(file) = object::File::parse(&*data) else { continue };
        if file.kind() == object::ObjectKind::Relocatable {
            continue;
        }
        let wanted = 0x2 | 0x4; // SHF_ALLOC, SHF_EXECINSTR
        let code: Vec<_> = file
            .sections()
            .filter(|section| match section.flags() {
                object::SectionFlags::Elf { sh_flags, .. } => sh_flags.0 & wanted == wanted,
                _ => false,
            })
            // Only bytes in the file are code, and sections of type SHT_NOBITS have none.
            .filter(|section| section.file_range().is_some())
            .map(|section| section.address()..section.address() + section.size())
            .collect();
        open(&data, |elf, _, cfi| {
            let account = account(elf, &[], cfi, &ALL);
            let pcs = code.iter().cloned().flatten().map(CodeAddress::absolute);
            let described = pcs.filter(|pc| cfi.iter().any(|cfi| cfi.find(*pc).is_some())).count();
            assert_eq!(account.sums.only_cfi, described as u64, "{}", path.display());
            let all: u64 = code.iter().map(|range| range.end - range.start).sum();
            assert_eq!(account.sums.total(), all);
            assert_eq!(account.sums.neither, all - described as u64);
            let functions: u64 = account.losses.iter().map(|loss| loss.functions).sum();
            assert_eq!(account.functions.only_cfi, functions);
            assert_eq!(counts(&account).get("unexplained-loss"), None);
        });
        files += 1;
    }
    assert!(files > 200, "{files}");
}

/// The account of a golden file's code with CFI written by hand.
fn with_cfi(bytes: &[u8], options: &Options, look: impl FnOnce(&Account<'_>, u64)) {
    let data = golden("2.47.50/x86_64/shared.so");
    open(&data, |elf, sections, _| {
        let text = elf.sections().iter().find(|section| section.name == b".text").expect(".text");
        let cfi = [Cfi::from_bytes(bytes, Kind::EhFrame, 0x8000, Abi::Amd64)];
        look(&account(elf, sections, &cfi, options), text.address);
    });
}

fn text() -> u64 {
    let data = golden("2.47.50/x86_64/shared.so");
    let elf = Elf::parse(&data).expect("ELF");
    elf.sections().iter().find(|section| section.name == b".text").expect(".text").address
}

/// The CIE has 18 bytes, so the FDE starts at 0x12, and its instructions at 0x2a.
#[test]
fn errors_of_instructions_are_findings() {
    let start = text();
    for (program, rule, what) in [
        (
            &[0x41, 0x0b][..],
            "cfi-unbalanced-restore-state",
            "restore_state without a remembered state",
        ),
        (&[0x41, 0x3f], "cfi-unknown-instruction", "call frame instruction 0x3f is not defined"),
        // The advance follows the last row, so no PC needs it.
        (&[0x41, 0x0e, 16, 0x60], "cfi-advance-past-end", "location"),
    ] {
        let bytes = eh_frame(&[(start, 0x10, program)]);
        with_cfi(&bytes, &Options::default(), |account, _| {
            assert_eq!(counts(account)[rule], 1, "{rule}");
            let finding = account.findings.iter().find(|f| f.rule.name == rule).expect(rule);
            let place = if rule == "cfi-advance-past-end" { 0x2d } else { 0x2b };
            let message = &finding.message;
            assert!(message.starts_with(&format!(".eh_frame+{place:#x}: {what}")), "{message}");
            assert!(message.ends_with("(FDE at 0x12)"), "{message}");
            let code = CodeSpan { start: CodeAddress::absolute(start), end: start + 0x10 };
            assert_eq!(finding.code, Some(code));
            assert_eq!((finding.section, finding.offset), (None, None));
        });
    }
}

/// An error of the CIE is reported once, and not for each of its functions.
#[test]
fn a_defect_is_reported_once() {
    let mut bytes = entry(0, &[1, 0, 1, 0x78, 16, 0x41]);
    for number in 0..4_u64 {
        let range = [(text() + 16 * number).to_le_bytes(), 16_u64.to_le_bytes()].concat();
        bytes.extend(entry(bytes.len() as u32 + 4, &range));
    }
    with_cfi(&bytes, &ALL, |account, _| {
        let cfi = account.findings.iter().filter(|finding| finding.rule.group == Group::Cfi);
        let messages: Vec<_> = cfi.map(|finding| finding.message.clone()).collect();
        assert_eq!(messages, [".eh_frame+0xd: instruction 0x41 is not allowed in a CIE"]);
        let reasons: Vec<_> = account.undecided.iter().map(|u| u.reason.clone()).collect();
        assert_eq!(reasons, ["not compared: CFI cannot be read in 4 functions, 64 bytes"]);
    });
}

#[test]
fn lints_are_reported_on_request() {
    let bytes = eh_frame(&[(text(), 0, &[]), (text(), 0x10, &[])]);
    let lint = Options { pedantic: true, ..Options::default() };
    with_cfi(&bytes, &lint, |account, _| assert_eq!(counts(account)["cfi-empty-range"], 1));
    with_cfi(&bytes, &Options::default(), |account, _| {
        assert_eq!(counts(account).get("cfi-empty-range"), None);
        assert!(account.findings.iter().all(|f| f.rule.severity > Severity::Lint));
        // It still counts as a function without bytes.
        let loss = &account.losses[0];
        assert_eq!((loss.cause, loss.functions, loss.bytes), (Cause::ZeroSize, 1, 0));
        let start = CodeAddress::absolute(text());
        assert_eq!(loss.examples, [CodeRange { start, end: start.address }]);
    });
}

/// Findings that are not kept are counted as well.
#[test]
fn thousands_of_defects() {
    let functions: Vec<_> = (0..3000).map(|_| (text(), 0, &[][..])).collect();
    let bytes = eh_frame(&functions);
    with_cfi(&bytes, &Options { keep: Keep::First(2), ..ALL_BY_PATTERN }, |account, _| {
        assert_eq!(counts(account)["cfi-empty-range"], 3000);
        let kept = account.findings.iter().filter(|f| f.rule.name == "cfi-empty-range").count();
        assert_eq!(kept, 2);
    });
}

/// The functions of a CIE that cannot be read are not compared, and limits of the reader are not findings.
#[test]
fn unreadable_cfi_is_undecided() {
    let mut bytes = entry(0, &[1, b'Q', 0, 1, 0x78, 16]);
    let range = [text().to_le_bytes(), 16_u64.to_le_bytes()].concat();
    bytes.extend(entry(bytes.len() as u32 + 4, &range));
    with_cfi(&bytes, &ALL, |account, _| {
        let reasons: Vec<_> = account.undecided.iter().map(|u| u.reason.as_str()).collect();
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        assert!(reasons[0].contains("the CIE at 0x0 is not readable"));
    });
    // CFI has an expression (r1 * 2) that may or may not be equivalent to SFrame's rule. FP is at CFA-16 on both sides.
    let bytes = eh_frame(&[(text(), 0x10, &[0x86, 2, 0x0f, 4, 0x71, 0, 0x32, 0x1e])]);
    with_cfi(&bytes, &ALL, |account, _| {
        let expression =
            "not compared: CFI has an expression without a simpler meaning in 1 function, 16 bytes";
        assert!(
            account.undecided.iter().any(|u| u.reason == expression),
            "{:?}",
            account.undecided
        );
    });
}

/// The return address is `r1 * 2`, which has no simpler form. The CFA is SP + 24, but SFrame never has that in the
/// first 16 bytes. Written by hand from the DWARF standard's operation codes.
#[test]
fn an_expression_does_not_hide_differences_in_other_fields() {
    let program = [0x0c, 7, 24, 0x16, 16, 4, 0x71, 0, 0x32, 0x1e];
    let bytes = eh_frame(&[(text(), 0x10, &program)]);
    with_cfi(&bytes, &ALL, |account, _| {
        let covered = account.sums.different;
        assert!(covered > 0 && account.sums.undecided == 0, "{:?}", account.sums);
        let rules: BTreeSet<_> = account.differences.iter().map(|d| d.finding.rule.name).collect();
        assert_eq!(rules, BTreeSet::from(["cfa-mismatch"]));
        let undecided: Vec<_> = account.undecided.iter().map(|u| u.reason.clone()).collect();
        let reason = "compared without ra: CFI has an expression without a simpler meaning for it in \
                      1 function";
        assert_eq!(undecided, [format!("{reason}, {covered} bytes")]);
    });
}

/// The expected pieces are written by hand, from the result of a binary search of `.eh_frame_hdr`: the last function
/// that starts at or before the PC, if it reaches that far.
#[test]
fn the_overlapping_function_that_starts_last_is_found() {
    /// The starts and sizes of functions; then, for each piece, its start, its end, and the start of its function.
    type Case = (&'static [(u64, u64)], &'static [(u64, u64, u64)]);
    let cases: [Case; 5] = [
        (&[(0, 0x20), (8, 8)], &[(0, 8, 0), (8, 0x10, 8)]),
        (&[(0, 0x10), (8, 0x10)], &[(0, 8, 0), (8, 0x18, 8)]),
        (&[(0, 8), (0, 0x10)], &[(0, 0x10, 0)]),
        (&[(0, 0x10), (8, 0)], &[(0, 0x10, 0)]),
        (&[(0, 0x20), (4, 8), (8, 4)], &[(0, 4, 0), (4, 8, 4), (8, 0xc, 8)]),
    ];
    let data = golden("2.47.50/x86_64/shared.so");
    for (functions, wanted) in cases {
        let fdes: Vec<(u64, u64, &[u8])> =
            functions.iter().map(|(start, size)| (text() + start, *size, &[][..])).collect();
        let bytes = eh_frame(&fdes);
        let cfi = [Cfi::from_bytes(&bytes, Kind::EhFrame, 0x8000, Abi::Amd64)];
        open(&data, |elf, _, _| {
            let mut found = Vec::new();
            sframe_oracle::compare::compare(elf, &[], &cfi, |range| {
                if let Some(Statement { function, .. }) = range.cfi {
                    let offset = |address: u64| address - text();
                    let of = offset(function.start().address);
                    found.push((offset(range.start), offset(range.end), of));
                }
            });
            assert_eq!(found, wanted, "{functions:?}");
        });
    }
}

/// Written by hand: of four pieces of 16 bytes, only CFI describes the first, neither the second, only SFrame the
/// third, and both the last. A function counts by its own code, not by the code before it.
#[test]
fn functions_are_counted_by_their_own_code() {
    let row = Frame {
        cfa: Cfa::RegisterOffset { register: Register(7), offset: 8 },
        ra: Recovery::AtCfa(-8),
        fp: Recovery::Unchanged,
        ra_signed: false,
    };
    let start = text();
    let mut builder = SectionBuilder::new(Version::V3, Abi::Amd64);
    for offset in [0x20, 0x30] {
        builder.function(FunctionBuilder::new(start + offset, 16).row(0, row));
    }
    let built = builder.build().expect("a section");
    let section = Section::parse(&built.bytes, Placement::at(0)).expect("a section");
    let bytes = eh_frame(&[(start, 16, &[]), (start + 0x30, 16, &[])]);
    let cfi = [Cfi::from_bytes(&bytes, Kind::EhFrame, 0x8000, Abi::Amd64)];
    let data = golden("2.47.50/x86_64/shared.so");
    open(&data, |elf, _, _| {
        let functions = account(elf, &[section], &cfi, &ALL).functions;
        let wanted = FunctionCounts { both: 1, only_cfi: 1, only_sframe: 1, ..Default::default() };
        assert_eq!(functions, wanted);
    });
}

/// Bytes and functions are counted independently, so each count checks the other. In `sizes.so`, functions without
/// bytes in the file follow padding that neither side describes.
#[test]
fn functions_are_only_in_sframe_if_bytes_are() {
    for path in golden_files() {
        let data = std::fs::read(&path).expect("readable");
        for member in members(&data) {
            open(member, |elf, sections, cfi| {
                let Account { sums, functions, .. } = account(elf, sections, cfi, &ALL);
                let bytes = sums.only_sframe + sums.undecided;
                assert!(bytes > 0 || functions.only_sframe == 0, "{}", path.display());
            });
        }
    }
}
