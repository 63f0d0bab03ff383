//! Prints CFI's rows for each function of a file: `cargo run --example rows -- FILE`.

use sframe_oracle::cfi::{Cfi, RowContext};
use sframe_validator::elf::Elf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: rows FILE")?;
    let data = std::fs::read(path)?;
    let elf = Elf::parse(&data)?;
    for cfi in Cfi::load_all(&elf)? {
        println!("{}", cfi.name());
        for defect in cfi.defects() {
            println!("defect: {defect}");
        }
        let mut context = RowContext::new(&cfi);
        for function in cfi.functions() {
            let start = function.start();
            println!(
                "{:#x}: {}+{:#x} {} bytes",
                function.offset(),
                start.section,
                start.address,
                function.size()
            );
            for row in function.rows(&mut context) {
                match row {
                    Ok(row) => println!("  {:#x}..{:#x} {}", row.start, row.end, row.frame),
                    Err(error) => println!("  {error}"),
                }
            }
        }
    }
    Ok(())
}
