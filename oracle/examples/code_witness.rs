//! Compares the CFI of files with their machine code, and prints what the code proves, as a table.
//!
//! ```sh
//! cargo run --release -p sframe-oracle --example code_witness -- /usr/lib/x86_64-linux-gnu/*.so
//! ```
//!
//! `recall` is the share of the code without padding that is proven right or wrong. With `--reasons` as the first argument, the bytes
//! for each reason follow for which nothing is decided.

use std::time::Instant;

use sframe_oracle::cfi::CfiSource;
use sframe_oracle::code::{Program, Unproven};
use sframe_oracle::compare::{ProofSums, Refutation, prove};
use sframe_validator::elf::Elf;

fn main() {
    let mut all = Judged::default();
    println!(
        "{:>10} {:>7} {:>7} {:>7} {:>9} {:>7} {:>7} {:>5}",
        "bytes", "proven", "wrong", "unknown", "unreached", "padding", "recall", "MB/s"
    );
    let mut paths = std::env::args().skip(1).peekable();
    let lists_reasons = paths.next_if_eq("--reasons").is_some();
    for path in paths {
        let start = Instant::now();
        let Some(judged) = std::fs::read(&path).ok().and_then(|data| of(&data)) else {
            continue;
        };
        print(&judged.sums, start, &path);
        for range in &judged.wrong {
            println!("    {range}");
        }
        if lists_reasons {
            print_reasons(&judged.sums);
        }
        all.sums += judged.sums;
    }
    print(&all.sums, Instant::now(), "all");
    if lists_reasons {
        print_reasons(&all.sums);
    }
}

/// What the code of a file proves.
#[derive(Default)]
struct Judged {
    sums: ProofSums,
    /// The ranges where the CFI is wrong.
    wrong: Vec<String>,
}

fn of(data: &[u8]) -> Option<Judged> {
    let elf = Elf::parse(data).ok()?;
    // Go compresses its CFI.
    let source = CfiSource::of(&elf);
    let cfi = source.load_all().ok()?;
    let code = Program::of(&elf, &[], &cfi)?;
    let mut wrong = Vec::new();
    let proofs = prove(&code, &elf, &[], &cfi, |found| {
        let Refutation::Rows(range) = found else { return };
        let (start, end, truth) = (range.start.address, range.end, range.truth);
        if let Some(cfi) = range.cfi {
            wrong.push(format!("{start:#x}..{end:#x}: CFI has {}, the code {truth:?}", cfi.frame));
        }
    });
    Some(Judged { sums: proofs.cfi, wrong })
}

fn print(sums: &ProofSums, start: Instant, name: &str) {
    let total = sums.total();
    let percent = |bytes: u64| bytes as f64 * 100.0 / total.max(1) as f64;
    let rate = total as f64 / 1e6 / start.elapsed().as_secs_f64();
    let padding = bytes_for(sums, Unproven::Padding);
    let code = total.saturating_sub(padding).max(1);
    println!(
        "{total:>10} {:>7.2} {:>7.3} {:>7.2} {:>9.2} {:>7.2} {:>7.2} {rate:>5.1} {name}",
        percent(sums.proven),
        percent(sums.refuted),
        percent(sums.undecided.reached()),
        percent(sums.undecided.unreached()),
        percent(padding),
        sums.proven.saturating_add(sums.refuted) as f64 * 100.0 / code as f64,
    );
}

fn print_reasons(sums: &ProofSums) {
    for (reason, sum) in sums.undecided.reasons() {
        let first = sum.first.map_or(0, |(range, _)| range.start.address);
        let (name, bytes) = (reason.name(), sum.bytes());
        println!(
            "    {name:<15} {bytes:>10}, {:>10} of them reached, first {first:#x}",
            sum.reached
        );
    }
}

fn bytes_for(sums: &ProofSums, wanted: Unproven) -> u64 {
    let mut reasons = sums.undecided.reasons();
    reasons.find(|(reason, _)| *reason == wanted).map_or(0, |(_, sum)| sum.bytes())
}
