//! Lays a report's findings together by root cause: `cargo run -p sframe-history --example groups REPORT`.

use std::fs::File;
use std::io::{BufReader, stdout};

use sframe_history::{Groups, groups, report};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("groups REPORT")?;
    let mut groups = Groups::default();
    report::read(BufReader::new(File::open(path)?), |record| groups.add(record))?;
    groups::write_text(&mut stdout(), &groups.finish(), 20)?;
    Ok(())
}
