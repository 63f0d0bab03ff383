//! Twins: the comparison of CFI with SFrame has nothing to tell, and of a seeded fault exactly that.

use std::ops::Range;

use sframe_oracle::cfi::Cfi;
use sframe_oracle::compare::{Totals, compare};
use sframe_validator::elf::Elf;
use sframe_validator::{Placement, Section, Version};

use crate::seeded::Seeded;
use crate::twin::{FAULTS, Fault, Told, Twin, push};

/// Builds the twin that `data` stands for, and one with a fault.
///
/// # Panics
/// Where the comparison tells anything else than what was put in.
pub fn run(data: &[u8]) {
    let (head, entropy) = data.split_at(data.len().min(8));
    let mut seed = [0; 8];
    seed[..head.len()].copy_from_slice(head);
    let version = Version::ALL[usize::from(seed[0]) % 3];
    let twin = Twin::new(entropy, version);
    let limited = twin.program.signal && version < Version::V3;
    let told = told(&twin).expect("a section for every program");
    assert!(limited || told.is_empty(), "{told:x?}: {twin:#x?}");
    let mut random = Seeded::new(u64::from_le_bytes(seed));
    let fault = &FAULTS[usize::from(seed[1]) % FAULTS.len()];
    fault_is_told(fault, &twin, &mut random);
}

/// Makes the fault, and compares; whether there was a place for it.
///
/// # Panics
/// Where the comparison tells anything else than the fault.
pub fn fault_is_told(fault: &Fault, twin: &Twin, random: &mut Seeded) -> bool {
    let Some(faulty) = fault.make(twin, random) else { return false };
    let Some(told) = told(&faulty) else { return false };
    assert_ne!(told, twin.expected(), "{}: {faulty:#x?}", fault.name);
    true
}

/// What the comparison tells, which has to be what is expected; `None` where the section cannot be
/// written.
fn told(twin: &Twin) -> Option<Vec<Told>> {
    let file = twin.file()?;
    let elf = Elf::parse(&file).expect("a sound file");
    let header = elf.sframe_sections().next().expect("one section");
    let data = elf.section_data(header).expect("in the file");
    let placement = Placement::at(header.address).with_abi(elf.abi());
    let sections = [Section::parse(data, placement).expect("a sound header")];
    let cfi = Cfi::load_all(&elf).expect("a linked file");
    assert!(cfi.iter().all(|cfi| cfi.defects().is_empty()), "{:?}", cfi[0].defects());
    let mut told = Vec::new();
    let totals = compare(&elf, &sections, &cfi, |range| {
        push(&mut told, (range.start, range.end, range.verdict));
    });
    assert_eq!(told, twin.expected(), "{twin:#x?}");
    whole(twin, &totals);
    Some(told)
}

/// Every byte of code has a verdict, and what no function has is nobody's.
fn whole(twin: &Twin, totals: &Totals) {
    let Range { start, end } = twin.code();
    let functions: u64 = twin.program.functions.iter().map(|f| u64::from(f.size)).sum();
    let sums = totals.bytes;
    assert_eq!(sums.total(), end - start);
    assert_eq!(sums.neither, end - start - functions);
    assert_eq!((sums.undecided, sums.only_sframe, totals.functions.unplaced), (0, 0, 0));
}
