//! Assessments of sections made by hand, with figures that were worked out from their fields.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use sframe_consumers::{
    Consumer, Input, Kind, Opening, StopKind, UnknownConsumer, Verdict, assess, describe, named,
    other_releases, profiles, select,
};
use sframe_validator::Abi;

const ADDRESS: u64 = 0x40_0000;

/// A function: its start relative to the section, its size, its info byte and its rows.
type Function<'a> = (i32, u32, u8, &'a [&'a [u8]]);

/// A section of version 2, with section-relative starts, for AMD64.
fn version_2(functions: &[Function<'_>]) -> Vec<u8> {
    let (mut table, mut rows, mut count) = (Vec::new(), Vec::new(), 0u32);
    for (start, size, info, own) in functions {
        table.extend(start.to_le_bytes());
        table.extend(size.to_le_bytes());
        table.extend(u32::try_from(rows.len()).expect("small").to_le_bytes());
        table.extend(u32::try_from(own.len()).expect("small").to_le_bytes());
        table.extend([*info, 0, 0, 0]);
        rows.extend(own.concat());
        count += u32::try_from(own.len()).expect("small");
    }
    let mut bytes = vec![0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0];
    for field in [functions.len(), count as usize, rows.len(), 0, table.len()] {
        bytes.extend(u32::try_from(field).expect("small").to_le_bytes());
    }
    bytes.extend(table);
    bytes.extend(rows);
    bytes
}

fn consumer(name: &str) -> &'static dyn Consumer {
    let found = named(name);
    assert_eq!(found.len(), 1, "{name}");
    found[0]
}

/// CFA = SP + 8; then CFA = SP + 16 and FP at CFA - 16; then CFA = FP + 16.
const PROLOGUE: [&[u8]; 3] = [&[0, 0x03, 8], &[1, 0x05, 16, 0xf0], &[4, 0x04, 16, 0xf0]];

/// Of a function of 3,000 rows, whose starts have two bytes, every row is compared: readers that look through the rows for
/// each PC must not spend the limit on work that is meant for shared rows.
#[test]
fn a_long_function_is_decided() {
    let rows: Vec<[u8; 4]> = (0..3000u16)
        .map(|index| {
            let [low, high] = (index * 2).to_le_bytes();
            [low, high, 0x03, if index % 2 == 0 { 8 } else { 16 }]
        })
        .collect();
    let rows: Vec<&[u8]> = rows.iter().map(|row| &row[..]).collect();
    let bytes = version_2(&[(0x1000, 6000, 1, &rows)]);
    for name in ["glibc-2.43", "linux-user-v2", "libsframe-2.44", "llvm-23"] {
        let found = assess(&Input::new(&bytes, ADDRESS, Abi::Amd64), consumer(name));
        assert_eq!((found.verdict, found.bytes.same), (Verdict::Accept, 6000), "{name}");
    }
}

#[test]
fn a_plain_section_is_accepted_by_all_readers_of_its_version() {
    let bytes = version_2(&[(0x1000, 0x20, 0, &PROLOGUE), (0x1040, 0x10, 0, &PROLOGUE[..1])]);
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    for name in ["glibc-2.43", "linux-user-v2", "libsframe-2.44", "llvm-23"] {
        let found = assess(&input, consumer(name));
        assert_eq!((found.verdict, found.functions.found), (Verdict::Accept, 2), "{name}");
        assert_eq!((found.bytes.same, found.bytes.none, found.bytes.other), (0x30, 0, 0), "{name}");
        assert!(found.examples.is_empty());
    }
    // 2.47 adds the place of each start field, 28 and 48, to starts that are relative to the section. So functions start
    // 28 and 48 bytes late: 0x1c bytes of the first are in a gap, and the second lies in 0x1070..0x1080.
    let found = assess(&input, consumer("libsframe-2.47"));
    assert_eq!(found.verdict, Verdict::Misread);
    // Of 0x1000..0x1020, the last 4 bytes are found, with the first row, where the third is right.
    assert_eq!((found.bytes.same, found.bytes.other, found.bytes.none), (0, 4, 0x2c));
    for name in ["linux-user-v3", "libsframe-2.40", "mold-3"] {
        let found = assess(&input, consumer(name));
        assert!(matches!(found.verdict, Verdict::Ignore | Verdict::Reject), "{name}");
        assert_eq!(found.bytes.none, 0x30);
        assert_eq!((found.functions.found, found.functions.unreachable), (0, 2));
    }
}

#[test]
fn a_row_without_words_costs_each_consumer_something_else() {
    let rows: [&[u8]; 2] = [&[0, 0x03, 8], &[4, 0]];
    let bytes = version_2(&[(0x1000, 0x10, 0, &rows), (0x1010, 0x10, 0, &PROLOGUE[..1])]);
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    let glibc = assess(&input, consumer("glibc-2.43"));
    assert_eq!((glibc.verdict, glibc.bytes.same, glibc.bytes.none), (Verdict::Part, 0x14, 12));
    assert_eq!((glibc.examples[0].kind, glibc.examples[0].pc), (Kind::Lost, ADDRESS + 0x1004));
    // The kernel reads one row too many, which is bad: even PCs before it lose the section.
    let linux = assess(&input, consumer("linux-user-v2"));
    assert_eq!((linux.functions.found, linux.functions.drop_section), (1, 1));
    assert_eq!((linux.bytes.same, linux.bytes.none), (0x10, 0x10));
    assert_eq!((linux.examples[0].kind, linux.examples[0].function), (Kind::DropSection, 0));
    let Opening::Accept(reader) = consumer("linux-user-v2").open(&input) else { panic!() };
    assert_eq!(reader.lookup(ADDRESS + 0x1000).unwrap_err().kind, StopKind::DropsSection);
}

/// glibc finds nothing in a table that is not marked as sorted; LLVM does not look at the mark.
#[test]
fn a_section_in_which_nothing_is_found_is_ignored_not_read_in_part() {
    let mut bytes = version_2(&[(0x1000, 0x20, 0, &PROLOGUE)]);
    bytes[3] = 0;
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    let found = assess(&input, consumer("glibc-2.43"));
    assert_eq!((found.verdict, found.bytes.same, found.bytes.none), (Verdict::Ignore, 0, 0x20));
    let reason = found.reason.as_deref();
    assert_eq!(reason, Some("it opens the section and finds no row: the table is not sorted"));
    assert_eq!(assess(&input, consumer("llvm-23")).verdict, Verdict::Accept);
    // A section without functions has no PC at which anything could be missing.
    let empty = version_2(&[]);
    let input = Input::new(&empty, ADDRESS, Abi::Amd64);
    assert_eq!(assess(&input, consumer("llvm-23")).verdict, Verdict::Accept);
}

#[test]
fn a_repetition_size_of_0_crashes_those_that_divide() {
    let bytes = version_2(&[(0x1000, 0x20, 0x10, &PROLOGUE[..1])]);
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    let lookup = |name| match consumer(name).open(&input) {
        Opening::Accept(reader) => reader.lookup(ADDRESS + 0x1000).map_err(|stop| stop.kind),
        other => panic!("{other:?}"),
    };
    for name in ["glibc-2.43", "linux-user-v2", "libsframe-2.44"] {
        assert_eq!(lookup(name), Err(StopKind::Crash), "{name}");
    }
    assert!(lookup("llvm-23").is_ok());
}

/// The profiler reads bit 0 of the row's info byte as FP, and bit 3 as a stored RA: of `0x03`, FP; 1 byte was stored.
#[test]
fn the_profiler_with_another_layout_takes_the_wrong_base() {
    let bytes = version_2(&[(0x1000, 0x10, 0, &PROLOGUE[..1])]);
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    let found = assess(&input, consumer("java-profiler"));
    // Bits 1 and 2 of 0x03 are the word size code 1: two bytes, of which the section has one. The row is lost.
    assert_eq!((found.verdict, found.bytes.none), (Verdict::Ignore, 0x10));
    let bytes = version_2(&[(0x1000, 0x10, 0, &[&[0, 0x03, 8], &[8, 0x03, 8]])]);
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    // Two rows: of the first, a word of 2 bytes is 8 and the next start, 8: CFA = FP + 0x808. The second does not fit.
    let found = assess(&input, consumer("java-profiler"));
    assert_eq!(found.verdict, Verdict::Ignore);
}

/// To starts that are relative to the section, libsframe 2.47 adds the offset of the start field: 28 for the first entry.
/// Function 0 is 0x1000..0x1020 and is found in 0x101c..0x103c, of which 0x1020..0x103c is beyond its end.
#[test]
fn rows_where_the_specification_has_none_are_shown_with_an_example() {
    let bytes = version_2(&[(0x1000, 0x20, 0, &PROLOGUE)]);
    let found = assess(&Input::new(&bytes, ADDRESS, Abi::Amd64), consumer("libsframe-2.47"));
    assert_eq!((found.bytes.other, found.bytes.none), (4, 0x1c));
    let kinds: Vec<_> = found.examples.iter().map(|of| (of.kind, of.pc - ADDRESS)).collect();
    // The worst kind counts the function, and each kind that it has is shown.
    assert_eq!((found.functions.misread, found.functions.lost), (1, 0));
    assert_eq!(kinds, [(Kind::Misread, 0x101c), (Kind::Lost, 0x1000)]);
    // The end of the last function of the section ends the comparison. With a second one, the gap is compared.
    let bytes = version_2(&[(0x1000, 0x20, 0, &PROLOGUE), (0x1100, 0x10, 0, &PROLOGUE[..1])]);
    let found = assess(&Input::new(&bytes, ADDRESS, Abi::Amd64), consumer("libsframe-2.47"));
    assert_eq!(found.bytes.beyond, 0x1c);
    let beyond = found.examples.last().expect("an example");
    assert_eq!((beyond.kind, beyond.function), (Kind::Beyond, 0));
    assert_eq!((beyond.start - ADDRESS, beyond.pc - ADDRESS), (0x1000, 0x1020));
    assert_eq!(beyond.reason, "CFA is rbp+16, and the specification has no row");
}

/// Linux's version-2 series ignores the flag for PC-relative starts, and finds the function 28 bytes early, in
/// 0xfe4..0x1024. Two rows start at 0x30, so that it drops the section from 0x1014 on.
#[test]
fn a_function_with_several_faults_has_an_example_of_each() {
    let rows: [&[u8]; 4] =
        [&[0, 0x03, 8], &[4, 0x04, 16, 0xf0], &[0x30, 0x03, 8], &[0x30, 0x03, 8]];
    let mut bytes = version_2(&[(0x1000 - 28, 0x40, 0, &rows)]);
    bytes[3] = 5;
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    let found = assess(&input, consumer("linux-user-v2"));
    assert_eq!(found.verdict, Verdict::Misread);
    let counted = (found.functions.drop_section, found.functions.misread, found.functions.lost);
    assert_eq!(counted, (1, 0, 0));
    let kinds: Vec<_> = found.examples.iter().map(|of| (of.kind, of.pc - ADDRESS)).collect();
    // At 0x1004, the second row is the specification's, too. From 0x1024 on, nothing is found; before 0x1000, rows are.
    let own = [(Kind::Misread, 0x1000), (Kind::Lost, 0x1024), (Kind::DropSection, 0x1014)];
    assert_eq!(kinds, [&own[..], &[(Kind::Beyond, 0xfe4)]].concat());
    assert_eq!(found.bytes.beyond, 28);
    assert_eq!((found.bytes.other, found.bytes.same, found.bytes.none), (4, 0x10, 0x2c));
}

/// No profile may panic, whatever the bytes are, and shared rows may not take more than linear time.
#[test]
fn functions_that_share_rows_are_undecided_beyond_a_limit() {
    let rows: Vec<u8> = (0..=254u8).flat_map(|start| [start, 0x03, 8]).collect();
    let mut bytes = version_2(&[(0x1000, 0x100, 0, &[&rows])]);
    // One block of 255 rows for 4,000 functions.
    let functions = 4000u32;
    let mut table = Vec::new();
    for index in 0..functions {
        table.extend((0x10_0000 + index * 0x100).to_le_bytes());
        table.extend([0, 1, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0]);
    }
    bytes.truncate(28);
    bytes.splice(
        8..28,
        [functions, 255, 765, 0, functions * 20].into_iter().flat_map(u32::to_le_bytes),
    );
    bytes.extend(table);
    bytes.extend(rows);
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    for consumer in profiles() {
        let found = assess(&input, *consumer);
        assert_ne!(found.verdict, Verdict::Accept, "{}", found.consumer);
    }
    let reason = assess(&input, consumer("llvm-23")).reason;
    assert_eq!(reason.as_deref(), Some("too many functions share rows to compare them all"));
}

/// A function of nearly 4 GiB with blocks of 16 bytes, of which the first row covers 11: the section has 54 bytes.
#[test]
fn blocks_are_counted_however_often_they_repeat() {
    let rows: [&[u8]; 2] = [&[0, 0x03, 8], &[11, 0x03, 16]];
    let mut bytes = version_2(&[(0x1000, u32::MAX - 4, 0x10, &rows)]);
    bytes[28 + 17] = 16;
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    let found = assess(&input, consumer("llvm-23"));
    let whole = u64::from(u32::MAX - 4);
    assert_eq!((found.verdict, found.bytes.same), (Verdict::Accept, whole));
}

/// The PLT of a file in which it lies before the section, as GNU ld lays files out: five entries of 16 bytes. libsframe 2.44 takes
/// the PC relative to the section by the block's size. The remainder has the sign of the dividend, and is 0 at the start of each
/// entry only: the library finds a row for 5 of 80 bytes. GNU ld 2.44 wrote these rows for a library.
#[test]
fn a_plt_before_the_section_is_found_at_one_byte_in_16() {
    let rows: [&[u8]; 2] = [&[0, 0x03, 8], &[11, 0x03, 16]];
    let mut bytes = version_2(&[(-4304, 80, 0x10, &rows), (-4224, 23, 0, &PROLOGUE)]);
    bytes[28 + 17] = 16;
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    let found = assess(&input, consumer("libsframe-2.44"));
    assert_eq!((found.verdict, found.functions.found), (Verdict::Part, 1));
    assert_eq!((found.bytes.same, found.bytes.none, found.bytes.other), (5 + 23, 75, 0));
    // After the section, at a multiple of the block's size, all is right.
    bytes[28..32].copy_from_slice(&4304i32.to_le_bytes());
    bytes[48..52].copy_from_slice(&4384i32.to_le_bytes());
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    assert_eq!(assess(&input, consumer("libsframe-2.44")).verdict, Verdict::Accept);
    // Four bytes later, the rows change four bytes too early: in each entry, bytes 7 to 10 and 12 to 15 have the other one.
    bytes[28..32].copy_from_slice(&4308i32.to_le_bytes());
    bytes[48..52].copy_from_slice(&4388i32.to_le_bytes());
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    let found = assess(&input, consumer("libsframe-2.44"));
    assert_eq!(found.verdict, Verdict::Misread);
    assert_eq!((found.bytes.same, found.bytes.other, found.bytes.none), (5 * 8 + 23, 5 * 8, 0));
}

/// glibc looks for the table after the header, whatever `fdeoff` says. Here, both tables exist: 50 functions have blocks of 251
/// bytes in one and of 249 in the other. Their rows meet again after 62,499 bytes, so that each function would take as many
/// lookups.
#[test]
fn blocks_of_two_sizes_are_undecided_beyond_a_limit() {
    let functions: Vec<Function<'_>> =
        (0..50).map(|index| (0x1000 + index * 100_000, 100_000, 0x10, &PROLOGUE[..1])).collect();
    let mut bytes = version_2(&functions);
    let (count, table) = (50, 50 * 20);
    let mut second = bytes[28..].to_vec();
    for index in 0..count {
        bytes[28 + index * 20 + 17] = 251;
        second[index * 20 + 17] = 249;
    }
    let offset = u32::try_from(bytes.len() - 28).expect("small");
    bytes[20..24].copy_from_slice(&offset.to_le_bytes());
    bytes[24..28].copy_from_slice(&(offset + table).to_le_bytes());
    bytes.extend(second);
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    let found = assess(&input, consumer("glibc-2.43"));
    assert_eq!(found.verdict, Verdict::Undecided);
    assert_eq!(found.reason.as_deref(), Some("too many blocks repeat to compare them all"));
    assert_eq!(found.bytes.same + found.bytes.undecided, 50 * 100_000);
}

/// The rows of the first function are outside the section. What a consumer does with it is no row of the specification's.
#[test]
fn what_the_specification_cannot_read_is_never_accepted() {
    let mut bytes = version_2(&[(0x1000, 0x20, 0, &PROLOGUE), (0x1040, 0x10, 0, &PROLOGUE[..1])]);
    bytes[28 + 9] = 4;
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    // glibc reads memory after the section, which decides.
    let glibc = assess(&input, consumer("glibc-2.43"));
    assert_eq!((glibc.verdict, glibc.functions.undecided), (Verdict::Undecided, 1));
    assert_eq!((glibc.bytes.same, glibc.bytes.undecided), (0x10, 0x20));
    // llvm-readobj reports the function, and goes on.
    let llvm = assess(&input, consumer("llvm-23"));
    assert_eq!((llvm.verdict, llvm.functions.lost), (Verdict::Reject, 1));
    assert_eq!((llvm.bytes.same, llvm.bytes.none), (0x10, 0x20));
    // Linux drops the section, and the profiler leaves the function out.
    let linux = assess(&input, consumer("linux-user-v2"));
    assert_eq!((linux.verdict, linux.functions.drop_section), (Verdict::Part, 1));
    for consumer in profiles() {
        assert_ne!(assess(&input, *consumer).verdict, Verdict::Accept);
    }
}

/// An empty function has no PC, but llvm-readobj lists it, and reports its rows.
#[test]
fn an_empty_function_that_cannot_be_read_is_not_accepted() {
    let rows: [&[u8]; 1] = [&[0, 0x63, 8]];
    let bytes = version_2(&[(0x1000, 0, 0, &rows), (0x1040, 0x10, 0, &PROLOGUE[..1])]);
    let found = assess(&Input::new(&bytes, ADDRESS, Abi::Amd64), consumer("llvm-23"));
    assert_eq!((found.verdict, found.bytes.same), (Verdict::Undecided, 0x10));
    let reason = found.reason.expect("a reason");
    assert!(reason.starts_with("the specification cannot read function 0: "), "{reason}");
}

/// With an auxiliary header that is longer than the section, the table is outside. glibc reads there.
#[test]
fn a_table_outside_the_section_is_not_accepted() {
    let mut bytes = version_2(&[(0x1000, 0x20, 0, &PROLOGUE)]);
    bytes[7] = 0xff;
    let input = Input::new(&bytes, ADDRESS, Abi::Amd64);
    let verdict = |name| assess(&input, consumer(name)).verdict;
    assert_eq!(verdict("glibc-2.43"), Verdict::Undecided);
    assert_eq!(verdict("llvm-23"), Verdict::Reject);
    for consumer in profiles() {
        assert_ne!(assess(&input, *consumer).verdict, Verdict::Accept);
    }
}

#[test]
fn consumers_are_named_by_patterns() {
    let names = |list: &str| {
        let found = select(list).map_err(|UnknownConsumer(name)| name)?;
        Ok::<_, String>(found.iter().map(|found| found.page().name).collect::<Vec<_>>())
    };
    assert_eq!(names("java-profiler, glibc-2.43"), Ok(vec!["glibc-2.43", "java-profiler"]));
    assert_eq!(names("linux-user-*"), Ok(vec!["linux-user-v2", "linux-user-v3"]));
    assert_eq!(names("*44"), Ok(vec!["libsframe-2.44"]));
    assert_eq!(names("all").map(|all| all.len()), Ok(profiles().len()));
    // Other releases have the reader of a profile, and no pattern stands for them.
    assert_eq!(names("glibc-2.44,llvm-24"), Ok(vec!["glibc-2.43", "llvm-23"]));
    assert_eq!(names("libsframe-2.42, libsframe-2.44"), Ok(vec!["libsframe-2.44"]));
    assert_eq!(names("llvm-2*"), Ok(vec!["llvm-23"]));
    let others = other_releases("llvm-24, glibc-2.43,glibc-2.44");
    let others: Vec<_> = others.into_iter().map(|(asked, page)| (asked, page.name)).collect();
    assert_eq!(others, [("llvm-24", "llvm-23"), ("glibc-2.44", "glibc-2.43")]);
    assert_eq!(names("glibc"), Err("glibc".to_owned()));
    let message = |list: &str| select(list).expect_err("unknown").to_string();
    assert!(message("glibc").starts_with("glibc: no such consumer; known are all, glibc-2.43, "));
    let others = "with the reader of one of these: glibc-2.44, ";
    assert!(message("glibc").contains(others));
    let missing = "the name of a consumer is missing; known are all, glibc-2.43, ";
    assert!(message("").starts_with(missing) && message("mold-3,").starts_with(missing));
}

#[test]
fn every_page_is_complete() {
    for consumer in profiles() {
        let (page, text) = (consumer.page(), describe(*consumer));
        assert!(text.starts_with(&format!("# {}: {}\n", page.name, page.title)));
        assert!(page.statements.len() > 4 && !page.faults.is_empty() && !page.producers.is_empty());
        let sentences = page.statements.iter().map(|rule| rule.text);
        for sentence in sentences.chain(page.faults.iter().map(|fault| fault.text)) {
            assert!(!sentence.ends_with('.') && !sentence.contains('\n'), "{sentence}");
        }
    }
}
