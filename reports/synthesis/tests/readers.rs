//! Other people's readers find the same rows in the sections that are made: GNU objdump 2.44 and 2.47.50, each in the
//! versions that it reads, and llvm-readobj for version 2.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use sframe_corpus::tools;
use sframe_oracle::cfi::Cfi;
use sframe_synthesis::{Encoding, Function, Place, Release, Synthesis, synthesize};
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{Cfa, Frame, Recovery};
use sframe_validator::write::elf::Image;
use sframe_validator::{Abi, Version};

/// A line of objdump: the start of a row, and the columns CFA, FP and RA without the space between them. There is none
/// between wide ones.
type Line = (u64, String);

/// The rows that objdump prints for each function, by its start.
fn printed(text: &str) -> BTreeMap<u64, Vec<Line>> {
    let mut functions: BTreeMap<u64, Vec<Line>> = BTreeMap::new();
    let mut start = 0;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(place) = words.iter().position(|word| *word == "pc") {
            let hex = words[place + 2].trim_start_matches("0x").trim_end_matches(',');
            start = u64::from_str_radix(hex, 16).expect("an address");
            functions.insert(start, Vec::new());
        } else if let Some(row) = words.first().filter(|word| word.len() == 16)
            && let Ok(row) = u64::from_str_radix(row, 16)
        {
            let columns = words.iter().skip(1).copied().collect();
            functions.entry(start).or_default().push((row, columns));
        }
    }
    functions
}

/// What objdump prints for a frame: binutils' notation, from the documentation of `objdump --sframe` and its output for
/// the golden files.
fn columns(frame: &Frame, abi: Abi, flexible: bool) -> String {
    if *frame == Frame::OUTERMOST {
        return "RAundefined".to_owned();
    }
    let name = |register: sframe_validator::unwind::Register| match register {
        sp if sp == abi.sp() => "sp".to_owned(),
        fp if fp == abi.fp() => "fp".to_owned(),
        other => format!("r{}", other.0),
    };
    let cfa = match frame.cfa {
        Cfa::RegisterOffset { register, offset } if flexible => {
            format!("{}{offset:+}", name(register))
        }
        Cfa::RegisterOffset { register, offset } => format!("{}+{offset}", name(register)),
        Cfa::Dereference { register, offset } => format!("({}{offset:+})", name(register)),
        other => panic!("{other}"),
    };
    let rule = |rule| match rule {
        Recovery::Unchanged => "u".to_owned(),
        Recovery::AtCfa(offset) => format!("c{offset:+}"),
        Recovery::RegisterOffset { register, offset: 0 } if !flexible => name(register),
        Recovery::RegisterOffset { register, offset } => format!("{}{offset:+}", name(register)),
        Recovery::AtRegister { register, offset } => format!("({}{offset:+})", name(register)),
        other => panic!("{other}"),
    };
    let fixed = abi.fixed_ra_offset() != 0;
    let mut ra = if fixed && frame.ra == Recovery::AtCfa(abi.fixed_ra_offset().into()) {
        "f".to_owned()
    } else {
        rule(frame.ra)
    };
    // Padding in the place of RA.
    let padded = flexible || abi == Abi::S390x;
    if padded && matches!(ra.as_str(), "f" | "u") && frame.fp != Recovery::Unchanged {
        ra = "U".to_owned();
    }
    if frame.ra_signed {
        ra.push_str("[s]");
    }
    [cfa, rule(frame.fp), ra].concat()
}

/// The lines that objdump should print for a function.
fn expected(function: &Function, abi: Abi, version: Version) -> Vec<Line> {
    let is_plain = |frame: &Frame| {
        let base = match frame.cfa {
            Cfa::RegisterOffset { register, .. } => register == abi.sp() || register == abi.fp(),
            _ => false,
        };
        let slot = |rule| matches!(rule, Recovery::Unchanged | Recovery::AtCfa(_));
        let fixed = abi.fixed_ra_offset();
        let ra = fixed == 0 && slot(frame.ra) || frame.ra == Recovery::AtCfa(fixed.into());
        *frame == Frame::OUTERMOST || base && slot(frame.fp) && ra
    };
    let flexible = version == Version::V3 && !function.rows.iter().all(|row| is_plain(&row.frame));
    let base = if function.block.is_some() { function.start.address } else { 0 };
    let rows = function.rows.iter();
    rows.map(|row| (row.start - base, columns(&row.frame, abi, flexible))).collect()
}

/// Writes a section into a file of its own, with code at all addresses.
fn file_of(made: &Synthesis, abi: Abi, address: u64, typed: bool) -> Vec<u8> {
    let image = Image {
        abi,
        code: 0..address & !0xfff,
        sframe: (&made.written.bytes, address),
        typed,
        eh_frame: None,
    };
    image.bytes().expect("a file")
}

/// The files whose sections are read. objdump 2.44 aborts at what GNU as writes for `edges.s`, rows at the ends of
/// functions.
fn files() -> Vec<std::path::PathBuf> {
    let mut files = sframe_corpus::golden(&["so", "exe"]);
    let real = sframe_corpus::tools::real_libraries().join("2.47.50");
    files.extend(sframe_corpus::files(&real).into_iter().filter(|path| !path.ends_with("big.so")));
    files.retain(|path| ["/2.44/", "/2.47.50/"].iter().any(|r| path.to_string_lossy().contains(r)));
    files.retain(|path| !path.ends_with("edges.so"));
    files
}

/// Reads all sections of an encoding with a release's objdump. Returns the number of rows.
fn read(folder: &Path, release: &str, encoding: Encoding) -> Option<usize> {
    let objdump = tools::toolchain(release)?;
    let mut rows = 0;
    for path in files() {
        let data = std::fs::read(&path).expect("readable");
        let elf = Elf::parse(&data).expect("ELF");
        let abi = elf.abi().expect("a machine of SFrame");
        let cfi = Cfi::load_all(&elf).expect("CFI");
        let Place::Linked(address) = Place::of(&elf) else { continue };
        let Ok(made) = synthesize(&elf, &cfi, encoding, Place::Linked(address)) else { continue };
        if made.functions.is_empty() {
            continue;
        }
        let file = folder.join("made.so");
        std::fs::write(&file, file_of(&made, abi, address, release == "2.47.50")).expect("written");
        let prefix = match abi {
            Abi::Amd64 => "",
            Abi::S390x => "s390x-linux-gnu-",
            Abi::Aarch64Big | Abi::Aarch64Little => "aarch64-linux-gnu-",
        };
        let output = Command::new(objdump.join(format!("{prefix}objdump")))
            .arg("--sframe")
            .arg(&file)
            .output()
            .expect("objdump runs");
        let found = printed(&String::from_utf8_lossy(&output.stdout));
        for function in &made.functions {
            let expected = expected(function, abi, encoding.version());
            let found = found.get(&function.start.address);
            assert_eq!(found, Some(&expected), "{} {encoding:?}", path.display());
            rows += expected.len();
        }
        assert_eq!(found.len(), made.functions.len(), "{} {encoding:?}", path.display());
    }
    println!("objdump {release}, {encoding:?}: {rows} rows");
    Some(rows)
}

#[test]
fn objdump_reads_the_same_rows() {
    let folder = sframe_corpus::folder!("readers");
    for (release, encoding) in [
        ("2.44", Encoding::Gnu(Release::V2_44)),
        ("2.47.50", Encoding::Smallest(Version::V2)),
        ("2.47.50", Encoding::Smallest(Version::V3)),
        ("2.47.50", Encoding::Gnu(Release::V2_47_50)),
    ] {
        match read(&folder, release, encoding) {
            Some(rows) => assert!(rows > 10_000, "only {rows} rows"),
            None => return,
        }
    }
}

/// The rows that llvm-readobj prints: start address, base register, and the offsets of CFA, RA and FP.
fn read_by_llvm(text: &str) -> Vec<[String; 5]> {
    let mut rows: Vec<[String; 5]> = Vec::new();
    let mut in_row = false;
    for line in text.lines().map(str::trim) {
        if line == "Frame Row Entry {" {
            in_row = true;
            rows.push(Default::default());
        } else if line == "}" {
            in_row = false;
        }
        let (Some((name, value)), Some(row)) = (line.split_once(": "), rows.last_mut()) else {
            continue;
        };
        let names = ["Start Address", "Base Register", "CFA Offset", "RA Offset", "FP Offset"];
        if let Some(column) = names.iter().position(|known| *known == name).filter(|_| in_row) {
            row[column] = value.to_owned();
        }
    }
    rows
}

/// What llvm-readobj prints for a frame of a default row.
fn llvm_columns(start: u64, frame: &Frame, abi: Abi) -> [String; 5] {
    let Cfa::RegisterOffset { register, offset } = frame.cfa else {
        panic!("{frame}: not in version 2")
    };
    let base = if register == abi.sp() { "SP (0x1)" } else { "FP (0x0)" };
    let slot = |rule| match rule {
        Recovery::AtCfa(offset) => offset.to_string(),
        _ => String::new(),
    };
    [format!("{start:#X}"), base.to_owned(), offset.to_string(), slot(frame.ra), slot(frame.fp)]
}

/// The smallest sections of version 2, in the order of the table.
#[test]
fn llvm_readobj_reads_the_same_rows() {
    let Some(tools) = tools::toolchain("llvm-23") else { return };
    let folder = sframe_corpus::folder!("llvm-readers");
    let mut rows = 0;
    for path in files() {
        let data = std::fs::read(&path).expect("readable");
        let elf = Elf::parse(&data).expect("ELF");
        let abi = elf.abi().expect("a machine of SFrame");
        let cfi = Cfi::load_all(&elf).expect("CFI");
        let Place::Linked(address) = Place::of(&elf) else { continue };
        let encoding = Encoding::Smallest(Version::V2);
        let mut made = synthesize(&elf, &cfi, encoding, Place::Linked(address)).expect("made");
        // It has no notion of rows without words, and none of s390x's words.
        let known = |function: &Function| {
            function.rows.iter().all(|row| row.frame != Frame::OUTERMOST && abi != Abi::S390x)
        };
        if made.functions.is_empty() || !made.functions.iter().all(known) {
            continue;
        }
        let file = folder.join("made.so");
        std::fs::write(&file, file_of(&made, abi, address, true)).expect("written");
        let mut command = Command::new(tools.join("llvm-readobj"));
        let output = command.arg("--sframe").arg(&file).output().expect("llvm-readobj runs");
        let found = read_by_llvm(&String::from_utf8_lossy(&output.stdout));
        made.functions.sort_by_key(|function| function.start);
        let expected = made.functions.iter().flat_map(|function| {
            let base = if function.block.is_some() { function.start.address } else { 0 };
            let rows = function.rows.iter();
            rows.map(move |row| llvm_columns(row.start - base, &row.frame, abi))
        });
        let expected: Vec<_> = expected.collect();
        assert_eq!(found.len(), expected.len(), "{}", path.display());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{}", path.display());
        }
        rows += expected.len();
    }
    println!("llvm-readobj: {rows} rows");
    assert!(rows > 10_000, "only {rows} rows");
}
