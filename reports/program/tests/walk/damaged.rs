//! Damaged core dumps: no panic, and a reason for everything that is missing.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sframe_corpus::program::{self, Outcome};
use sframe_corpus::{folder, tools, tries};
use sframe_validator::elf::Elf;

use super::cores::{build, core_by_gdb, has_tools};
use super::frames;

/// A core dump of a crash in a recursion, its program, and the folder.
fn core(name: &str) -> Option<(PathBuf, PathBuf, Vec<u8>)> {
    let folder = folder!(name);
    if !has_tools() {
        return None;
    }
    let program = build(&folder, "2.47.50", &["-O2"])?;
    let core = core_by_gdb(&program, "handler");
    let bytes = fs::read(&core).expect("a core dump");
    Some((folder, program, bytes))
}

/// Walks a changed core dump. The status must be one of those that the help lists, and the text must fit to it.
fn walked(folder: &Path, bytes: &[u8], arguments: &[&str]) -> Outcome {
    fs::write(folder.join("damaged"), bytes).expect("written");
    let mut all = vec!["walk", "--format", "json"];
    all.extend_from_slice(arguments);
    all.push("damaged");
    let run = program::run(folder, &all);
    assert!((0..=2).contains(&run.status), "{run:?}");
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    assert_ne!(run.text.is_empty(), run.stderr.is_empty(), "{run:?}");
    run
}

fn json(run: &Outcome) -> Value {
    serde_json::from_str(&run.text).expect("JSON")
}

/// Of each truncated core dump, either nothing is read, with a reason, or the truncation is reported.
#[test]
fn truncated_core_dumps() {
    let Some((folder, _, bytes)) = core("walk-truncated") else { return };
    let complete = walked(&folder, &bytes, &[]);
    assert_eq!(complete.status, 0);
    let complete = frames(&json(&complete)["threads"][0], "cfi");
    let steps = (0..64).chain((64..8192).step_by(61)).chain((8192..bytes.len()).step_by(9973));
    let (mut refused, mut partly) = (0, 0);
    for length in steps {
        let run = walked(&folder, &bytes[..length], &[]);
        assert_eq!(run.status, 2, "{length}: {run:?}");
        if run.text.is_empty() {
            refused += 1;
            continue;
        }
        partly += 1;
        let walks = json(&run);
        let reasons = walks["undecided"].as_array().expect("reasons");
        let truncated = |reason: &Value| {
            let reason = reason.as_str().expect("a string");
            ["truncated", "damaged", "registers"].iter().any(|word| reason.contains(word))
        };
        assert!(reasons.iter().any(truncated), "{length}: {}", run.text);
        for thread in walks["threads"].as_array().expect("threads") {
            // Whatever can be walked is right.
            let found = frames(thread, "cfi");
            assert_eq!(found, complete[..found.len()], "{length}");
        }
    }
    println!("{refused} refused, {partly} partly read");
    assert!(refused > 60 && partly > 20);
}

/// Returns numbers below its argument. A generator of Lehmer's kind; any sequence would do.
fn random() -> impl FnMut(usize) -> usize {
    let mut state = 12345_u64;
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % below
    }
}

/// Bytes at random places of the headers, the notes and the stack are changed.
#[test]
fn flipped_bits() {
    let Some((folder, _, bytes)) = core("walk-flipped") else { return };
    let mut random = random();
    let mut statuses = [0; 3];
    for round in 0..tries(80, 400) {
        let mut changed = bytes.clone();
        let region = if round % 4 == 0 { bytes.len() } else { 16384 };
        for _ in 0..=random(8) {
            changed[random(region)] ^= 1 << random(8);
        }
        let run = walked(&folder, &changed, &["--max-frames", "500"]);
        statuses[usize::try_from(run.status).expect("a status")] += 1;
    }
    println!("statuses: {statuses:?}");
    assert!(statuses[0] > 0 && statuses[2] > 0);
}

/// The file offset of the memory at an address, from the program headers (ELF64, little endian).
fn offset_of(bytes: &[u8], address: u64) -> usize {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let number = |value| usize::try_from(value).expect("small");
    let count = u16::from_le_bytes([bytes[56], bytes[57]]);
    for entry in (0..usize::from(count)).map(|index| number(word(32)) + index * 56) {
        let (offset, start, size) = (word(entry + 8), word(entry + 16), word(entry + 32));
        if bytes[entry] == 1 && start <= address && address < start + size {
            return number(offset + (address - start));
        }
    }
    panic!("{address:#x} is not in the dump");
}

fn number(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("hexadecimal")
}

/// The return address of frame 1 leads to itself, into data, and nowhere.
#[test]
fn damaged_stacks() {
    let Some((folder, _, bytes)) = core("walk-smashed") else { return };
    let walks = json(&walked(&folder, &bytes, &[]));
    let sound = frames(&walks["threads"][0], "cfi");
    // A return address is below SP of the frame to which it leads.
    let place = offset_of(&bytes, number(&sound[3].sp) - 8);
    let with = |value: u64| {
        let mut changed = bytes.clone();
        assert_eq!(changed[place..place + 8], number(&sound[3].pc).to_le_bytes());
        changed[place..place + 8].copy_from_slice(&value.to_le_bytes());
        let run = walked(&folder, &changed, &[]);
        let walks = json(&run);
        let thread = walks["threads"][0].clone();
        let end =
            thread["frames"].as_array().expect("frames").last().expect("a frame")["witnesses"]
                .clone();
        let reason = |index: usize| end[index]["end"].as_str().map(str::to_owned);
        (run.status, frames(&thread, "cfi").len(), reason(0), reason(1))
    };
    let (status, depth, _, reason) = with(0x1234);
    let expected = (2, 4, Some("nothing is mapped at this address".to_owned()));
    assert_eq!((status, depth, reason), expected);
    let (status, depth, _, reason) = with(number(&sound[0].sp));
    let expected = (2, 4, Some("the memory at this address is not executable".to_owned()));
    assert_eq!((status, depth, reason), expected);
    let (status, depth, _, reason) = with(0);
    assert_eq!((status, depth, reason), (0, 3, Some("RA is 0: the outermost frame".to_owned())));
}

/// Files that are not core dumps, and core dumps of files that cannot be found.
#[test]
fn refused_files() {
    if tools::toolchain("2.44").is_none() {
        return;
    }
    let Some((folder, program, bytes)) = core("walk-refused-files") else { return };
    fs::write(folder.join("text"), "text").expect("written");
    let refused = |file: &str, reason: &str| {
        let run = program::run(&folder, &["walk", file]);
        assert_eq!((run.status, run.text.as_str()), (2, ""));
        assert_eq!(run.stderr, format!("{file}: {reason}\n"));
    };
    refused("text", "not an ELF file");
    refused("stacks", "not a core dump");
    refused("absent", "No such file or directory");
    refused(".", "it is not a regular file: folder");
    // Below an empty folder no file is found.
    fs::create_dir(folder.join("empty")).expect("a folder");
    let run = walked(&folder, &bytes, &["--sysroot", "empty"]);
    assert_eq!(run.status, 2);
    let first = &json(&run)["threads"][0]["frames"][0]["witnesses"][0];
    let place = format!("empty{}", program.display());
    let reason = format!("{place} cannot be used: No such file or directory");
    assert_eq!(first["end"], reason);
    // With the executable, at least its frames are walked.
    let run = walked(&folder, &bytes, &["--sysroot", "empty", "--exe", "stacks"]);
    let walks = json(&run);
    assert_eq!(run.status, 2);
    assert!(frames(&walks["threads"][0], "cfi").len() >= 6);
    // Another build of the program has another build ID.
    let other = build(&folder, "2.44", &["-O1"]).expect("a program");
    assert_eq!(other, program);
    let run = walked(&folder, &bytes, &[]);
    assert_eq!(run.status, 2);
    let first = &json(&run)["threads"][0]["frames"][0]["witnesses"][0];
    let end = first["end"].as_str().expect("a reason");
    let reason = format!("{} cannot be used: its build ID is ", program.display());
    assert!(end.starts_with(&reason) && end.contains("that of the mapped file is"), "{end}");
}

/// The place of a section in a file.
fn section(bytes: &[u8], name: &[u8]) -> Range<usize> {
    let elf = Elf::parse(bytes).expect("ELF");
    let found = elf.sections().iter().find(|section| section.name.bytes() == name);
    let found = found.expect("the section");
    let place = |number: u64| usize::try_from(number).expect("small");
    place(found.offset)..place(found.offset + found.size)
}

/// Without the header of its section, a witness has no row in the program, and says why. The others walk alone.
#[test]
fn damaged_sections() {
    let Some((folder, program, bytes)) = core("walk-sections") else { return };
    let sound = json(&walked(&folder, &bytes, &[]));
    let file = fs::read(program).expect("a program");
    let broken = folder.join("broken");
    // The magic number of the section, and the version of the first CIE (after its length and its ID).
    for (name, place, number, start) in
        [(".sframe", 0, 0, "SFrame: "), (".eh_frame", 8, 1, ".eh_frame: ")]
    {
        let mut changed = file.clone();
        changed[section(&file, name.as_bytes()).start + place] ^= 0xff;
        fs::write(&broken, changed).expect("written");
        let run = walked(&folder, &bytes, &["--exe", "broken"]);
        assert_eq!(run.status, 2, "{name}");
        let walks = json(&run);
        let first = &walks["threads"][0]["frames"][0]["witnesses"];
        let reason = first[number]["end"].as_str().expect("a reason");
        assert!(reason.starts_with(start) && first[number]["row"].is_null(), "{reason}");
        assert_eq!(first[number]["follows"], true);
        let other = &first[1 - number];
        assert_eq!(other, &sound["threads"][0]["frames"][0]["witnesses"][1 - number]);
        println!("{reason}");
    }
}

/// Bits of the sections are flipped: every witness whose walk ends has a reason.
#[test]
fn flipped_bits_of_sections() {
    let Some((folder, program, bytes)) = core("walk-sections-flipped") else { return };
    let file = fs::read(program).expect("a program");
    let sections = [section(&file, b".sframe"), section(&file, b".eh_frame")];
    let mut random = random();
    let mut statuses = [0; 3];
    for round in 0..tries(60, 200) {
        let mut changed = file.clone();
        let place = &sections[round % 2];
        for _ in 0..=random(8) {
            changed[place.start + random(place.len())] ^= 1 << random(8);
        }
        fs::write(folder.join("broken"), changed).expect("written");
        let run = walked(&folder, &bytes, &["--exe", "broken", "--max-frames", "200"]);
        statuses[usize::try_from(run.status).expect("a status")] += 1;
        let walks = json(&run);
        let levels = walks["threads"][0]["frames"].as_array().expect("frames");
        for (number, level) in levels.iter().enumerate() {
            for frame in level["witnesses"].as_array().expect("witnesses") {
                let follows = |next: &Value| {
                    let all = next["witnesses"].as_array().expect("witnesses");
                    all.iter().any(|other| other["witness"] == frame["witness"])
                };
                let goes_on = levels.get(number + 1).is_some_and(follows);
                assert!(goes_on || frame["end"].is_string(), "{frame}");
            }
        }
    }
    println!("statuses: {statuses:?}");
    assert!(statuses.iter().all(|count| *count > 0));
}
