//! Compares two reports: `cargo run -p sframe-history --example compare OLD NEW`.

use std::fs::File;
use std::io::{BufReader, stdout};

use sframe_history::changes::{Options, Scan, write_json, write_markdown, write_text};
use sframe_history::{Comparison, When, report};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [old, new, options @ ..] = arguments.as_slice() else {
        return Err("compare OLD NEW".into());
    };
    let mut comparison = Comparison::new(Scan::complete(old), Scan::complete(new));
    for (when, path) in [(When::Old, old), (When::New, new)] {
        let ending =
            report::read(BufReader::new(File::open(path)?), |record| comparison.add(when, record))?;
        let scan = comparison.scan_mut(when);
        (scan.tool, scan.complete) = (ending.tool, ending.complete);
    }
    let changes = comparison.finish();
    match options.first().map(String::as_str) {
        Some("json") => write_json(&mut stdout(), &changes)?,
        Some("markdown") => write_markdown(&mut stdout(), &changes, &Options::default())?,
        _ => write_text(&mut stdout(), &changes, &Options::default())?,
    }
    Ok(())
}
