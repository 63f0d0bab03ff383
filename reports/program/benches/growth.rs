//! How a command's processor time grows with what it is given: each of the commands below with inputs of size n and 4n.
//!
//! `cargo bench -p sframe-check --bench growth [-- N [COMMAND...]]`; N is 10,000 unless it is given, and only rows that contain a
//! COMMAND are measured. GNU as, ld and ar of `SFRAME_TOOLCHAINS` (by default `target/toolchains`, where `corpus/build fetch 2.47.50`
//! unpacks them) make the inputs. The factor should be 4; 6 is too much.

#![allow(missing_docs, reason = "a benchmark: nothing uses it")]

#[path = "growth/inputs.rs"]
mod inputs;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use inputs::{Input, Inputs, Made};
use nix::sys::resource::{UsageWho, getrusage};

/// The argument that makes this program run one command and print its time and memory.
const MEASURE: &str = "--measure-one-command";
/// The largest factor that still counts as linear.
const LINEAR: f64 = 6.0;
/// Below this many seconds of processor time, a factor says nothing.
const SHORTEST: f64 = 0.02;

/// What is run on which inputs. `FILE` is the input, `FIRST` the name of its first function, and `OUT` a new file.
const COMMANDS: [(&str, &[Input]); 24] = [
    ("FILE", &Input::ALL),
    ("--format json FILE", &Input::ALL),
    ("--format ndjson --all FILE", &Input::ALL),
    ("--format sarif FILE", &Input::ALL),
    ("--format html FILE", &Input::ALL),
    ("--thorough FILE", &Input::ALL),
    ("--call-sites FILE", &Input::ALL),
    ("--coverage FILE", &Input::ALL),
    ("--for all FILE", &Input::ALL),
    ("--write-baseline OUT FILE", &Input::ALL),
    ("forecast FILE", &Input::ALL),
    ("size FILE", &Input::ALL),
    ("size --what-if FILE", &Input::ALL),
    ("lookup FILE FIRST", &Input::ELF),
    ("dump FILE", &Input::ELF),
    ("dump --style gnu FILE", &Input::ELF),
    ("diff FILE FILE", &Input::ELF),
    ("diff --by symbol FILE FILE", &Input::ELF),
    ("repair FILE --output OUT", &Input::ELF),
    ("reassemble FILE --output OUT", &Input::ELF),
    ("synthesize --from code BARE --output OUT", &Input::ELF),
    ("synthesize BARE --output OUT", &Input::ELF),
    ("link --linker ld-2.47 FILE", &Input::OBJECTS),
    ("show --all RECORDS", &Input::ALL),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match arguments.split_first() {
        Some((first, command)) if first == MEASURE => measure(command),
        // `cargo bench -- --test` only checks that the benchmark runs.
        Some((first, _)) if first == "--test" => println!("growth: nothing to test"),
        Some((size, wanted)) => run(size.parse().expect("a number"), wanted),
        None => run(10_000, &[]),
    }
}

fn run(size: usize, wanted: &[String]) {
    let Some(inputs) = Inputs::find() else { return };
    println!("{:10} {:42} {:>9} {:>9} {:>7}  MiB", "", "", "n, s", "4n, s", "factor");
    let mut too_much = 0;
    for input in Input::ALL {
        let made = [size, 4 * size].map(|size| inputs.make(input, size));
        for (command, takes) in COMMANDS {
            let row = format!("{} {command}", input.name());
            let is_wanted = wanted.is_empty() || wanted.iter().any(|part| row.contains(part));
            if !is_wanted || !takes.contains(&input) {
                continue;
            }
            let [few, many] = made.each_ref().map(|made| figures(command, made));
            let factor = many.seconds / few.seconds.max(SHORTEST);
            let mark = if factor > LINEAR { "  too much" } else { "" };
            too_much += usize::from(factor > LINEAR);
            println!(
                "{:10} {command:42} {:9.3} {:9.3} {factor:6.1}x  {}{mark}",
                input.name(),
                few.seconds,
                many.seconds,
                many.mebibytes,
            );
        }
    }
    println!("{too_much} of them grow faster than {LINEAR} times");
}

/// What a command takes.
struct Figures {
    seconds: f64,
    mebibytes: u64,
}

fn figures(command: &str, made: &Made) -> Figures {
    let out = made.folder().join("out");
    let word = |word: &str| match word {
        "FILE" => made.file.clone(),
        "BARE" => made.bare.clone(),
        "RECORDS" => made.records.clone(),
        "OUT" => out.clone(),
        "FIRST" => PathBuf::from("f0"),
        word => PathBuf::from(word),
    };
    // Some outputs are refused if they exist.
    let _ = std::fs::remove_file(&out);
    let me = std::env::current_exe().expect("a path");
    let output = Command::new(me)
        .arg(MEASURE)
        .arg(program())
        .args(command.split_whitespace().map(word))
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let (seconds, mebibytes) = text.trim().split_once(' ').expect("two numbers");
    Figures {
        seconds: seconds.parse().expect("a number"),
        mebibytes: mebibytes.parse().expect("a number"),
    }
}

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_sframe-check"))
}

/// Runs the command as the only child of this process, and prints the resources of all children. An error of usage would be
/// fast, and is none of the commands' figures.
fn measure(command: &[String]) {
    let Some((program, arguments)) = command.split_first() else { return };
    let run = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("it runs");
    assert!(run.code().is_some_and(|code| code < 3), "{run}: {}", command.join(" "));
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("figures");
    let seconds = [usage.user_time(), usage.system_time()]
        .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6);
    println!("{} {}", seconds.iter().sum::<f64>(), usage.max_rss() >> 10);
}
