//! Our reader against llvm-readobj on the golden files: the address and size of every function, and the start, CFA, RA
//! and FP of every row. `golden.rs` compares the output of `dump` with readelf and objdump.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;
use std::path::Path;

use sframe_corpus::printed;
use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::section::RowLayout;
use sframe_validator::unwind::{Cfa, Recovery};

/// A row as llvm-readobj prints it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LlvmRow {
    start: u64,
    signed: bool,
    base_is_sp: bool,
    cfa: Option<i64>,
    ra: Option<i64>,
    fp: Option<i64>,
}

/// A function as llvm-readobj prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct LlvmFunction {
    start: u64,
    size: u64,
    rows: Vec<LlvmRow>,
}

#[test]
fn functions_and_rows_match_llvm_readobj() {
    let mut compared = 0;
    let mut failures = Vec::new();
    for (file, expected) in printed("readobj") {
        if file.extension().is_some_and(|extension| extension == "a") {
            // The members of archives are golden files of their own.
            continue;
        }
        let expected = parse_readobj(&expected);
        let ours = decode(&file);
        compared += expected.iter().map(|function| function.rows.len()).sum::<usize>();
        let difference = expected.iter().zip(&ours).position(|(llvm, ours)| llvm != ours);
        if let Some(index) = difference {
            let (llvm, ours) = (&expected[index], &ours[index]);
            failures.push(format!(
                "{}: function {index}:\n    llvm {llvm:x?}\n    ours {ours:x?}",
                file.display()
            ));
        } else if expected.len() != ours.len() {
            let (llvm, ours) = (expected.len(), ours.len());
            failures.push(format!("{}: {llvm} functions, ours has {ours}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{} files differ:\n{}", failures.len(), failures.join("\n"));
    assert!(compared > 1000, "only {compared} rows were compared");
}

fn parse_readobj(text: &str) -> Vec<LlvmFunction> {
    let mut functions: Vec<LlvmFunction> = Vec::new();
    // `Start Address` is that of the function at first, and that of a row once a row has begun.
    let mut in_row = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("FuncDescEntry [") {
            functions.push(LlvmFunction::default());
            in_row = false;
            continue;
        }
        let Some(function) = functions.last_mut() else { continue };
        if line == "Frame Row Entry {" {
            function.rows.push(LlvmRow::default());
            in_row = true;
            continue;
        }
        let Some((key, value)) = line.split_once(": ") else { continue };
        match (key, function.rows.last_mut().filter(|_| in_row)) {
            ("PC" | "Start Address", None) => function.start = hex(value),
            ("Size", None) => function.size = hex(value),
            ("Start Address", Some(row)) => row.start = hex(value),
            ("Return Address Signed", Some(row)) => row.signed = value == "Yes",
            ("Base Register", Some(row)) => row.base_is_sp = value.starts_with("SP"),
            ("CFA Offset", Some(row)) => row.cfa = value.parse().ok(),
            ("RA Offset", Some(row)) => row.ra = value.parse().ok(),
            ("FP Offset", Some(row)) => row.fp = value.parse().ok(),
            _ => {}
        }
    }
    functions
}

fn hex(value: &str) -> u64 {
    u64::from_str_radix(value.trim_start_matches("0x"), 16).unwrap()
}

/// The functions of a file's first SFrame section, as our reader decodes them.
fn decode(file: &Path) -> Vec<LlvmFunction> {
    let data = fs::read(file).unwrap();
    let elf = Elf::parse(&data).unwrap();
    let content = elf.sframe_contents().next().unwrap();
    let section = Section::parse(content.data.unwrap(), content.placement().unwrap()).unwrap();
    let mut functions = Vec::new();
    for function in section.functions() {
        let function = function.unwrap();
        // llvm-readobj prints the addend for a discarded function, as for an undefined symbol.
        let start = function.start().map_or(0, |start| start.address);
        let layout = RowLayout::of(&function).unwrap();
        let base = if function.attributes().info.is_pc_mask() { 0 } else { start };
        let rows = function.frame_row_entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            let frame = layout.interpret(&entry).unwrap();
            let at_cfa = |recovery| match recovery {
                Recovery::AtCfa(offset) => Some(offset),
                _ => None,
            };
            LlvmRow {
                start: base + u64::from(entry.start),
                signed: frame.ra_signed,
                base_is_sp: entry.info.base_is_sp(),
                cfa: match frame.cfa {
                    Cfa::RegisterOffset { offset, .. } => Some(offset),
                    _ => None,
                },
                ra: at_cfa(frame.ra),
                fp: at_cfa(frame.fp),
            }
        });
        let rows = rows.collect();
        functions.push(LlvmFunction { start, size: function.size().into(), rows });
    }
    functions
}
