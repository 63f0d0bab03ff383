//! Holds the ORC tables of kernel modules against their machine code, and prints what the code proves, as a table.
//!
//! ```sh
//! cargo run --release -p sframe-oracle --example orc_witness -- $(find /lib/modules -name '*.ko')
//! cargo run --release -p sframe-oracle --example orc_witness -- --dump module.ko
//! ```
//!
//! With `--dump`, prints the entries instead, in the order of the file.

use std::time::Instant;

use sframe_oracle::code::Code;
use sframe_oracle::compare::{OrcProof, OrcRefuted, prove_orc};
use sframe_oracle::orc::{Meaning, Orc, OrcError};
use sframe_validator::elf::{Elf, SymbolTable};

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_dump = arguments.first().is_some_and(|first| first == "--dump");
    let paths = arguments.split_off(usize::from(is_dump));
    let (mut all, start) = (OrcProof::default(), Instant::now());
    if !is_dump {
        println!(
            "{:>10} {:>7} {:>7} {:>9} {:>9} {:>7} {:>9} {:>5}",
            "bytes", "proven", "wrong", "undefined", "undecided", "unknown", "unreached", "MB/s"
        );
    }
    for path in paths {
        let start = Instant::now();
        let Ok(data) = std::fs::read(&path) else {
            println!("{path}: cannot be read");
            continue;
        };
        let Ok(elf) = Elf::parse(&data) else {
            println!("{path}: no ELF file");
            continue;
        };
        let orc = match Orc::load(&elf) {
            Ok(Some(orc)) => orc,
            Ok(None) => {
                println!("{path}: no ORC tables");
                continue;
            }
            Err(error) => {
                println!("{path}: {error}");
                continue;
            }
        };
        orc.defects().iter().for_each(|defect: &OrcError| println!("{path}: {defect}"));
        if is_dump {
            dump(&elf, &orc);
            continue;
        }
        let Some(code) = Code::of(&elf, &[], &[]) else { continue };
        let mut refuted = Vec::new();
        let proof = prove_orc(&code, &orc, |range| refuted.push(*range));
        all += proof;
        print(&proof, start, &path);
        let symbols = SymbolTable::load(&elf).unwrap_or_default();
        refuted.iter().for_each(|range| print_refuted(&elf, &symbols, range));
    }
    if !is_dump {
        print(&all, start, "all");
    }
}

/// Prints the numbers in the entries in a form that other programs' output is easily brought into.
fn dump(elf: &Elf<'_>, orc: &Orc) {
    let mut entries = orc.entries().to_vec();
    entries.sort_by_key(|entry| entry.index);
    for entry in entries {
        let section = elf.section(entry.start.section).map(|section| section.name);
        let name = section.map(|name| name.to_string()).unwrap_or_default();
        let meaning = match entry.meaning {
            Meaning::Undefined => "undefined".to_string(),
            Meaning::Frame { frame, signal } => {
                format!("{frame}{}", if signal { " signal" } else { "" })
            }
            Meaning::Undecided(doubt) => format!("undecided: {doubt}"),
        };
        println!("{name}+{:x}: {meaning}", entry.start.address);
    }
}

fn print(proof: &OrcProof, start: Instant, name: &str) {
    let (sums, total) = (proof.sums, proof.sums.total());
    let percent = |bytes: u64| bytes as f64 * 100.0 / total.max(1) as f64;
    let rate = total as f64 / 1e6 / start.elapsed().as_secs_f64();
    println!(
        "{total:>10} {:>7.2} {:>7.3} {:>9.3} {:>9.3} {:>7.2} {:>9.2} {rate:>5.1} {name}",
        percent(sums.proven),
        percent(sums.refuted),
        percent(proof.undefined),
        percent(proof.undecided),
        percent(sums.unknown),
        percent(sums.unreached),
    );
}

fn print_refuted(elf: &Elf<'_>, symbols: &SymbolTable<'_>, range: &OrcRefuted) {
    let (start, end) = (range.start.address, range.end);
    let section = elf.section(range.start.section).map(|section| section.name.to_string());
    let function = symbols.find(range.start).map(|symbol| symbol.name.to_string());
    println!(
        "    {}+{start:#x}..{end:#x} in {}: ORC has {}, the code {:?}",
        section.unwrap_or_default(),
        function.unwrap_or_default(),
        range.orc,
        range.known
    );
}
