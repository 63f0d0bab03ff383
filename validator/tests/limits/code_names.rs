//! The names of places in code, also after symbols without a size. The host (`host.rs`) has code at 0x200..0x240 and
//! data after it.

use sframe_validator::elf::{CodeNames, Elf, SymbolTable};
use sframe_validator::unwind::CodeAddress;
use sframe_validator::write::elf::Symbol;

use crate::host::{Host, TEXT, TEXT_SIZE, linked, object};
use crate::sound::{AMD64, V3, bytes, first, of, second};

/// The types of symbols.
const NOTYPE: u8 = 0;
const OBJECT: u8 = 1;
const FUNC: u8 = 2;
const SECTION: u8 = 3;
const FILE: u8 = 4;
/// The bit of `st_info` that makes a symbol global.
const GLOBAL: u8 = 0x10;
const SHN_ABS: u16 = 0xfff1;
const SHT_DYNSYM: u32 = 11;

const fn symbol(name: &'static str, info: u8, value: u64, size: u64) -> Symbol<'static> {
    Symbol { name, info, section: 1, value, size }
}

fn shared(symbols: Vec<Symbol<'static>>) -> Host {
    let mut host = linked(bytes(&of(V3, AMD64, [first(AMD64, TEXT), second(AMD64, TEXT + 16)])));
    host.symbols = symbols;
    // Local symbols come first.
    host.symbols.sort_by_key(|symbol| symbol.info & GLOBAL);
    host
}

/// The names of the places, with the offsets from them.
fn names(file: &[u8], section: u32, places: &[u64]) -> Vec<String> {
    let elf = Elf::parse(file).expect("readable");
    let names = CodeNames::load(&elf).expect("readable");
    let name = |&address: &u64| {
        let found = names.find(CodeAddress { section, address });
        found.map_or_else(String::new, |it| format!("{}+{}", it.name, address - it.start.address))
    };
    places.iter().map(name).collect()
}

#[test]
fn a_symbol_without_a_size_reaches_up_to_the_next_one() {
    let file = shared(vec![
        symbol("_start", GLOBAL | NOTYPE, 0x204, 0),
        symbol("function", FUNC, 0x20c, 0),
        symbol("sized", FUNC, 0x210, 8),
        symbol("inside", NOTYPE, 0x214, 0),
        symbol("untyped", NOTYPE, 0x220, 4),
        symbol("$d", NOTYPE, 0x22a, 0),
        symbol("$x.1", NOTYPE, 0x22b, 0),
        symbol(".L1", NOTYPE, 0x22c, 0),
        symbol("code.c", FILE, 0x22c, 0),
        symbol("", SECTION, 0x22c, 0),
        symbol("", NOTYPE, 0x22c, 0),
        symbol("after", NOTYPE, 0x228, 0),
        symbol("data", OBJECT, 0x230, 0),
        symbol("last", NOTYPE, 0x238, 0),
        symbol("end", NOTYPE, 0x240, 0),
        Symbol { section: SHN_ABS, ..symbol("absolute", NOTYPE, 0x23a, 0) },
        Symbol { section: 0, ..symbol("undefined", NOTYPE, 0x23a, 0) },
        Symbol { section: 3, ..symbol("elsewhere", NOTYPE, 0x23a, 0) },
    ])
    .bytes();
    for (place, name) in [
        // Before all symbols.
        (0x203, ""),
        (0x204, "_start+0"),
        (0x20b, "_start+7"),
        (0x20c, "function+0"),
        (0x20f, "function+3"),
        (0x210, "sized+0"),
        // A label inside a function names nothing, and does not reach beyond it.
        (0x214, "sized+4"),
        (0x217, "sized+7"),
        (0x218, ""),
        (0x21f, ""),
        (0x223, "untyped+3"),
        (0x224, ""),
        // Only the names of code are names of places.
        (0x22f, "after+7"),
        (0x230, ""),
        (0x237, ""),
        // It reaches up to the end of the section.
        (0x23f, "last+7"),
        (0x240, ""),
        (0x241, ""),
    ] {
        assert_eq!(names(&file, 0, &[place]), [name], "{place:#x}");
    }
    assert_eq!(names(&file, 1, &[0x204]), [""]);
}

/// In a stripped file, functions that follow may not be listed.
#[test]
fn exported_symbols_do_not_reach_beyond_their_size() {
    let symbols =
        || vec![symbol("f", GLOBAL | FUNC, 0x204, 0), symbol("g", GLOBAL | FUNC, 0x210, 4)];
    let places = [0x204, 0x205, 0x210, 0x213, 0x214];
    let mut file = shared(symbols()).bytes();
    assert_eq!(names(&file, 0, &places), ["f+0", "f+1", "g+0", "g+3", ""]);
    let elf = Elf::parse(&file).expect("readable");
    let table = elf.sections().iter().find(|section| section.sh_type == 2).expect("a table");
    let headers = u64::from_le_bytes(file[0x28..0x30].try_into().expect("8 bytes"));
    let sh_type = usize::try_from(headers).expect("small") + table.index as usize * 64 + 4;
    file[sh_type..sh_type + 4].copy_from_slice(&SHT_DYNSYM.to_le_bytes());
    assert_eq!(names(&file, 0, &places), ["f+0", "", "g+0", "g+3", ""]);
}

/// Sections of an object have the same addresses.
#[test]
fn names_in_objects_are_those_of_the_section() {
    let mut builder = of(V3, AMD64, [first(AMD64, 0), second(AMD64, 16)]);
    let built = builder.relocatable().build().expect("it fits");
    let mut host = object(built.bytes, &[], &[], 2);
    let mut other = host.sections[0].clone();
    other.name = ".text.other";
    host.sections.push(other);
    host.symbols =
        vec![symbol("f", NOTYPE, 4, 0), Symbol { section: 4, ..symbol("g", NOTYPE, 8, 0) }];
    let file = host.bytes();
    assert_eq!(names(&file, 1, &[3, 4, 0x3f, 0x40]), ["", "f+0", "f+59", ""]);
    assert_eq!(names(&file, 4, &[3, 4, 7, 8, 0x3f, 0x40]), ["", "", "", "g+0", "g+55", ""]);
    assert_eq!(names(&file, 2, &[4]), [""]);
}

/// The expected name, found by looking at each symbol.
fn expected<'s>(symbols: &'s [Symbol<'static>], place: u64) -> Option<&'s Symbol<'static>> {
    let end = |symbol: &Symbol<'_>| symbol.value + symbol.size;
    let covers = |symbol: &&Symbol<'_>, place| symbol.value <= place && place < end(symbol);
    let rank = |symbol: &&Symbol<'_>| {
        let kind = symbol.info & 0xf;
        (symbol.value, kind != NOTYPE, symbol.info & GLOBAL, symbol.size)
    };
    let is_code = |symbol: &&Symbol<'_>| symbol.info & 0xf != OBJECT;
    // Of equal ones, `max_by_key` takes the last.
    let all = || symbols.iter().rev();
    if let Some(sized) = all().filter(|symbol| covers(symbol, place)).max_by_key(rank) {
        return Some(sized).filter(is_code);
    }
    let is_alone = |symbol: &&Symbol<'_>| !all().any(|other| covers(&other, symbol.value));
    let unsized_ones = all().filter(|it| it.size == 0 && it.value <= place).filter(is_alone);
    let nearest = unsized_ones.max_by_key(|it| (it.value, is_code(it), rank(it)))?;
    let ends = all().filter(|it| it.size > 0).map(end).filter(|&end| end <= place);
    let is_hidden = ends.max().is_some_and(|end| nearest.value < end);
    Some(nearest).filter(|_| !is_hidden && place < TEXT + TEXT_SIZE).filter(is_code)
}

/// Symbols that overlap in all ways.
#[test]
fn names_are_those_of_a_search_through_all_symbols() {
    const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut state: u64 = 1;
    let mut random = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut unsized_names = 0;
    for round in 0..2_000 {
        let count = 1 + usize::try_from(random(8)).expect("small");
        let symbols = NAMES[..count].iter().map(|name| {
            let kind = [NOTYPE, NOTYPE, OBJECT, FUNC][usize::try_from(random(4)).expect("small")];
            let info = kind | if random(2) == 0 { GLOBAL } else { 0 };
            let size = if random(2) == 0 { 0 } else { random(24) };
            symbol(name, info, TEXT + random(TEXT_SIZE), size)
        });
        let host = shared(symbols.collect());
        let file = host.bytes();
        let elf = Elf::parse(&file).expect("readable");
        let functions = SymbolTable::load(&elf).expect("readable");
        let names = CodeNames::load(&elf).expect("readable");
        for address in TEXT - 2..TEXT + TEXT_SIZE {
            let place = CodeAddress::absolute(address);
            let found = names.find(place).map(|symbol| symbol.name.to_string());
            if let Some(function) = functions.find(place) {
                assert_eq!(found, Some(function.name.to_string()), "{round} {address:#x}");
                continue;
            }
            let expected = expected(&host.symbols, address);
            unsized_names += usize::from(expected.is_some_and(|symbol| symbol.size == 0));
            let expected = expected.map(|symbol| symbol.name.to_owned());
            assert_eq!(found, expected, "{round} {address:#x}: {:?}", host.symbols);
        }
    }
    assert!(unsized_names > 1_000, "{unsized_names}");
}
