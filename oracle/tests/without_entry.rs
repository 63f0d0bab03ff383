//! The functions that nothing describes. In the golden files, they are compared with the symbols that the `object` crate
//! reads and the verdict about each of their bytes; files with many symbols are made here.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use common::{ALL, elf_files, golden_files, members, open};
use object::{Object, ObjectSymbol, SymbolKind};
use sframe_corpus::corpus;
use sframe_corpus::time::processor_time;
use sframe_oracle::account::{Account, Options, WithoutEntry, account};
use sframe_oracle::compare::{Verdict, compare};
use sframe_validator::Abi;
use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::write::elf::{ElfWriter, SectionHeader, Symbol};

/// The section, start and end of code.
type Place = (u32, u64, u64);

fn places(found: &WithoutEntry) -> BTreeSet<Place> {
    let place = |code: &sframe_oracle::witness::CodeRange| {
        (code.start.section, code.start.address, code.end)
    };
    found.largest.iter().map(place).collect()
}

/// The function symbols with a size, by section and start: the largest size at each place, and all of them.
fn symbols(data: &[u8], is_object: bool) -> BTreeMap<(u32, u64), BTreeSet<u64>> {
    let file = object::File::parse(data).expect("ELF");
    let mut all: Vec<_> = file.symbols().collect();
    if all.is_empty() {
        all = file.dynamic_symbols().collect();
    }
    let mut found: BTreeMap<(u32, u64), BTreeSet<u64>> = BTreeMap::new();
    for symbol in all {
        let Some(section) = symbol.section_index().filter(|_| symbol.size() > 0) else { continue };
        if symbol.kind() == SymbolKind::Text {
            let section = if is_object { u32::try_from(section.0).expect("small") } else { 0 };
            found.entry((section, symbol.address())).or_default().insert(symbol.size());
        }
    }
    found
}

/// Compares what was found with the symbols all of whose bytes are described by nothing.
fn compare_with_symbols(data: &[u8]) -> u64 {
    open(data, |elf, sections, cfi| {
        let is_object = elf.kind() == ElfKind::Relocatable;
        let mut bare: BTreeSet<(u32, u64)> = BTreeSet::new();
        compare(elf, sections, cfi, |range| {
            if range.verdict == Verdict::Neither && range.sframe.is_none() {
                bare.extend((range.start..range.end).map(|place| (range.section, place)));
            }
        });
        let options = Options { functions_without_entry: usize::MAX, ..ALL };
        let found = account(elf, sections, cfi, &options).without_entry.expect("looked for");
        let all = places(&found);
        assert_eq!(found.functions, all.len() as u64);
        let mut bytes = BTreeSet::new();
        for (section, start, end) in &all {
            assert!(start < end);
            bytes.extend((*start..*end).map(|place| (*section, place)));
        }
        assert_eq!(found.bytes, bytes.len() as u64);
        assert!(bytes.is_subset(&bare));
        let sizes: Vec<_> = found.largest.iter().map(|code| code.bytes()).collect();
        assert!(sizes.is_sorted_by(|a, b| a >= b));
        // Each function symbol is found exactly if nothing describes any of its bytes.
        for ((section, start), sizes) in symbols(data, is_object) {
            let is_bare =
                |size: &u64| (start..start + size).all(|place| bare.contains(&(section, place)));
            let is_found = |size: &u64| all.contains(&(section, start, start + size));
            let (expected, is_found) =
                (sizes.iter().filter(|size| is_bare(size)).count(), sizes.iter().any(is_found));
            assert_eq!(expected > 0, is_found, "{start:#x} {sizes:?}");
        }
        found.functions
    })
}

#[test]
fn golden_files_have_the_functions_whose_symbols_nothing_describes() {
    let mut functions = 0;
    for path in golden_files().into_iter().chain(elf_files(&corpus().join("edges"))) {
        let data = std::fs::read(&path).expect("readable");
        for member in members(&data) {
            functions += std::panic::catch_unwind(|| compare_with_symbols(member))
                .unwrap_or_else(|_| panic!("{}", path.display()));
        }
    }
    // 11 of them are in `edges/without-entry` and `edges/without-entry-aarch64`.
    assert!(functions > 90, "{functions}");
}

#[test]
fn they_are_looked_for_only_on_request() {
    let data = std::fs::read(corpus().join("edges/without-entry/2.44.o")).expect("readable");
    let of = |functions_without_entry| {
        open(&data, |elf, sections, cfi| {
            account(elf, sections, cfi, &Options { functions_without_entry, ..ALL }).without_entry
        })
    };
    assert_eq!(of(0), None);
    // `input.s` has `larger` of 21 bytes, `cleanse` of 17, and `bare` of 6.
    let all = of(10).expect("looked for");
    assert_eq!((all.functions, all.bytes, all.largest.len()), (3, 44, 3));
    let two = of(2).expect("looked for");
    assert_eq!((two.functions, two.bytes), (3, 44));
    assert_eq!(two.largest, all.largest[..2]);
}

const TEXT: u64 = 0x1000;

/// A program without tables, with `size` bytes of code and these symbols: type, address, size.
fn program(size: usize, symbols: &[(u8, u64, u64)]) -> Vec<u8> {
    let mut writer = ElfWriter::new(Abi::Amd64, ElfKind::Executable);
    // xor %eax,%eax
    let code: Vec<u8> = [0x31, 0xc0].into_iter().cycle().take(size).collect();
    let header = SectionHeader {
        sh_type: 1,
        flags: 6,
        address: TEXT,
        alignment: 16,
        ..SectionHeader::default()
    };
    let section = writer.section_of(".text", &code, header);
    let section = u16::try_from(section).expect("small");
    let symbol = |(info, value, size): &(u8, u64, u64)| Symbol {
        name: "f",
        info: *info,
        section,
        value: *value,
        size: *size,
    };
    let symbols: Vec<_> = symbols.iter().map(symbol).collect();
    writer.symbols(&symbols).expect("they fit");
    writer.finish().expect("it fits")
}

fn found(file: &[u8], most: usize) -> WithoutEntry {
    let elf = Elf::parse(file).expect("ELF");
    let options = Options { functions_without_entry: most, ..Options::default() };
    let Account { without_entry, .. } = account(&elf, &[], &[], &options);
    without_entry.expect("looked for")
}

/// Sizes that lead out of the section, that wrap, and symbols outside of code.
#[test]
fn sizes_are_limited_by_the_section() {
    const FUNC: u8 = 2;
    let file = program(
        0x40,
        &[
            (FUNC, TEXT, 0x20),
            (FUNC, TEXT + 0x20, 0x1000),
            (FUNC, TEXT + 0x30, u64::MAX),
            (FUNC, TEXT + 0x40, 8),
            (FUNC, TEXT - 8, 0x10),
            (FUNC, u64::MAX, u64::MAX),
            (FUNC, 0, 8),
        ],
    );
    let found = found(&file, 10);
    let expected =
        [(0, TEXT, TEXT + 0x20), (0, TEXT + 0x20, TEXT + 0x40), (0, TEXT + 0x30, TEXT + 0x40)];
    assert_eq!(places(&found), BTreeSet::from(expected));
    // The last one is inside the second.
    assert_eq!((found.functions, found.bytes), (3, 0x40));
}

/// The time and the list are bounded, whatever the symbols.
#[test]
fn many_symbols_take_linear_time() {
    const COUNT: u64 = 500_000;
    let overlapping: Vec<_> = (0..COUNT).map(|n| (2, TEXT + n, COUNT)).collect();
    let labels: Vec<_> = (0..COUNT).map(|n| (0, TEXT + 2 * n, 0)).collect();
    let size = usize::try_from(2 * COUNT).expect("small");
    for (symbols, bytes, longest) in [(overlapping, 2 * COUNT - 1, COUNT), (labels, 2 * COUNT, 2)] {
        let file = program(size, &symbols);
        let start = processor_time();
        let found = found(&file, 100);
        let took = processor_time() - start;
        assert!(took < Duration::from_secs(20), "{took:?}");
        assert_eq!((found.functions, found.bytes), (COUNT, bytes));
        assert_eq!(found.largest.len(), 100);
        assert!(found.largest.iter().all(|code| code.bytes() == longest));
        // Of functions of one size, the first ones are kept.
        assert_eq!(found.largest[0].start.address, TEXT);
        assert!(found.largest.is_sorted_by_key(|code| code.start));
    }
}
