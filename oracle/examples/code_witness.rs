//! Compares the CFI of files with their machine code, and prints what the code proves, as a table.
//!
//! ```sh
//! cargo run --release -p sframe-oracle --example code_witness -- /usr/lib/x86_64-linux-gnu/*.so
//! ```

use std::time::Instant;

use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::Code;
use sframe_oracle::compare::{ProofSums, prove};
use sframe_validator::elf::Elf;

fn main() {
    let mut all = ProofSums::default();
    println!(
        "{:>10} {:>7} {:>7} {:>7} {:>9} {:>5}",
        "bytes", "proven", "wrong", "unknown", "unreached", "MB/s"
    );
    for path in std::env::args().skip(1) {
        let start = Instant::now();
        let Some((sums, wrong)) = std::fs::read(&path).ok().and_then(|data| of(&data)) else {
            continue;
        };
        all += sums;
        print(&sums, start, &path);
        for range in wrong {
            println!("    {range}");
        }
    }
    print(&all, Instant::now(), "all");
}

/// The sums, and the ranges where the CFI is wrong.
fn of(data: &[u8]) -> Option<(ProofSums, Vec<String>)> {
    let elf = Elf::parse(data).ok()?;
    let cfi = Cfi::load_all(&elf).ok()?;
    let code = Code::of(&elf, &[], &cfi)?;
    let mut wrong = Vec::new();
    let proofs = prove(&code, &elf, &[], &cfi, |range| {
        let (start, end, truth) = (range.start.address, range.end, range.truth);
        if let Some(cfi) = range.cfi {
            wrong.push(format!("{start:#x}..{end:#x}: CFI has {}, the code {truth:?}", cfi.frame));
        }
    });
    Some((proofs.cfi, wrong))
}

fn print(sums: &ProofSums, start: Instant, name: &str) {
    let total = sums.total();
    let percent = |bytes: u64| bytes as f64 * 100.0 / total.max(1) as f64;
    let rate = total as f64 / 1e6 / start.elapsed().as_secs_f64();
    println!(
        "{total:>10} {:>7.2} {:>7.3} {:>7.2} {:>9.2} {rate:>5.1} {name}",
        percent(sums.proven),
        percent(sums.refuted),
        percent(sums.unknown),
        percent(sums.unreached),
    );
}
