//! Compares the SFrame sections of files with their CFI: `cargo run --example compare -- FILE...`.

use sframe_oracle::account::{Difference, Options, account};
use sframe_oracle::cfi::Cfi;
use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::finding::Keep;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args_os().skip(1) {
        let data = std::fs::read(&path)?;
        println!("{}", path.display());
        if let Err(error) = print(&data) {
            println!("  {error}");
        }
    }
    Ok(())
}

fn print(data: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    let elf = Elf::parse(data)?;
    let contents: Vec<_> = elf.sframe_contents().collect();
    let mut sections = Vec::new();
    for sframe in &contents {
        match Section::parse(sframe.data?, sframe.placement()?.with_abi(elf.abi())) {
            Ok(section) => sections.push(section),
            Err(error) => println!("  {error}"),
        }
    }
    let cfi = Cfi::load_all(&elf)?;
    let options = Options { keep: Keep::First(100), ..Options::default() };
    let account = account(&elf, &sections, &cfi, &options);
    for difference in &account.differences {
        let Difference { finding, fields, sframe, cfi, similar, .. } = difference;
        println!("  {}: {}", finding.rule.name, finding.message);
        if let Some((sframe, cfi)) = sframe.as_ref().zip(cfi.as_ref()) {
            let (frame, offset) = (cfi.frame, cfi.function.offset());
            println!("    {fields}: SFrame {sframe}\n    CFI    {frame} (FDE {offset:#x})");
        }
        if let Some(similar) = similar.filter(|similar| similar.ranges > 0) {
            println!("    and at {} more functions, {} bytes", similar.functions, similar.bytes);
        }
    }
    for finding in &account.findings {
        println!("  {}: {}", finding.rule.name, finding.message);
    }
    for loss in &account.losses {
        println!(
            "  lost to {}: {} functions, {} bytes",
            loss.cause.name(),
            loss.functions,
            loss.bytes
        );
    }
    for limit in &account.limits {
        println!(
            "  no room for {}: {} functions, {} bytes",
            limit.field, limit.functions, limit.bytes
        );
    }
    for undecided in &account.undecided {
        println!("  undecided: {}", undecided.reason);
    }
    for (rule, count) in &account.counts {
        println!("  {count} {rule:?}");
    }
    println!("  {:?}\n  {:?}", account.sums, account.functions);
    Ok(())
}
