//! Repairs a file: `cargo run -p sframe-repair --example repair IN OUT`. Prints the changes, the losses, and the time.

use std::process::ExitCode;
use std::time::Instant;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let [input, output] = std::env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| "usage: repair IN OUT")?;
    let file = std::fs::read(input)?;
    let start = Instant::now();
    let repaired = sframe_repair::repair(&file)?;
    eprintln!("{:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    repaired.changes.iter().for_each(|change| println!("{change}"));
    repaired.lost.iter().for_each(|loss| println!("lost: {loss}"));
    std::fs::write(output, repaired.bytes)?;
    Ok(ExitCode::SUCCESS)
}
