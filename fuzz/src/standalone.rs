//! A target as a standalone program, for examining single inputs and for measuring.

use std::num::NonZero;
use std::panic::{catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{available_parallelism, scope};
use std::time::Instant;

use sframe_mutate::Seeded;

/// The size in bytes of the longest seeded input.
const LONGEST: usize = 512;

/// What the command line asks for.
#[derive(Default)]
struct Arguments {
    /// The number of seeded inputs.
    count: Option<u64>,
    /// The seed of the first one. The others have the following numbers.
    seed: u64,
    files: Vec<Vec<u8>>,
}

/// Runs a target on the files named on the command line or, with `--seeded COUNT`, on that many seeded inputs, on all
/// processors, and prints how long it took. Files given with `--seeded` are damaged COUNT times. `--seed NUMBER` chooses
/// other inputs.
pub fn main(run: fn(&[u8])) -> ExitCode {
    match arguments() {
        Ok(Arguments { count: None, files, .. }) => {
            for file in &files {
                run(file);
            }
            println!("{} inputs", files.len());
            ExitCode::SUCCESS
        }
        Ok(Arguments { count: Some(count), seed, files }) => {
            let start = Instant::now();
            seeded_in_parallel(count, seed, &files, run);
            let seconds = start.elapsed().as_secs_f64();
            println!("{count} inputs, {seconds:.2} s, {:.0} a second", count as f64 / seconds);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

/// Runs a target on `count` inputs, which are always the same. They are generated from nothing, or by damaging `files`.
pub fn seeded(count: u64, files: &[Vec<u8>], run: fn(&[u8])) {
    for seed in 0..count {
        run(&input(seed, files));
    }
}

/// Runs a target on `count` inputs from the seed `first` on, on all processors.
fn seeded_in_parallel(count: u64, first: u64, files: &[Vec<u8>], run: fn(&[u8])) {
    let next = AtomicU64::new(0);
    let work = || {
        while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < count) {
            let seed = first.wrapping_add(number);
            let input = input(seed, files);
            if let Err(panic) = catch_unwind(|| run(&input)) {
                // No other thread starts another input.
                next.store(count, Ordering::Relaxed);
                eprintln!("this input again, with the same files: --seeded 1 --seed {seed}");
                resume_unwind(panic);
            }
        }
    };
    scope(|threads| {
        for _ in 0..available_parallelism().map_or(1, NonZero::get) {
            threads.spawn(work);
        }
    });
}

/// The input with a seed.
fn input(seed: u64, files: &[Vec<u8>]) -> Vec<u8> {
    let mut random = Seeded::new(seed);
    match files.len() {
        0 => {
            let length = random.below(LONGEST);
            random.bytes(length)
        }
        some => {
            let file = random.below(some);
            random.damaged(&files[file])
        }
    }
}

/// The arguments of the command line.
fn arguments() -> Result<Arguments, String> {
    let mut found = Arguments::default();
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|number| number.to_str()?.parse().ok());
        match argument.to_str() {
            Some("--seeded") => found.count = Some(number().ok_or("--seeded needs a number")?),
            Some("--seed") => found.seed = number().ok_or("--seed needs a number")?,
            _ => {
                let bytes = std::fs::read(&argument);
                found.files.push(bytes.map_err(|e| format!("{}: {e}", argument.display()))?);
            }
        }
    }
    Ok(found)
}
