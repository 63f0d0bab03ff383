//! What the sections of files could save, and what changes of the format would save in all of them:
//! `cargo run --release -p sframe-synthesis --example size FILE...`.

use std::error::Error;

use sframe_synthesis::{WhatIf, diagnose, what_if};
use sframe_validator::Section;
use sframe_validator::elf::Elf;

fn main() {
    let mut sum = WhatIf::default();
    for path in std::env::args().skip(1) {
        match print(&path) {
            Ok(estimate) => sum = sum + estimate,
            Err(error) => eprintln!("{path}: {error}"),
        }
    }
    println!("{} sections, {} bytes", sum.sections, sum.size);
    for (name, change) in sum.changes() {
        println!("  {name}: {} of {} bytes", change.saved(), change.before);
    }
}

/// Prints what the sections of a file could save.
fn print(path: &str) -> Result<WhatIf, Box<dyn Error>> {
    let data = std::fs::read(path)?;
    let elf = Elf::parse(&data)?;
    let mut sum = WhatIf::default();
    for sframe in elf.sframe_contents() {
        let section = Section::parse(sframe.data?, sframe.placement()?)?;
        let diagnosis = diagnose(&section, Some(&elf))?;
        println!("{path}: {} bytes, {} at best", diagnosis.account.size, diagnosis.smallest.size);
        for saving in &diagnosis.savings {
            println!("  {}: {} bytes, {} times", saving.waste, saving.bytes, saving.count);
        }
        println!(
            "  equal blocks: {} bytes; other: {}",
            diagnosis.account.shareable, diagnosis.rest
        );
        sum = sum + what_if(&section)?;
    }
    Ok(sum)
}
