//! Tests that compare SFrame with SFrame on real pairs: the same source, assembled by several versions of an assembler.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

use sframe_corpus::tools;
use sframe_oracle::compare::Fields;
use sframe_oracle::diff::{Change, Matching, Set, Source, Totals, diff};
use sframe_validator::elf::{Elf, ElfKind, RelocationTable, SymbolTable};
use sframe_validator::{Placement, Section};

/// A range that differs: symbol, start, end, and kind of change.
type Found = (String, u64, u64, Change);

fn with_set(path: &str, use_set: &mut dyn FnMut(&Set<'_>)) {
    with_set_of(&sframe_corpus::read(&format!("golden/{path}")), use_set);
}

fn with_set_of(data: &[u8], use_set: &mut dyn FnMut(&Set<'_>)) {
    let elf = Elf::parse(data).expect("ELF");
    let symbols = SymbolTable::load(&elf).expect("symbols");
    let headers: Vec<_> = elf.sframe_sections().copied().collect();
    let starts: Vec<_> = headers
        .iter()
        .map(|header| RelocationTable::load(&elf, header.index).expect("readable").starts())
        .collect();
    let sections: Vec<Section<'_>> = headers
        .iter()
        .zip(&starts)
        .map(|(header, starts)| {
            let placement = match elf.kind() {
                ElfKind::Relocatable => Placement::relocated(starts),
                _ => Placement::at(header.address),
            };
            Section::parse(elf.section_data(header).expect("bytes"), placement).expect("sound")
        })
        .collect();
    use_set(&Set { source: Source::Sframe(&sections), elf: &elf, symbols: &symbols });
}

fn compared(first: &str, second: &str, matching: Matching) -> (Vec<Found>, Totals) {
    let mut found = Vec::new();
    let mut totals = Totals::default();
    with_set(first, &mut |first| {
        with_set(second, &mut |second| {
            totals = diff(first, second, matching, |range| {
                let name = range.name.to_string();
                found.push((name, range.start, range.end, range.change));
            });
        });
    });
    (found, totals)
}

fn by_symbol(first: &str, second: &str) -> (Vec<Found>, Totals) {
    compared(first, second, Matching::Symbol)
}

fn range(name: &str, start: u64, end: u64, change: Change) -> Found {
    (name.to_owned(), start, end, change)
}

const CFA_AND_FP: Change = Change::Different(Fields::CFA.with(Fields::FP));

/// The rows are those that objdump prints for both files (`cfi.o.objdump` in the folders):
///
/// | `remembers` | 2.44 | 2.47.50 |
/// |---|---|---|
/// | 3 | sp+8, u | sp+16, c-16 |
/// | 6 | fp+8, u | fp+16, c-16 |
/// | 8 | sp+8, u | fp+16, c-16 |
///
/// 2.44 has eight functions. 2.47.50 has three more, one of them without rows (an outermost frame). Version 3 has a
/// rule for RA in `return_in_register` from 2 to 4 (r11), and in `return_elsewhere` from 1 on (c-16).
#[test]
fn two_assemblers_of_one_source() {
    let (found, totals) = by_symbol("2.44/x86_64/cfi.o", "2.47.50/x86_64/cfi.o");
    let ra = Change::Different(Fields::RA);
    assert_eq!(
        found,
        [
            range("remembers", 3, 6, CFA_AND_FP),
            range("remembers", 6, 7, CFA_AND_FP),
            range("remembers", 8, 10, CFA_AND_FP),
            range("return_in_register", 2, 4, ra),
            range("return_elsewhere", 1, 3, ra),
            range("other_base", 0, 23, Change::OnlySecond),
            range("frame_pointer_in_register", 0, 9, Change::OnlySecond),
            range("simple_without_rules", 0, 2, Change::OnlySecond),
        ]
    );
    assert_eq!((totals.matched, totals.functions_only_second), (8, 3));
    assert_eq!((totals.different, totals.only_second, totals.equal), (10, 34, 35));
    assert_eq!((totals.only_first, totals.functions_only_first, totals.undecided), (0, 0, 0));
}

/// With the files exchanged, the same ranges change, and the sides are exchanged.
#[test]
fn exchanging_the_files_exchanges_the_sides() {
    let (mut there, totals) = by_symbol("2.44/x86_64/cfi.o", "2.47.50/x86_64/cfi.o");
    let (mut back, exchanged) = by_symbol("2.47.50/x86_64/cfi.o", "2.44/x86_64/cfi.o");
    for (_, _, _, change) in &mut back {
        *change = match *change {
            Change::OnlyFirst => Change::OnlySecond,
            Change::OnlySecond => Change::OnlyFirst,
            other => other,
        };
    }
    there.sort_by_key(|found| (found.0.clone(), found.1));
    back.sort_by_key(|found| (found.0.clone(), found.1));
    assert_eq!(there, back);
    assert_eq!(totals.only_second, exchanged.only_first);
    assert_eq!(totals.functions_only_second, exchanged.functions_only_first);
    assert_eq!(totals.different, exchanged.different);
}

/// A property that version 2 cannot express is not a difference: the source has `.cfi_undefined rip` in the two
/// functions, and `.cfi_signal_frame` in `restorer`.
#[test]
fn properties_that_the_older_version_cannot_express_are_limits() {
    let (found, totals) = by_symbol("2.44/x86_64/outermost.o", "2.47.50/x86_64/outermost.o");
    let undefined = Change::Limited(Fields::UNDEFINED_RA);
    let wanted =
        [range("thread_start", 0, 8, undefined), range("becomes_outermost", 1, 7, undefined)];
    assert_eq!(found, wanted);
    assert_eq!((totals.limited, totals.different), (14, 0));
    let (found, _) = by_symbol("2.44/aarch64/signal.o", "2.47.50/aarch64/signal.o");
    // The entry without rows in 2.47.50 is an outermost frame (V3 1.2). 2.44 writes no entry.
    let marked = range("restorer_by_expression", 0, 8, Change::OnlySecond);
    assert_eq!(found, [range("restorer", 0, 8, Change::Limited(Fields::SIGNAL)), marked]);
}

/// For these, objdump prints the same rows.
#[test]
fn versions_and_producers_agree_on_what_compilers_write() {
    for (first, second) in [
        ("2.40/x86_64/calls.o", "2.47.50/x86_64/calls.o"),
        ("2.44/x86_64/calls.o", "llvm-23/x86_64/calls.o"),
        ("2.40/aarch64/frame-pointer.o", "2.47.50/aarch64/frame-pointer.o"),
    ] {
        let (found, totals) = by_symbol(first, second);
        assert_eq!(found, [], "{first} {second}");
        assert!(totals.equal > 100 && totals.matched > 1);
    }
}

#[test]
fn a_file_equals_itself_by_address() {
    for path in ["2.47.50/x86_64/shared.so", "2.44/aarch64/plt.so", "2.47.50/s390x/static.exe"] {
        let (found, totals) = compared(path, path, Matching::Address);
        assert_eq!(found, [], "{path}");
        assert!(totals.equal > 0 && totals.matched > 0);
    }
    // In relocatable objects, functions are addressed relative to their own section.
    let (path, other) = ("2.47.50/x86_64/sections.o", "2.44/x86_64/sections.o");
    let (found, totals) = compared(path, other, Matching::Address);
    assert_eq!(found, []);
    assert_eq!(totals.equal, described(path));
}

/// The number of bytes of a file's functions, which must not overlap.
fn described(path: &str) -> u64 {
    let mut bytes = 0;
    with_set(path, &mut |set| {
        let Source::Sframe(sections) = set.source else { return };
        let entries = sections.iter().flat_map(Section::entries);
        bytes = entries.map(|entry| u64::from(entry.size())).sum();
    });
    assert!(bytes > 0);
    bytes
}

/// `readelf -sW` lists no symbol for the stubs of `.plt`, `.plt.got` and `.plt.sec`. They are matched by section, in
/// files whose symbols have other addresses.
#[test]
fn stubs_are_matched_by_their_section() {
    let path = "2.47.50/x86_64/plt-ibt.so";
    let (_, by_address) = compared(path, path, Matching::Address);
    let (found, totals) = by_symbol(path, path);
    assert_eq!((found, totals.unnamed_first), (vec![], 0));
    assert_eq!(totals.matched, by_address.matched);
    let (found, totals) = by_symbol("2.40/x86_64/plt-ibt.so", path);
    // objdump: .plt.sec is at 0x3f0 and 0x3c0. 2.40 prints sp+16, and sp+24 from 6 on, for its first entry. For the
    // others it prints sp+8, which 2.47.50 prints for all. Version 1 does not record the size of blocks, which does not
    // matter if there is only one row.
    let cfa = Change::Different(Fields::CFA);
    let entries: Vec<_> = found.iter().filter(|(name, ..)| name == ".plt.sec").collect();
    assert_eq!(entries, [&range(".plt.sec", 0, 6, cfa), &range(".plt.sec", 6, 16, cfa)]);
    assert!(found.contains(&range(".plt.got", 0, 16, Change::OnlySecond)));
    assert_eq!(totals.unnamed_second, 0);
}

/// A stripped library has few names. Functions are not matched by their order.
#[test]
fn functions_without_a_name_are_not_compared_by_symbol() {
    let path = "2.47.50/x86_64/stripped.so";
    let (_, by_address) = compared(path, path, Matching::Address);
    let (found, totals) = by_symbol(path, path);
    assert_eq!(found, []);
    assert!(totals.unnamed_first > 0);
    assert_eq!(totals.unnamed_first, totals.unnamed_second);
    assert_eq!(totals.matched + totals.unnamed_first, by_address.matched);
}

/// The relocation of the first function's start is moved by 4 bytes in one file, and those of the first two in the
/// other, so that these starts cannot be read.
#[test]
fn functions_with_unknown_starts_are_counted() {
    let path = "2.47.50/x86_64/calls.o";
    let moved = |count: usize| {
        let mut data = sframe_corpus::read(&format!("golden/{path}"));
        let elf = Elf::parse(&data).expect("ELF");
        let table = elf.sections().iter().find(|section| section.name == b".rela.sframe");
        let start = usize::try_from(table.expect("one").offset).expect("in memory");
        for index in 0..count {
            data[start + 24 * index] += 4;
        }
        data
    };
    let (one, two) = (moved(1), moved(2));
    let mut totals = Vec::new();
    with_set_of(&one, &mut |first| {
        with_set_of(&two, &mut |second| {
            for matching in [Matching::Address, Matching::Symbol] {
                totals.push(diff(first, second, matching, |_| {}));
            }
        });
    });
    let (_, whole) = by_symbol(path, path);
    for totals in totals {
        assert_eq!(totals.unplaced, 3);
        assert_eq!((totals.functions_only_first, totals.functions_only_second), (1, 0));
        assert_eq!(totals.matched, whole.matched - 2);
    }
}

/// An object of functions, each with its names, how many bytes it has, and whether the names are global.
fn functions(name: &str, functions: &[(&str, usize, bool)]) -> Option<Vec<u8>> {
    let bin = tools::toolchain("2.44")?;
    let mut source = ".cfi_sections .eh_frame, .sframe\n.text\n".to_owned();
    for (number, (names, size, is_global)) in functions.iter().enumerate() {
        for name in names.split(' ') {
            let global = if *is_global { format!(".globl {name}\n") } else { String::new() };
            source += &format!("{global}.type {name}, @function\n.set {name}, .L{number}\n");
        }
        let nops = "nop\n".repeat(size - 1);
        source += &format!(".L{number}: .cfi_startproc\n{nops}ret\n.cfi_endproc\n");
    }
    let folder = sframe_corpus::empty_folder(env!("CARGO_TARGET_TMPDIR"), name);
    let assembler = bin.join("x86_64-linux-gnu-as");
    let assembled = tools::assemble(&assembler, &["--gsframe"], &folder, &source);
    Some(assembled.expect("assembled").0)
}

/// A range that differs: the name of the function, the start and the end, and the sizes of the function in both files.
type NamedRange = (String, u64, u64, [u64; 2]);

/// The ranges that differ with the sizes of both functions, and the numbers of functions in both and in only one file.
fn named(old: &[u8], new: &[u8]) -> (Vec<NamedRange>, [u64; 3]) {
    let (mut found, mut totals) = (Vec::new(), Totals::default());
    with_set_of(old, &mut |first| {
        with_set_of(new, &mut |second| {
            totals = diff(first, second, Matching::Symbol, |range| {
                let sizes = range.functions.map(|function| function.map_or(0, |it| it.size));
                found.push((range.name.to_string(), range.start, range.end, sizes));
            });
        });
    });
    (found, [totals.matched, totals.functions_only_first, totals.functions_only_second])
}

/// A C++ destructor has several names, of which either file may list another one first. A function that has grown is the same one,
/// and so is one that has got a further name.
#[test]
fn functions_are_matched_by_any_of_their_names() {
    let old = functions("names-a", &[("d1 d2", 2, true), ("g", 3, true), ("gone", 2, true)]);
    let new = functions("names-b", &[("d2 d3", 2, true), ("g h", 6, true), ("added", 2, true)]);
    let (Some(old), Some(new)) = (old, new) else { return };
    let (found, counts) = named(&old, &new);
    let one = |name: &str, start, end, sizes| (name.to_owned(), start, end, sizes);
    let wanted = [one("g", 3, 6, [3, 6]), one("gone", 0, 2, [2, 0]), one("added", 0, 2, [0, 2])];
    assert_eq!((found, counts), (wanted.into(), [2, 1, 1]));
}

/// The old function `a` has only the local name `x` beside it, which `b` has in the new file. `b` is the partner of `b`.
#[test]
fn global_names_count_before_local_ones() {
    let old = functions("local-a", &[("x", 2, false), ("b", 3, true)]);
    let new = functions("local-b", &[("b", 3, true), ("x", 2, false)]);
    let (Some(mut old), Some(mut new)) = (old, new) else { return };
    assert_eq!(named(&old, &new), (Vec::new(), [2, 0, 0]));
    // Two functions of one name, as static functions of two C files have: in the strings, `b` is the only other name.
    for file in [&mut old, &mut new] {
        let place = file.windows(3).position(|bytes| bytes == b"\0x\0").expect("in the strings");
        file[place + 1] = b'b';
    }
    assert_eq!(named(&old, &new), (Vec::new(), [2, 0, 0]));
}
