//! Tests on the golden corpus: the output of real assemblers and linkers, compared with what other readers print.
//!
//! Each golden file has the output of GNU objdump of the matching version next to it. Every row that the reader decodes
//! must be the one that objdump printed. The files were made from valid input, so no error-level rule may report
//! anything except the producers' own defects. Each of these is listed here, and described in `corpus/NOTES.md`.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

use std::collections::BTreeSet;
use std::path::PathBuf;

use sframe_validator::check::{Checker, Options};
use sframe_validator::elf::{Elf, ElfKind, SymbolTable};
use sframe_validator::finding::{Keep, Report};
use sframe_validator::rules::Severity;
use sframe_validator::section::{Function, PlainRows, RowLayout, Starts};
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};
use sframe_validator::write::elf::claims;
use sframe_validator::write::{FunctionBuilder, SectionBuilder};
use sframe_validator::{Abi, Placement, Section};

fn golden() -> PathBuf {
    sframe_corpus::corpus().join("golden")
}

/// The golden files, by path in the corpus, without expected output, manifests and archives.
fn files() -> Vec<String> {
    let files = sframe_corpus::golden(&["exe", "o", "so"]);
    assert!(files.len() > 200, "only {} golden files", files.len());
    let name = |path: &PathBuf| {
        let below = path.strip_prefix(golden()).expect("below the corpus");
        below.to_str().expect("ASCII").to_owned()
    };
    files.iter().map(name).collect()
}

/// A function as objdump printed it.
struct Printed {
    pc: u64,
    size: u32,
    flexible: bool,
    rows: Vec<(u64, Vec<String>)>,
}

/// Reads objdump's output. If the column of the CFA is too narrow, no space separates it from the next one.
fn read_objdump(text: &str) -> Vec<Printed> {
    let mut functions: Vec<Printed> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(head) = line.strip_prefix("func idx [") {
            let field = |name: &str| {
                let rest = &head[head.find(name).expect(name) + name.len()..];
                rest.split([',', ' ']).next().expect("a value").to_owned()
            };
            let pc = u64::from_str_radix(field("pc = 0x").as_str(), 16).expect("hexadecimal");
            let size = field("size = ").parse().expect("decimal");
            let flexible = head.contains("attr = \"") && head.contains('F');
            functions.push(Printed { pc, size, flexible, rows: Vec::new() });
        } else if let Some((start, rest)) = line.split_once(' ')
            && start.len() == 16
            && let Ok(start) = u64::from_str_radix(start, 16)
        {
            let columns = separate(rest).split_whitespace().map(str::to_owned).collect();
            functions.last_mut().expect("a function").rows.push((start, columns));
        }
    }
    functions
}

/// `sp+131080c-16` as `sp+131080 c-16`.
fn separate(columns: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in columns.chars() {
        if matches!(c, 'c' | 'u' | 'f') && before.is_ascii_digit() {
            out.push(' ');
        }
        out.push(c);
        before = c;
    }
    out
}

/// `sp+8`, `fp-16`, `r10+0`; GNU prints a negative offset from SP as `sp+-8`.
fn register_offset(abi: Abi, text: &str) -> (Register, i64) {
    let split = text.find(['+', '-']).expect("an offset");
    let register = match &text[..split] {
        "sp" => abi.sp(),
        "fp" => abi.fp(),
        other => Register(other.strip_prefix('r').and_then(|n| n.parse().ok()).expect("register")),
    };
    (register, text[split..].trim_start_matches('+').parse().expect("offset"))
}

fn recovery(abi: Abi, text: &str) -> Recovery {
    if text == "u" {
        return Recovery::Unchanged;
    }
    if let Some(offset) = text.strip_prefix('c') {
        return Recovery::AtCfa(offset.parse().expect("offset"));
    }
    if let Some(inner) = text.strip_prefix('(') {
        let (register, offset) = register_offset(abi, inner.trim_end_matches(')'));
        return Recovery::AtRegister { register, offset };
    }
    let (register, offset) = register_offset(abi, text);
    Recovery::RegisterOffset { register, offset }
}

/// The frame in the columns CFA, FP and RA.
fn frame(abi: Abi, columns: &[String]) -> Frame {
    let [cfa, fp, ra] = columns else {
        assert_eq!(columns, ["RA", "undefined"]);
        return Frame::OUTERMOST;
    };
    let cfa = match cfa.strip_prefix('(') {
        Some(inner) => {
            let (register, offset) = register_offset(abi, inner.trim_end_matches(')'));
            Cfa::Dereference { register, offset }
        }
        None => {
            let (register, offset) = register_offset(abi, cfa);
            Cfa::RegisterOffset { register, offset }
        }
    };
    let unruled = match abi.fixed_ra_offset() {
        0 => Recovery::Unchanged,
        fixed => Recovery::AtCfa(i64::from(fixed)),
    };
    let signed = ra.ends_with("[s]");
    let ra = match ra.trim_end_matches("[s]") {
        // "f" means fixed; objdump 2.40 does not know it. "U" means that RA's pair in a flexible row is padding.
        "f" | "U" | "u" => unruled,
        other => recovery(abi, other),
    };
    Frame { cfa, ra, fp: recovery(abi, fp), ra_signed: signed }
}

/// Compares a function with objdump's output. In objects, objdump's addresses are wrong, so only offsets are compared.
fn compare(name: &str, function: &Function<'_>, printed: &Printed, linked: bool) {
    let abi = function.section().abi().expect("known ABI");
    assert_eq!(function.size(), printed.size, "{name}");
    assert_eq!(function.is_flexible(), printed.flexible, "{name} at {:#x}", printed.pc);
    if linked {
        assert_eq!(function.start().expect("linked").address, printed.pc, "{name}");
    }
    let layout = RowLayout::of(function).expect("known types");
    let rows: Vec<_> = function
        .frame_row_entries()
        .expect("known FRE type")
        .map(|row| row.expect("readable"))
        .collect();
    assert_eq!(rows.len(), printed.rows.len(), "{name} at {:#x}", printed.pc);
    for (row, (start, columns)) in rows.iter().zip(&printed.rows) {
        // Rows that repeat are printed with their offset in the block.
        let base = if function.attributes().info.is_pc_mask() { 0 } else { printed.pc };
        assert_eq!(u64::from(row.start), start.wrapping_sub(base), "{name} at {:#x}", printed.pc);
        let ours = layout.interpret(row).expect("a meaning");
        assert_eq!(ours, frame(abi, columns), "{name} at {start:#x}: {columns:?}");
    }
}

#[test]
fn rows_are_those_that_objdump_prints() {
    let (mut compared, mut rows) = (0, 0);
    for name in files() {
        let path = golden().join(&name);
        let Ok(text) = std::fs::read_to_string(format!("{}.objdump", path.display())) else {
            continue;
        };
        let printed = read_objdump(&text);
        let data = std::fs::read(&path).expect("readable");
        let elf = Elf::parse(&data).expect("headers can be read");
        let Some(sframe) = elf.sframe_contents().next() else {
            assert!(printed.is_empty(), "{name}: objdump found a section");
            continue;
        };
        let linked = elf.kind() != ElfKind::Relocatable;
        let bytes = sframe.data.expect("in the file");
        if bytes.is_empty() || printed.is_empty() {
            continue;
        }
        let placement = sframe.placement().expect("readable");
        let section = Section::parse(bytes, placement).expect("a header");
        assert_eq!(section.header().num_fdes as usize, printed.len(), "{name}");
        for (function, printed) in section.functions().zip(&printed) {
            let function = function.expect("readable");
            compare(&name, &function, printed, linked);
            rows += printed.rows.len();
        }
        compared += 1;
    }
    assert!(compared > 200 && rows > 5000, "only {compared} files with {rows} rows compared");
}

/// In an object, relocations lead from a start field to a label in the assembler's input. The symbol table shows where
/// the assembler placed it.
#[test]
fn relocated_functions_start_at_symbols() {
    let mut compared = 0;
    let objects = files().into_iter().filter(|name| name.ends_with(".o"));
    for name in objects.filter(|name| true_defects(name).is_empty()) {
        let data = std::fs::read(golden().join(&name)).expect("readable");
        let elf = Elf::parse(&data).expect("headers can be read");
        let table = SymbolTable::load(&elf).expect("readable");
        let symbols: BTreeSet<_> = table.symbols().iter().map(|symbol| symbol.start).collect();
        for sframe in elf.sframe_contents() {
            let placement = sframe.placement().expect("readable");
            let data = sframe.data.expect("in the file");
            // A linker may leave an empty section.
            let Ok(section) = Section::parse(data, placement) else { continue };
            for entry in section.entries() {
                let start = entry.start().expect("relocated");
                assert!(symbols.contains(&start), "{name}: {start:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 500, "only {compared} functions compared");
}

/// Plain rows must equal the rows that [`rows_are_those_that_objdump_prints`] has checked.
#[test]
fn plain_rows_are_the_first_rows() {
    let (mut all, mut none) = (0, 0);
    for name in files() {
        let data = std::fs::read(golden().join(&name)).expect("readable");
        let elf = Elf::parse(&data).expect("headers can be read");
        for sframe in elf.sframe_sections() {
            let bytes = elf.section_data(sframe).expect("in the file");
            let Ok(section) = Section::parse(bytes, Placement::at(sframe.address)) else {
                continue;
            };
            for function in section.functions().map(|function| function.expect("readable")) {
                match function.plain_rows(&section.row_budget()) {
                    Some(plain) => all += usize::from(compare_plain(&name, &function, plain)),
                    None => none += 1,
                }
            }
        }
    }
    assert!(all > 1000, "only {all} functions with none but plain rows");
    assert!(none > 10, "only {none} functions with other rows");
}

/// Returns whether all rows of the function are plain.
fn compare_plain(name: &str, function: &Function<'_>, mut plain: PlainRows<'_>) -> bool {
    assert!(!function.is_flexible() && !function.attributes().info.is_pc_mask(), "{name}");
    let layout = RowLayout::of(function).expect("known types");
    for row in function.frame_row_entries().expect("known FRE type") {
        let row = row.expect("readable");
        let Some(next) = plain.next_row() else {
            // Rows that do not repeat and are not flexible have at most three words of 4 bytes.
            let section = function.section();
            let left = section.header().fre_end() - row.offset;
            assert!(row.words.bytes().len() > 8 || left < 13, "{name}: {row:?}");
            return false;
        };
        assert_eq!(next.start(), row.start, "{name}");
        let says = layout.interpret(&row).ok().filter(|_| row.words.count() > 0);
        assert_eq!(plain.frame(&next), says, "{name}: {row:?}");
    }
    assert!(plain.are_over() && plain.next_row().is_none(), "{name}");
    // A budget that is used up allows no more rows, and each row that was read has been charged to it.
    let section = function.section();
    let (mut one, mut other) = (section.row_budget(), section.row_budget());
    plain.spend(&mut one);
    let rows = function.rows_within(&mut other).expect("known types");
    assert_eq!(rows.count(), function.num_rows() as usize, "{name}");
    assert_eq!(format!("{one:?}"), format!("{other:?}"), "{name}");
    true
}

/// The section that the builder writes for the content that the reader read.
fn rebuild(section: &Section<'_>) -> Vec<u8> {
    let header = section.header();
    let mut builder = SectionBuilder::new(header.version, section.abi().expect("known ABI"));
    builder.address(section.placement().address).with(|s| s.header.flags = header.flags.0);
    if matches!(section.placement().starts, Starts::Relocated(_)) {
        builder.relocatable();
    }
    for function in section.functions() {
        let function = function.expect("readable");
        let start = function.start().map_or(0, |start| start.address);
        let mut copy = FunctionBuilder::new(start, function.size());
        let layout = RowLayout::of(&function).expect("known types");
        for row in function.frame_row_entries().expect("known FRE type") {
            let row = row.expect("readable");
            copy = copy.row(row.start, layout.interpret(&row).expect("a meaning"));
        }
        copy = match function.repeat_size() {
            Ok(Some(block)) => copy.repeat(block),
            Ok(None) => copy,
            // Version 1 does not record the block size.
            Err(_) => copy.repeat(0),
        };
        if function.is_signal_frame() {
            copy = copy.signal_frame();
        }
        if function.attributes().info.pauth_key_b() {
            copy = copy.pauth_key_b();
        }
        if function.is_flexible() {
            copy = copy.flexible();
        }
        // GNU as and ld choose the FRE type by the function's size, but the builder chooses it by the last row. GNU ld
        // 2.44 writes a block size even if rows do not repeat.
        let attributes = function.attributes();
        let fre_type = function.fre_type().expect("known FRE type");
        builder.function(copy.fre_type(fre_type).with(|f| f.rep_size = attributes.rep_size));
    }
    builder.build().expect("the section can be written").bytes
}

/// Whether the rows are in the order of the functions. GNU ld merges them in another order.
fn rows_in_order(section: &Section<'_>) -> bool {
    section.entries().map(|entry| entry.fre_offset()).is_sorted()
}

#[test]
fn the_builder_writes_what_the_producers_wrote() {
    let (mut compared, mut flexible) = (0, 0);
    let mut failures = Vec::new();
    for name in files() {
        if !true_defects(&name).is_empty() {
            continue;
        }
        let data = std::fs::read(golden().join(&name)).expect("readable");
        let elf = Elf::parse(&data).expect("headers can be read");
        let Some(sframe) = elf.sframe_contents().next() else { continue };
        let placement = sframe.placement().expect("readable");
        let bytes = sframe.data.expect("in the file");
        let Ok(section) = Section::parse(bytes, placement) else { continue };
        if !rows_in_order(&section) {
            continue;
        }
        let mut rebuilt = rebuild(&section);
        // GNU as pads s390x sections to their alignment.
        if section.abi() == Ok(Abi::S390x) {
            rebuilt.resize(rebuilt.len().next_multiple_of(8).min(bytes.len()), 0);
        }
        // GNU as uses the next wider word size for exactly -128 and -32768, which these files contain.
        let edge = name.ends_with("/words.o") || name.ends_with("/handwritten.so");
        if rebuilt != bytes && !edge {
            failures.push(name);
        }
        compared += 1;
        flexible += section.functions().flatten().filter(|f| f.is_flexible()).count();
    }
    assert!(failures.is_empty(), "rebuilt sections differ: {failures:?}");
    assert!(compared > 150 && flexible > 10, "{compared} sections, {flexible} flexible functions");
}

/// The producers' own defects: files, by folder and name, and the error-level rules that they break. `corpus/NOTES.md`
/// has the evidence.
fn true_defects(path: &str) -> &'static [&'static str] {
    let mut parts = path.split('/');
    let (toolchain, name) = (parts.next().unwrap_or(""), parts.next_back().unwrap_or(""));
    match (toolchain, name) {
        // Linkers that do not know SFrame append the sections of their inputs.
        ("gold" | "lld", _) => &["concatenated-section"],
        // strip removes the relocations together with the symbols.
        (_, "stripped.o") => &["relocation-missing"],
        // `ld -r` merges the sections, but does not adjust the relocations.
        ("2.40" | "2.44", "relocatable.o" | "relocatable-comdat.o") => &["relocation-misplaced"],
        // `ld -r` writes 28 zero bytes for an input without functions.
        ("2.40" | "2.44", "relocatable-header-only.o") => &["bad-magic"],
        _ => &[],
    }
}

#[test]
fn only_the_producers_own_errors_are_found() {
    let mut failures = Vec::new();
    for name in files() {
        let data = std::fs::read(golden().join(&name)).expect("readable");
        let elf = Elf::parse(&data).expect("headers can be read");
        if elf.sframe_sections().next().is_none() {
            continue;
        }
        let report = Checker::default().elf(&elf);
        let errors = report.counts.iter().filter(|(rule, _)| rule.severity == Severity::Error);
        let errors: BTreeSet<_> = errors.map(|(rule, _)| rule.name).collect();
        let expected: BTreeSet<_> = true_defects(&name).iter().copied().collect();
        if errors != expected {
            failures.push(format!("{name}: {errors:?}, expected {expected:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn shortcuts_hide_no_finding() {
    for name in files() {
        let data = std::fs::read(golden().join(&name)).expect("readable");
        let elf = Elf::parse(&data).expect("headers can be read");
        let quick = Options { keep: Keep::All, ..Options::default() };
        let thorough = Options { thorough: true, ..quick };
        let messages = |options| {
            let report = Checker::new(options).elf(&elf);
            report.findings.iter().map(|f| f.message.clone()).collect::<Vec<_>>()
        };
        assert_eq!(messages(&quick), messages(&thorough), "{name}");
    }
}

#[test]
fn without_section_headers_the_segment_leads_to_the_section() {
    let mut data = std::fs::read(golden().join("mold/x86_64/shared.so")).expect("readable");
    let whole = Checker::default().elf(&Elf::parse(&data).expect("headers"));
    claims::no_sections(&mut data).expect("a file");
    let bare = Checker::default().elf(&Elf::parse(&data).expect("headers"));
    let counts = |report: &Report| {
        let [section] = &report.sections[..] else { panic!("{:?}", report.sections) };
        (section.functions, section.rows, section.size, section.covered_bytes)
    };
    assert_eq!(counts(&bare), counts(&whole));
    assert!(bare.findings.is_empty(), "{:?}", bare.findings);
}
