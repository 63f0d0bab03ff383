//! A target as a standalone program, for examining single inputs and for measuring.

use std::process::ExitCode;
use std::time::Instant;

use crate::seeded::Seeded;

/// The size in bytes of the longest seeded input.
const LONGEST: usize = 512;

/// Runs a target on the files named on the command line or, with `--seeded COUNT`, on that many seeded inputs, and
/// prints how long it took. Files given with `--seeded` are damaged COUNT times.
pub fn main(run: fn(&[u8])) -> ExitCode {
    match arguments() {
        Ok((None, files)) => {
            for file in &files {
                run(file);
            }
            println!("{} inputs", files.len());
            ExitCode::SUCCESS
        }
        Ok((Some(count), files)) => {
            let start = Instant::now();
            seeded(count, &files, run);
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
    let mut random = Seeded::new(count);
    for _ in 0..count {
        let input = match files.len() {
            0 => {
                let length = random.below(LONGEST);
                random.bytes(length)
            }
            some => {
                let file = random.below(some);
                random.damaged(&files[file])
            }
        };
        run(&input);
    }
}

/// The number for `--seeded`, and the bytes of all files.
fn arguments() -> Result<(Option<u64>, Vec<Vec<u8>>), String> {
    let (mut count, mut files) = (None, Vec::new());
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--seeded" {
            let number = arguments.next().and_then(|number| number.to_str()?.parse().ok());
            count = Some(number.ok_or("--seeded needs a number")?);
        } else {
            let bytes = std::fs::read(&argument);
            files.push(bytes.map_err(|error| format!("{}: {error}", argument.display()))?);
        }
    }
    Ok((count, files))
}
