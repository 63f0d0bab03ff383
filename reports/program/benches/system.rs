//! The coverage of a whole system, compared with the minimal cost of reading the same CFI.
//!
//! `cargo bench -p sframe-check --bench system [-- FOLDER...]`; the default folders are `/usr/lib` and `/usr/bin`. It
//! prints wall seconds on two threads, best of five, with the files in the page cache:
//!
//! - *floor*: mapping every ELF file as the program does, adding up the bytes of `.eh_frame`, and iterating over the
//!   instructions of all functions with gimli;
//! - *sframe-check*: the whole program on the same ELF files, with `--coverage --threads 2`;
//! - *folders*: the same on the folders, among whose files it must find the ELF files;
//! - *forecast*: `forecast` on the ELF files, for one prediction, for one smallest encoding, and for the default of four.

#![allow(missing_docs, reason = "a benchmark: nothing uses it")]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gimli::{BaseAddresses, CieOrFde, EhFrame, EndianSlice, LittleEndian, UnwindSection};
use rayon::prelude::*;
use sframe_input::{FileBytes, Input, Selection};
use sframe_validator::elf::Elf;

/// The arguments for the coverage.
const COVERAGE: [&str; 3] = ["--coverage", "--fail-on", "never"];
/// Forecasts, and the arguments for each.
const FORECASTS: [(&str, &[&str]); 3] = [
    ("gnu-2.47.50", &["forecast", "--encoding", "gnu-2.47.50"]),
    ("smallest-v3", &["forecast", "--encoding", "smallest-v3"]),
    ("all four", &["forecast"]),
];

const RUNS: usize = 5;
const THREADS: usize = 2;

fn main() {
    let folders: Vec<OsString> = std::env::args_os().skip(1).filter(|a| a != "--bench").collect();
    if folders.iter().any(|folder| folder == "--test") {
        return println!("system: nothing to test without folders");
    }
    let folders = match folders.is_empty() {
        true => vec!["/usr/lib".into(), "/usr/bin".into()],
        false => folders,
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS).build();
    let Ok(pool) = pool else { return println!("no threads") };
    let files = elf_files(&folders);
    let (mut floors, mut programs, mut walks) = (Vec::new(), Vec::new(), Vec::new());
    let mut forecasts = FORECASTS.map(|_| Vec::new());
    let mut walked = Walked::default();
    for _ in 0..RUNS {
        let start = Instant::now();
        walked = pool.install(|| floor(&files));
        floors.push(start.elapsed());
        programs.extend(program(&COVERAGE, &files));
        walks.extend(program(&COVERAGE, &folders));
        for (times, (_, arguments)) in forecasts.iter_mut().zip(FORECASTS) {
            times.extend(program(arguments, &files));
        }
    }
    let best = |times: &[Duration]| times.iter().min().copied().unwrap_or_default().as_secs_f64();
    let (floor, program, walk) = (best(&floors), best(&programs), best(&walks));
    let Walked { files: with, fdes, steps, .. } = walked;
    println!("{} files, {with} with CFI: {fdes} functions, {steps} instructions", files.len());
    println!("floor         {floor:>8.3} s");
    println!("sframe-check  {program:>8.3} s, {:.2} times the floor", program / floor);
    println!("folders       {walk:>8.3} s");
    for (times, (name, _)) in forecasts.iter().zip(FORECASTS) {
        let time = best(times);
        println!("forecast      {time:>8.3} s, {:.2} times the coverage: {name}", time / program);
    }
}

fn elf_files(folders: &[OsString]) -> Vec<PathBuf> {
    let file = |input| match input {
        Input::File(path) => elf_bytes(&path).is_some().then_some(path),
        Input::Image(_) | Input::Content(..) | Input::Special(..) | Input::Unreadable(..) => None,
    };
    Selection::new(folders, Vec::new()).filter_map(file).collect()
}

/// The time that the program takes, or `None` if it cannot be started, for example with too many arguments.
fn program(arguments: &[&str], paths: &[impl AsRef<OsStr>]) -> Option<Duration> {
    let start = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sframe-check"));
    command.args(arguments).args(["--threads", &THREADS.to_string()]);
    // No packages, because the floor does not unpack any.
    command.args(["--max-depth", "0"]);
    let status = command.args(paths).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.ok().map(|_| start.elapsed())
}

#[derive(Clone, Copy, Default)]
struct Walked {
    files: u64,
    fdes: u64,
    steps: u64,
    sum: u64,
}

impl Walked {
    fn and(self, other: Walked) -> Walked {
        Walked {
            files: self.files + other.files,
            fdes: self.fdes + other.fdes,
            steps: self.steps + other.steps,
            sum: self.sum.wrapping_add(other.sum),
        }
    }
}

fn floor(files: &[PathBuf]) -> Walked {
    let walk = |file: &PathBuf| walk(file).unwrap_or_default();
    files.par_iter().map(walk).reduce(Walked::default, Walked::and)
}

/// The bytes of a file, or `None` if it is not an ELF file.
fn elf_bytes(path: &Path) -> Option<FileBytes> {
    let mut file = File::open(path).ok()?;
    let mut head = [0; 8];
    let length = file.read(&mut head).ok()?;
    Elf::is_elf(head.get(..length)?).then(|| FileBytes::of(file))?.ok()
}

fn walk(path: &Path) -> Option<Walked> {
    let data = elf_bytes(path)?;
    let elf = Elf::parse(&data).ok()?;
    let section = elf.sections().iter().find(|section| section.name == b".eh_frame")?;
    let bytes = elf.section_data(section).ok()?;
    let mut walked = Walked { files: 1, ..Walked::default() };
    walked.sum = bytes.iter().fold(0, |sum: u64, byte| sum.wrapping_add(u64::from(*byte)));
    let frame = EhFrame::new(bytes, LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(section.address);
    instructions(&frame, &bases, &mut walked);
    Some(walked)
}

fn instructions(
    frame: &EhFrame<EndianSlice<'_, LittleEndian>>,
    bases: &BaseAddresses,
    walked: &mut Walked,
) {
    let mut entries = frame.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let Ok(fde) = partial.parse(EhFrame::cie_from_offset) else { continue };
        walked.fdes += 1;
        let mut instructions = fde.instructions(frame, bases);
        while let Ok(Some(instruction)) = instructions.next() {
            std::hint::black_box(instruction);
            walked.steps += 1;
        }
    }
}
