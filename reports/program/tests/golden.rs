//! The output of `dump` on the golden files: `--style gnu` matches GNU objdump byte for byte, and the rows of
//! `--style plain` match llvm-readobj, for the versions that it can read.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::path::Path;

use sframe_corpus::printed;
use sframe_corpus::program::run;

fn dump(file: &Path, style: &str) -> String {
    let name = file.file_name().and_then(|name| name.to_str()).expect("a file");
    run(file.parent().expect("in a folder"), &["dump", "--style", style, name]).text
}

/// Whether objdump printed an error message instead of a dump, because the section is empty.
fn is_error(text: &str) -> bool {
    !text.contains("Contents of the SFrame section")
}

#[test]
fn gnu_style_matches_objdump() {
    let mut compared = 0;
    let mut failures = Vec::new();
    for (file, text) in printed("objdump") {
        if is_error(&text) {
            continue;
        }
        let ours = dump(&file, "gnu");
        // objdump 2.40 stops at an archive member without an SFrame section; later versions continue.
        let early =
            file.ends_with("archive.a") && file.components().any(|c| c.as_os_str() == "2.40");
        let same = match early {
            true => ours.starts_with(&text),
            false => ours == text,
        };
        if !same {
            failures.push(file);
        }
        compared += 1;
    }
    assert!(failures.is_empty(), "the output differs from objdump's: {failures:#?}");
    assert!(compared > 300, "only {compared} files compared");
}

/// The parts of a row that both programs print.
#[derive(Debug, PartialEq, Eq)]
struct PrintedRow {
    /// The distance from the function's first row.
    start: u64,
    /// The base register and the offset of the CFA.
    cfa: String,
    fp: Option<i64>,
    signed: bool,
}

/// The value after `name: `.
fn value<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.trim().strip_prefix(name)?.strip_prefix(": ")
}

fn read_readobj(text: &str) -> Vec<Vec<PrintedRow>> {
    let mut functions = Vec::new();
    let mut base = String::new();
    for line in text.lines() {
        let rows: Option<&mut Vec<PrintedRow>> = functions.last_mut();
        let row = rows.and_then(|rows| rows.last_mut());
        if line.trim().starts_with("FuncDescEntry [") {
            functions.push(Vec::new());
        } else if line.trim() == "Frame Row Entry {" {
            let row = PrintedRow { start: 0, cfa: String::new(), fp: None, signed: false };
            functions.last_mut().expect("a function").push(row);
        } else if let (Some(start), Some(row)) = (value(line, "Start Address"), row) {
            let digits = start.trim_start_matches("0x");
            row.start = u64::from_str_radix(digits, 16).expect("hexadecimal");
        } else if let Some(register) = value(line, "Base Register") {
            base = register.split(' ').next().unwrap_or_default().to_owned();
        } else if let Some(row) = functions.last_mut().and_then(|rows| rows.last_mut()) {
            if let Some(offset) = value(line, "CFA Offset") {
                let offset: i64 = offset.parse().expect("decimal");
                row.cfa = format!("{base}{offset:+}");
            } else if let Some(offset) = value(line, "FP Offset") {
                row.fp = Some(offset.parse().expect("decimal"));
            } else if let Some(signed) = value(line, "Return Address Signed") {
                row.signed = signed == "Yes";
            }
        }
    }
    // It prints addresses; in object files, these are offsets in the section.
    for rows in &mut functions {
        let first = rows.first().map_or(0, |row: &PrintedRow| row.start);
        rows.iter_mut().for_each(|row| row.start -= first);
    }
    functions
}

/// Reads rows of our own layout: `offset address CFA RA FP`, with the machine's names for registers.
fn read_plain(text: &str) -> Vec<Vec<PrintedRow>> {
    let mut functions: Vec<Vec<PrintedRow>> = Vec::new();
    let mut start = 0;
    for line in text.lines() {
        let columns: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with("Function ") {
            functions.push(Vec::new());
            start = u64::MAX;
        } else if line.starts_with("  0x") && columns.len() >= 5 && !functions.is_empty() {
            let address = columns[1].rsplit('+').next().expect("an address");
            let address = u64::from_str_radix(address.trim_start_matches("0x"), 16);
            let address = address.expect("hexadecimal");
            if start == u64::MAX {
                start = address;
            }
            let cfa = columns[2].replace("rsp", "SP").replace("rbp", "FP").replace("sp+", "SP+");
            let fp = columns[columns.len() - 1]
                .strip_prefix("*(CFA")
                .and_then(|fp| fp.strip_suffix(')'));
            functions.last_mut().expect("a function").push(PrintedRow {
                start: address - start,
                cfa: cfa.replace("x29", "FP"),
                fp: fp.map(|fp| fp.parse().expect("decimal")),
                signed: line.contains("signed"),
            });
        }
    }
    functions
}

#[test]
fn plain_rows_match_llvm_readobj() {
    let (mut compared, mut rows) = (0, 0);
    for (file, text) in printed("readobj") {
        if file.extension().is_some_and(|extension| extension == "a") || text.is_empty() {
            continue;
        }
        let printed = read_readobj(&text);
        if printed.iter().all(Vec::is_empty) {
            continue;
        }
        let ours = read_plain(&dump(&file, "plain"));
        assert_eq!(ours, printed, "{}", file.display());
        compared += 1;
        rows += printed.iter().map(Vec::len).sum::<usize>();
    }
    assert!(compared > 50 && rows > 1000, "only {compared} files with {rows} rows compared");
}
