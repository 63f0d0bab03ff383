//! Checks that GNU readelf and llvm-dwarfdump print the same rows, as far as each can print them.
//!
//! readelf is found as `readelf` or through SFRAME_READELF; llvm-dwarfdump as `llvm-dwarfdump` (or with a version
//! suffix, 20 or newer) or through SFRAME_LLVM_DWARFDUMP. A missing tool is reported, and is an error with
//! SFRAME_REQUIRE_TOOLS=1. Some things are not compared: rules that readelf prints as `exp` and `vexp`; whether a
//! register is undefined or has no rule, for both of which readelf prints `u`; and the AArch64 signing state, for which
//! readelf has no column.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{elf_files, golden_files};
use sframe_oracle::cfi::{Cfi, Kind, RowContext};
use sframe_validator::Abi;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{Cfa, Recovery, Register, Row};

/// A row as a tool printed it; `None` if the output does not determine the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Printed {
    /// The offset in bytes from the function's start.
    at: u64,
    cfa: Option<Cfa>,
    ra: PrintedRule,
    fp: PrintedRule,
    signed: Option<bool>,
}

/// A register's rule, as a tool printed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PrintedRule {
    Exactly(Recovery),
    /// No rule, or undefined.
    Nothing,
    NotPrinted,
}

impl PrintedRule {
    fn agrees(self, rule: Recovery) -> bool {
        match self {
            PrintedRule::Exactly(printed) => printed == rule,
            PrintedRule::Nothing => matches!(rule, Recovery::Unchanged | Recovery::Undefined),
            PrintedRule::NotPrinted => true,
        }
    }
}

/// The size of a function and its rows, by the FDE's offset in its section.
type Tables = BTreeMap<(bool, u64), (u64, Vec<Printed>)>;

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|_| panic!("{text}"))
}

/// `rsp+8`, `sp-16`, `x29`.
fn register_offset(abi: Abi, text: &str) -> Option<(Register, i64)> {
    let at = text.find(['+', '-']).unwrap_or(text.len());
    // readelf 2.47.50 prints negative offsets as wrapped unsigned numbers.
    let unsigned = || text[at..].parse::<u64>().ok().map(u64::cast_signed);
    let offset = if at == text.len() { 0 } else { text[at..].parse().ok().or_else(unsigned)? };
    Some((register(abi, &text[..at])?, offset))
}

/// A register by the name that GNU or LLVM uses.
fn register(abi: Abi, name: &str) -> Option<Register> {
    let name = name.to_lowercase();
    let found = (0..=48).map(Register).find(|r| abi.register_name(*r) == Some(&name));
    found.or_else(|| {
        let number = |prefix: &str, suffix: &str| {
            name.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok().map(Register)
        };
        match (abi, name.as_str()) {
            (Abi::Amd64, "rip") => Some(Register(16)),
            (Abi::Amd64, _) => None,
            (Abi::S390x, _) => number("r", "d").or_else(|| {
                let float = number("f", "d")?.0;
                let order = [16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31];
                order.get(float as usize).copied().map(Register)
            }),
            (_, "wsp") => Some(Register(31)),
            (_, "fp") => Some(Register(29)),
            (_, "lr") => Some(Register(30)),
            _ => number("w", ""),
        }
    })
}

/// A register's rule as readelf prints it.
fn readelf_rule(cell: Option<&&str>) -> PrintedRule {
    match cell.copied() {
        None => PrintedRule::Exactly(Recovery::Unchanged),
        Some("u") => PrintedRule::Nothing,
        Some("s") => PrintedRule::Exactly(Recovery::Unchanged),
        Some("exp" | "vexp") => PrintedRule::NotPrinted,
        Some(cell) => {
            if let Some(offset) = cell.strip_prefix('c').and_then(|n| n.parse().ok()) {
                return PrintedRule::Exactly(Recovery::AtCfa(offset));
            }
            if let Some(offset) = cell.strip_prefix('v').and_then(|n| n.parse().ok()) {
                return PrintedRule::Exactly(Recovery::CfaOffset(offset));
            }
            // Always by number, even if the machine has a register with such a name.
            let number = cell.strip_prefix('r').and_then(|number| number.parse().ok());
            let register = number.map(Register).unwrap_or_else(|| panic!("readelf: rule {cell}"));
            PrintedRule::Exactly(Recovery::RegisterOffset { register, offset: 0 })
        }
    }
}

fn read_readelf(abi: Abi, text: &str) -> Tables {
    let mut tables = Tables::new();
    let mut debug_frame = false;
    let (mut current, mut start, mut columns) = (None, 0, Vec::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("Contents of the ") {
            debug_frame = name.starts_with(".debug_frame");
            current = None;
        } else if line.contains(" CIE ") || line.trim().is_empty() {
            current = None;
        } else if let Some((head, pc)) = line.split_once(" pc=") {
            let (first, last) = pc.trim().split_once("..").expect("a range");
            start = hex(first);
            let key = (debug_frame, hex(head.split_whitespace().next().expect("an offset")));
            tables.insert(key, (hex(last).wrapping_sub(start), Vec::new()));
            current = Some(key);
        } else if line.trim_start().starts_with("LOC ") {
            columns = line.split_whitespace().map(str::to_owned).collect();
        } else if let Some(key) = current {
            // A register's other name follows it in brackets.
            let cells: Vec<_> =
                line.split_whitespace().filter(|cell| !cell.starts_with('(')).collect();
            if cells.len() != columns.len() {
                panic!("readelf: {line}: {columns:?}");
            }
            let fp = abi.register_name(abi.fp()).expect("a name");
            let cell = |name: &str| columns.iter().position(|c| c == name).map(|at| &cells[at]);
            let cfa = (cells[1] != "exp").then(|| {
                let (register, offset) =
                    register_offset(abi, cells[1]).unwrap_or_else(|| panic!("readelf: {line}"));
                Cfa::RegisterOffset { register, offset }
            });
            tables.get_mut(&key).expect("inserted").1.push(Printed {
                at: hex(cells[0]).wrapping_sub(start),
                cfa,
                ra: readelf_rule(cell("ra")),
                fp: readelf_rule(cell(fp)),
                signed: None,
            });
        }
    }
    tables
}

/// A register's rule as LLVM prints it.
fn llvm_rule(abi: Abi, cell: Option<&&str>) -> PrintedRule {
    let Some(cell) = cell.copied() else { return PrintedRule::Exactly(Recovery::Unchanged) };
    if cell.contains("DW_OP") {
        return PrintedRule::NotPrinted;
    }
    let (inside, memory) = match cell.strip_prefix('[').and_then(|c| c.strip_suffix(']')) {
        Some(inside) => (inside, true),
        None => (cell, false),
    };
    let rule = match inside {
        "undefined" => Recovery::Undefined,
        "same" | "unspecified" => Recovery::Unchanged,
        _ if inside.starts_with("CFA") => {
            let offset = if inside == "CFA" { 0 } else { inside[3..].parse().expect("an offset") };
            if memory { Recovery::AtCfa(offset) } else { Recovery::CfaOffset(offset) }
        }
        _ => {
            let (register, offset) =
                register_offset(abi, inside).unwrap_or_else(|| panic!("llvm: rule {cell}"));
            if memory {
                Recovery::AtRegister { register, offset }
            } else {
                Recovery::RegisterOffset { register, offset }
            }
        }
    };
    PrintedRule::Exactly(rule)
}

fn read_llvm(abi: Abi, text: &str) -> Tables {
    let mut tables = Tables::new();
    let mut debug_frame = false;
    let (mut current, mut start) = (None, 0);
    for line in text.lines() {
        if line.ends_with(" contents:") {
            debug_frame = line.starts_with(".debug_frame");
        } else if let Some((head, pc)) = line.split_once(" pc=") {
            let (first, last) = pc.trim().split_once("...").expect("a range");
            start = hex(first);
            let key = (debug_frame, hex(head.split_whitespace().next().expect("an offset")));
            tables.insert(key, (hex(last).wrapping_sub(start), Vec::new()));
            current = Some(key);
        } else if line.contains(" CIE") {
            current = None;
        } else if let (Some(key), Some(row)) = (current, line.strip_prefix("  0x")) {
            let (at, rules) = row.split_once(": CFA=").expect("a row");
            let (cfa, rules) = rules.split_once(": ").unwrap_or((rules, ""));
            let cells: BTreeMap<u32, &str> = rules
                .split(", ")
                .filter_map(|rule| rule.split_once('='))
                .filter_map(|(name, rule)| {
                    let number = name.strip_prefix("reg").and_then(|n| n.parse().ok());
                    Some((number.or_else(|| register(abi, name).map(|r| r.0))?, rule))
                })
                .collect();
            let cfa = (!cfa.contains("DW_OP") && cfa != "unspecified").then(|| {
                let inside = cfa.strip_prefix('[').and_then(|c| c.strip_suffix(']'));
                let plain = inside.unwrap_or(cfa);
                let (register, offset) =
                    register_offset(abi, plain).unwrap_or_else(|| panic!("llvm: CFA {cfa}"));
                match inside {
                    Some(_) => Cfa::Dereference { register, offset },
                    None => Cfa::RegisterOffset { register, offset },
                }
            });
            // Rules are separated in the same way as the operations of an expression.
            let unclear = rules.contains("DW_OP");
            let rule = |r: Register| match llvm_rule(abi, cells.get(&r.0)) {
                _ if unclear => PrintedRule::NotPrinted,
                rule => rule,
            };
            tables.get_mut(&key).expect("inserted").1.push(Printed {
                at: hex(at).wrapping_sub(start),
                cfa,
                ra: rule(abi.ra()),
                fp: rule(abi.fp()),
                signed: (abi.is_aarch64() && !unclear)
                    .then(|| cells.get(&34).is_some_and(|value| *value != "0")),
            });
        }
    }
    tables
}

/// The numbers of compared files, functions and printed rows, and of functions that were not printed.
#[derive(Debug, Default)]
struct Counts {
    files: usize,
    functions: usize,
    rows: usize,
    unprinted: usize,
}

/// Compares a file's functions with a tool's output.
fn compare(data: &[u8], printed: &Tables, counts: &mut Counts) -> Result<(), String> {
    let elf = Elf::parse(data).map_err(|error| error.to_string())?;
    let sections = Cfi::load_all(&elf).map_err(|error| error.to_string())?;
    // Tools print all sections of the same name in a row, so offsets may occur more than once.
    let once = |kind| sections.iter().filter(|cfi| cfi.kind() == kind).count() <= 1;
    for cfi in sections.iter().filter(|cfi| once(cfi.kind())) {
        let debug_frame = cfi.kind() == Some(Kind::DebugFrame);
        let mut context = RowContext::new(cfi);
        for function in cfi.functions() {
            let error = |what: String| Err(format!("FDE at {:#x}: {what}", function.offset()));
            let Some((size, table)) = printed.get(&(debug_frame, function.offset())) else {
                return error("not printed".to_owned());
            };
            if *size != function.size() {
                return error(format!("size {:#x}, printed {size:#x}", function.size()));
            }
            counts.functions += 1;
            counts.unprinted += usize::from(table.is_empty());
            // The last of several rows at one place is the valid one.
            let mut last: BTreeMap<u64, &Printed> = BTreeMap::new();
            for row in table {
                last.insert(row.at, row);
            }
            let start = function.start().address;
            for row in function.rows(&mut context) {
                let Ok(row) = row else { break };
                let at = row.start - start;
                let from = last.range(..=at).next_back().map(|(_, printed)| *printed);
                let inside = last.range(at + 1..row.end - start).map(|(_, printed)| *printed);
                for printed in from.into_iter().chain(inside) {
                    counts.rows += 1;
                    if let Err(what) = agree(printed, &row) {
                        return error(format!("+{at:#x} {}: {what}: {printed:?}", row.frame));
                    }
                }
            }
        }
    }
    counts.files += 1;
    Ok(())
}

fn agree(printed: &Printed, row: &Row) -> Result<(), &'static str> {
    // If a CIE defines no CFA, tools print an arbitrary register.
    let unset = row.frame.cfa == Cfa::Undefined;
    if printed.cfa.is_some_and(|cfa| cfa != row.frame.cfa) && !unset {
        return Err("CFA");
    }
    if !printed.ra.agrees(row.frame.ra) {
        return Err("RA");
    }
    if !printed.fp.agrees(row.frame.fp) {
        return Err("FP");
    }
    if printed.signed.is_some_and(|signed| signed != row.frame.ra_signed) {
        return Err("RA signing");
    }
    Ok(())
}

/// The first of these programs that can be run; prints a message and returns `None` if there is none.
fn tool(variable: &str, names: &[String]) -> Option<String> {
    let given = std::env::var(variable).ok().into_iter().chain(names.iter().cloned());
    let found = given.into_iter().find(|name| {
        let Ok(output) = Command::new(name).arg("--version").output() else { return false };
        let version = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success() && usable(&version)
    });
    if found.is_none() {
        let name = names[0].rsplit('/').next().expect("a name");
        sframe_corpus::tools::missing(name, &format!("install it, or name one by {variable}"));
    }
    found
}

/// Whether a tool's version is known to be correct. In an old LLVM, restored states lacked the CFA (observed: wrong in
/// 14, right in 23).
fn usable(version: &str) -> bool {
    let Some((_, llvm)) = version.split_once("LLVM version ") else { return true };
    llvm.split('.').next().and_then(|major| major.parse::<u32>().ok()).is_some_and(|n| n >= 20)
}

/// Parses a tool's output for a file.
type Reader = fn(Abi, &str) -> Tables;

fn compare_files(name: &str, arguments: &[&str], read: Reader, files: &[PathBuf]) -> Counts {
    let mut counts = Counts::default();
    let mut failures = Vec::new();
    for path in files {
        let data = std::fs::read(path).expect("readable");
        let Some(abi) = Elf::parse(&data).ok().and_then(|elf| elf.abi()) else { continue };
        let output = Command::new(name).args(arguments).arg(path).output().expect("it runs");
        let printed = read(abi, &String::from_utf8_lossy(&output.stdout));
        if let Err(error) = compare(&data, &printed, &mut counts) {
            failures.push(format!("{}: {error}", path.display()));
        }
    }
    println!("{name}: {counts:?}");
    let few: Vec<_> = failures.iter().take(40).collect();
    assert!(failures.is_empty(), "{} of {} files: {few:#?}", failures.len(), files.len());
    counts
}

/// The golden files that are not archives, and whose relocations a tool can read.
fn golden() -> Vec<PathBuf> {
    let stripped = |path: &PathBuf| path.file_name().is_some_and(|name| name == "stripped.o");
    golden_files().into_iter().filter(|path| !stripped(path)).collect()
}

/// Some of the system's libraries: every n-th one of at most 1 MB, or all with SFRAME_SYSTEM=1.
fn libraries() -> Vec<PathBuf> {
    let all = std::env::var_os("SFRAME_SYSTEM").is_some();
    let limit = if all { 50_000_000 } else { 1_000_000 };
    let fits = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|m| m.len() < limit);
    let files: Vec<_> = ["/usr/lib", "/usr/bin"]
        .iter()
        .flat_map(|folder| elf_files(Path::new(folder)))
        .filter(fits)
        .collect();
    let step = if all { 1 } else { (files.len() / 40).max(1) };
    files.into_iter().step_by(step).collect()
}

fn readelf() -> Option<String> {
    tool("SFRAME_READELF", &["readelf".to_owned()])
}

fn llvm() -> Option<String> {
    let versions = (14..40).rev().map(|version| format!("llvm-dwarfdump-{version}"));
    // `corpus/build fetch` puts it there.
    let fetched = sframe_corpus::tools::toolchains().join("llvm-23/bin/llvm-dwarfdump");
    let fetched = fetched.to_str().map(str::to_owned);
    let names: Vec<_> =
        ["llvm-dwarfdump".to_owned()].into_iter().chain(versions).chain(fetched).collect();
    tool("SFRAME_LLVM_DWARFDUMP", &names)
}

const READELF: [&str; 2] = ["-W", "--debug-dump=frames-interp"];
const LLVM: [&str; 1] = ["--eh-frame"];

#[test]
fn readelf_golden() {
    let Some(name) = readelf() else { return };
    let counts = compare_files(&name, &READELF, read_readelf, &golden());
    assert!(counts.rows > 8_000, "{counts:?}");
}

#[test]
fn readelf_libraries() {
    let Some(name) = readelf() else { return };
    compare_files(&name, &READELF, read_readelf, &libraries());
}

#[test]
fn llvm_golden() {
    let Some(name) = llvm() else { return };
    // In this file, `ld -r` left an R_X86_64_NONE at the length of an entry. LLVM (observed: 23) reads the length as 0
    // and stops, which contradicts the bytes and readelf.
    let misread = |path: &PathBuf| path.ends_with("x86_64/relocatable-comdat.o");
    let files: Vec<_> = golden().into_iter().filter(|path| !misread(path)).collect();
    let counts = compare_files(&name, &LLVM, read_llvm, &files);
    assert!(counts.rows > 8_000, "{counts:?}");
}

#[test]
fn llvm_libraries() {
    let Some(name) = llvm() else { return };
    compare_files(&name, &LLVM, read_llvm, &libraries());
}
