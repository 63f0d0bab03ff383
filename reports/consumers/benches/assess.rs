//! How long each consumer's profile takes for the sections of a file, and for all consumers together.
//!
//! `SFRAME_BENCH` names the file; the default is a golden one. `SFRAME_TIMES` is the number of times that each is measured.

#![allow(clippy::indexing_slicing, reason = "a benchmark: it may panic")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use sframe_consumers::{Assessor, Input, profiles};
use sframe_corpus::corpus;
use sframe_validator::elf::Elf;

fn main() {
    let golden = || corpus().join("golden/2.47.50/x86_64/shared.so");
    let path = std::env::var_os("SFRAME_BENCH").map_or_else(golden, PathBuf::from);
    let times = std::env::var("SFRAME_TIMES").map_or(5, |times| times.parse().expect("a number"));
    let data = std::fs::read(&path).expect("readable");
    let elf = Elf::parse(&data).expect("an ELF file");
    let machine = elf.abi().expect("a machine of SFrame");
    for section in elf.sframe_contents() {
        let bytes = section.data.expect("bytes");
        println!("{}: {} bytes", path.display(), bytes.len());
        let input = Input::new(bytes, section.header.address, machine);
        println!("{:20} {:10.1} ms", "specification", median(times, || drop(Assessor::new(input))));
        let assessor = Assessor::new(input);
        for consumer in profiles() {
            let time = median(times, || drop(assessor.assess(*consumer)));
            println!("{:20} {time:10.1} ms", consumer.page().name);
        }
        let all = || {
            let assessor = Assessor::new(input);
            profiles().iter().for_each(|consumer| drop(assessor.assess(*consumer)));
        };
        println!("{:20} {:10.1} ms", "all", median(times, all));
    }
}

/// The median time in milliseconds.
fn median(times: usize, mut run: impl FnMut()) -> f64 {
    let mut measured: Vec<Duration> = (0..times.max(1))
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    measured.sort_unstable();
    measured[measured.len() / 2].as_secs_f64() * 1000.0
}
