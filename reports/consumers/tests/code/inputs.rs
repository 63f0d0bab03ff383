//! Sections: of the golden files, the malformed corpus and the conformance vectors, and their mutants.

use std::fs;

use sframe_corpus::{corpus, files, golden};
use sframe_mutate::Seeded;
use sframe_mutate::{defects, variations};
use sframe_validator::elf::Elf;
use sframe_validator::write::StoredSection;
use sframe_validator::{Abi, Placement, Section};

/// A section of a linked file.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) address: u64,
    pub(crate) machine: Abi,
}

pub(crate) fn machine_name(machine: Abi) -> &'static str {
    match machine {
        Abi::Amd64 => "amd64",
        Abi::Aarch64Little => "aarch64",
        Abi::Aarch64Big => "aarch64_be",
        Abi::S390x => "s390x",
    }
}

fn machine_named(name: &str) -> Abi {
    Abi::ALL.into_iter().find(|abi| machine_name(*abi) == name).expect("a machine of the vectors")
}

/// The sections of ELF files; objects count as linked at address 0.
fn of_elf(name: &str, data: &[u8]) -> Vec<Sample> {
    let Ok(elf) = Elf::parse(data) else { return Vec::new() };
    let contents = elf.sframe_contents();
    let found = contents.filter_map(|section| {
        let bytes = section.data.ok()?;
        let address = section.header.address;
        let machine = Section::parse(bytes, Placement::at(address)).ok()?.abi().ok()?;
        Some(Sample { name: name.to_owned(), bytes: bytes.to_vec(), address, machine })
    });
    found.collect()
}

/// The golden sections.
pub(crate) fn golden_sections() -> Vec<Sample> {
    let paths = golden(&["exe", "so", "o"]);
    let samples: Vec<Sample> = paths
        .iter()
        .flat_map(|path| of_elf(&path.display().to_string(), &fs::read(path).expect("readable")))
        .collect();
    assert!(samples.len() > 200, "{} golden sections", samples.len());
    samples
}

/// The malformed corpus: bare sections, and those in ELF files.
pub(crate) fn malformed() -> Vec<Sample> {
    let mut samples = Vec::new();
    for path in files(&corpus().join("malformed")) {
        let (name, data) = (path.display().to_string(), fs::read(&path).expect("readable"));
        let found = of_elf(&name, &data);
        if found.is_empty() && path.extension().is_some_and(|kind| kind == "sframe") {
            let parsed = Section::parse(&data, Placement::at(0x10_0000));
            let machine = parsed.ok().and_then(|section| section.abi().ok()).unwrap_or(Abi::Amd64);
            samples.push(Sample { name, bytes: data, address: 0x10_0000, machine });
        }
        samples.extend(found);
    }
    assert!(samples.len() > 60, "{} malformed sections", samples.len());
    samples
}

/// The conformance vectors.
pub(crate) fn vectors() -> Vec<Sample> {
    let all = sframe_conformance::vectors();
    let sample = |vector: sframe_conformance::Vector| Sample {
        bytes: vector.section.bytes().expect("hexadecimal"),
        address: vector.section.address.0,
        machine: machine_named(&vector.section.machine),
        name: vector.name,
    };
    all.into_iter().map(sample).collect()
}

/// A mutant: damaged bytes, or a section with defects or variations.
pub(crate) fn mutant(sample: &Sample, random: &mut Seeded) -> Sample {
    let mut bytes = sample.bytes.clone();
    let structured = random.below(3) != 0;
    if structured && let Some(mut parts) = StoredSection::read(&bytes, sample.address) {
        let defects: Vec<_> = defects().collect();
        let variations: Vec<_> = variations().collect();
        for _ in 0..1 + random.below(2) {
            if random.below(4) == 0 {
                variations[random.below(variations.len())].apply(&mut parts, random);
            } else {
                defects[random.below(defects.len())].apply(&mut parts, random);
            }
        }
        bytes = parts.bytes();
    } else {
        bytes = random.damaged(&bytes);
    }
    // Most mutants of a version are for the readers of that version; some are for others.
    if random.below(16) == 0 && bytes.len() > 3 {
        bytes[2] = [1, 2, 3, 4][random.below(4)];
        bytes[3] ^= [0, 1, 4, 5][random.below(4)];
    }
    Sample { bytes, name: sample.name.clone(), ..*sample }
}

/// Sections of versions 2 and 3 with one function, whose info byte or whose first row's info byte has each value.
pub(crate) fn every_info_byte() -> Vec<Sample> {
    let mut samples = Vec::new();
    for version in [2u8, 3] {
        for value in 0..=u8::MAX {
            samples.push(with_info(version, value, 0x03));
            samples.push(with_info(version, 0, value));
        }
    }
    samples
}

fn with_info(version: u8, function_info: u8, row_info: u8) -> Sample {
    let (address, start) = (0x40_2000u64, 0x40_1000i64);
    let mut rows = vec![0, row_info];
    rows.extend((1..=60u8).map(|word| word.wrapping_mul(8)));
    let mut bytes = vec![0xe2, 0xde, version, 5, 3, 0, 0xf8, 0, 1, 0, 0, 0, 1, 0, 0, 0];
    let attributes = [1, 0, function_info, 0, 16];
    let (entry, extra) = if version == 3 { (16u32, 5) } else { (20, 0) };
    let length = u32::try_from(rows.len()).expect("small") + extra;
    bytes.extend([length, 0, entry].into_iter().flat_map(u32::to_le_bytes));
    let relative = start - i64::try_from(address).expect("low") - 28;
    if version == 3 {
        bytes.extend(relative.to_le_bytes());
        bytes.extend([0x40, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend(attributes);
    } else {
        bytes.extend(i32::try_from(relative).expect("near").to_le_bytes());
        bytes.extend([0x40, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, function_info, 16, 0, 0]);
    }
    bytes.extend(rows);
    let name = format!("version {version}, infos {function_info:#x} and {row_info:#x}");
    Sample { name, bytes, address, machine: Abi::Amd64 }
}
