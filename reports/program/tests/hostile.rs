//! Sections made to waste time: the output of `dump` stays proportional to the size of the section.

use std::fs;
use std::path::{Path, PathBuf};

use sframe_input::RawOptions;
use sframe_render::dump::{DumpOptions, Style, dump_file};

const FUNCTIONS: u32 = 3_000;
const ROWS: u32 = 20_000;

/// A version 2 section whose functions all refer to the same rows, with `num_fdes` in the header.
fn shared_rows(num_fdes: u32) -> Vec<u8> {
    let row = [0, 0x03, 8]; // at +0, one 1-byte word, base SP
    let words = |values: &[u32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let rows_length = ROWS * 3;
    let mut bytes = vec![0xe2, 0xde, 2, 0, 3, 0, 0xf8, 0];
    bytes.extend(words(&[num_fdes, ROWS, rows_length, 0, FUNCTIONS * 20]));
    for index in 0..FUNCTIONS {
        bytes.extend(words(&[0x1000 + 16 * index, 16, 0, ROWS, 0]));
    }
    bytes.extend(row.repeat(ROWS as usize));
    bytes
}

fn dump(name: &str, bytes: &[u8], style: Style) -> String {
    let path: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).expect("writable");
    let (mut out, mut messages) = (Vec::new(), Vec::new());
    let raw = Some(RawOptions::default());
    let options = DumpOptions { style, raw, ..DumpOptions::default() };
    let outcome = dump_file(&path, &options, &mut out, &mut messages).expect("readable");
    assert!(outcome.unreadable > 0, "shared rows must be reported");
    String::from_utf8(out).expect("text")
}

#[test]
fn shared_rows_are_printed_once() {
    for (name, style) in [("shared-gnu", Style::Gnu), ("shared-plain", Style::Plain)] {
        let text = dump(name, &shared_rows(FUNCTIONS), style);
        let rows = text.lines().filter(|line| line.contains("sp+8")).count();
        assert_eq!(rows, ROWS as usize);
        assert!(text.contains("functions share rows"));
    }
}

#[test]
fn a_function_count_past_the_section_is_cheap() {
    for (name, style) in [("count-gnu", Style::Gnu), ("count-plain", Style::Plain)] {
        let mut bytes = shared_rows(u32::MAX);
        // Keep only the function table.
        bytes.truncate(28 + 20 * FUNCTIONS as usize);
        let text = dump(name, &bytes, style);
        let functions = text.lines().filter(|line| {
            line.starts_with("Function ") && line.contains(" at ") || line.contains("func idx")
        });
        assert_eq!(functions.count(), FUNCTIONS as usize);
    }
}
