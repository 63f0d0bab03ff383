//! `sframe-check` compared with other readers of SFrame, on the same file in the same run.
//!
//! `cargo bench -p sframe-check --bench peers [-- FILE...]`; without files, it reads the big libraries that
//! `corpus/build big` makes. The other readers are in `SFRAME_TOOLCHAINS` (by default `target/toolchains`, where
//! `corpus/build fetch` unpacks them); missing ones are reported. It prints user seconds (median of five) and peak
//! memory of whole processes, with output to a null device.

#![allow(missing_docs, reason = "a benchmark: nothing uses it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::resource::{UsageWho, getrusage};
use sframe_validator::elf::Elf;
use sframe_validator::{Placement, Section, Version};

const RUNS: usize = 5;
/// The argument that makes this program run one command and print its time and memory.
const MEASURE: &str = "--measure-one-command";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match arguments.split_first() {
        Some((first, command)) if first == MEASURE => measure(command),
        // `cargo bench -- --test` only checks that the benchmark runs.
        Some((first, _)) if first == "--test" => println!("peers: nothing to test without files"),
        Some(_) => arguments.iter().for_each(|file| compare(Path::new(file))),
        None => ["2.40", "2.44", "2.47.50"].into_iter().for_each(|version| {
            compare(&target().join(format!("real/{version}/x86_64/big.so")));
        }),
    }
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target")
}

fn tool(version: &str, name: &str) -> PathBuf {
    let cache = std::env::var_os("SFRAME_TOOLCHAINS").map(PathBuf::from);
    cache.unwrap_or_else(|| target().join("toolchains")).join(version).join("bin").join(name)
}

/// Runs the command as the only child of this process, and prints the resources of all children.
fn measure(command: &[String]) {
    let Some((program, arguments)) = command.split_first() else { return };
    let run =
        Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN);
    if let (Ok(_), Ok(usage)) = (run, usage) {
        let time = usage.user_time();
        let seconds = time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
        println!("{seconds} {}", usage.max_rss());
    }
}

/// User seconds (median) and peak memory (largest, KiB) of a command.
fn figures(program: &Path, arguments: &[&str]) -> Option<(f64, u64)> {
    let me = std::env::current_exe().ok()?;
    let mut seconds = Vec::new();
    let mut memory = 0;
    for _ in 0..RUNS {
        let output = Command::new(&me).arg(MEASURE).arg(program).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let (time, peak) = text.trim().split_once(' ')?;
        seconds.push(time.parse().ok()?);
        memory = memory.max(peak.parse().ok()?);
    }
    seconds.sort_by(f64::total_cmp);
    Some((*seconds.get(RUNS / 2)?, memory))
}

fn compare(file: &Path) {
    let Ok(metadata) = file.metadata() else {
        println!("skipped: no {}; corpus/build big makes it", file.display());
        return;
    };
    let path = file.to_string_lossy();
    println!("\n{path}, {} MiB", metadata.len() >> 20);
    println!("{:44} {:>9} {:>9}", "", "user s", "peak MiB");
    let ours = Path::new(env!("CARGO_BIN_EXE_sframe-check"));
    let rows = [
        ("sframe-check (rules, and against CFI)", ours.to_owned(), vec!["--threads", "1"]),
        (
            "sframe-check --against none (rules alone)",
            ours.to_owned(),
            vec!["--threads", "1", "--against", "none"],
        ),
        ("sframe-check --coverage", ours.to_owned(), vec!["--threads", "1", "--coverage"]),
        ("sframe-check dump", ours.to_owned(), vec!["dump"]),
        ("sframe-check dump --style gnu", ours.to_owned(), vec!["dump", "--style", "gnu"]),
    ];
    for (name, program, arguments) in rows {
        print(name, &program, &arguments, &path);
    }
    let cfi = "readelf 2.47.50 --debug-dump=frames-interp";
    print(cfi, &tool("2.47.50", "readelf"), &["--debug-dump=frames-interp"], &path);
    for (version, name) in readers(file) {
        let argument = if *version == "llvm-23" { "--sframe" } else { "--sframe=.sframe" };
        print(&format!("{name} {version} --sframe"), &tool(version, name), &[argument], &path);
    }
}

/// The readers that support the version of the file's section.
fn readers(file: &Path) -> &'static [(&'static str, &'static str)] {
    let data = std::fs::read(file).unwrap_or_default();
    let version = Elf::parse(&data).ok().and_then(|elf| {
        let section = *elf.sframe_sections().next()?;
        let bytes = elf.section_data(&section).ok()?;
        Some(Section::parse(bytes, Placement::at(section.address)).ok()?.header().version)
    });
    match version {
        Some(Version::V1) => &[("2.40", "objdump"), ("2.40", "readelf")],
        Some(Version::V2) => &[
            ("2.44", "objdump"),
            ("2.44", "readelf"),
            ("2.47.50", "objdump"),
            ("2.47.50", "readelf"),
            ("llvm-23", "llvm-readobj"),
        ],
        Some(Version::V3) => &[("2.47.50", "objdump"), ("2.47.50", "readelf")],
        None => &[],
    }
}

fn print(name: &str, program: &Path, arguments: &[&str], file: &str) {
    let arguments: Vec<&str> = arguments.iter().copied().chain([file]).collect();
    if !program.exists() {
        println!("{name:44} missing: corpus/build fetch");
        return;
    }
    match figures(program, &arguments) {
        Some((seconds, memory)) => println!("{name:44} {seconds:>9.3} {:>9}", memory >> 10),
        None => println!("{name:44} did not run"),
    }
}
