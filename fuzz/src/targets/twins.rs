//! Compares CFI with SFrame of twins: without a fault there are no differences, and with a seeded fault exactly that
//! fault is reported.

use std::ops::Range;

use sframe_oracle::cfi::Cfi;
use sframe_oracle::compare::{Totals, compare};
use sframe_validator::elf::Elf;
use sframe_validator::{Placement, Section, Version};

use crate::twin::{Disagreement, FAULTS, Fault, Twin, push};
use sframe_mutate::Seeded;

/// Builds the twin that `data` encodes, and a twin with a fault.
///
/// # Panics
/// Panics if the comparison reports anything other than the expected differences.
pub fn run(data: &[u8]) {
    let (head, entropy) = data.split_at(data.len().min(8));
    let mut seed = [0; 8];
    seed[..head.len()].copy_from_slice(head);
    let version = Version::ALL[usize::from(seed[0]) % 3];
    let twin = Twin::new(entropy, version);
    let limited = twin.program.signal && version < Version::V3;
    let found = disagreements(&twin).expect("a section for every program");
    assert!(limited || found.is_empty(), "{found:x?}: {twin:#x?}");
    let mut random = Seeded::new(u64::from_le_bytes(seed));
    let fault = &FAULTS[usize::from(seed[1]) % FAULTS.len()];
    fault_is_reported(fault, &twin, &mut random);
}

/// Makes the fault and compares. Returns whether the fault could be made.
///
/// # Panics
/// Panics if the comparison reports anything other than the fault.
pub fn fault_is_reported(fault: &Fault, twin: &Twin, random: &mut Seeded) -> bool {
    let Some(faulty) = fault.make(twin, random) else { return false };
    let Some(found) = disagreements(&faulty) else { return false };
    assert_ne!(found, twin.expected(), "{}: {faulty:#x?}", fault.name);
    true
}

/// The ranges that the comparison reports, which must be the expected ones; `None` if the section cannot be written.
fn disagreements(twin: &Twin) -> Option<Vec<Disagreement>> {
    let file = twin.file()?;
    let elf = Elf::parse(&file).expect("a valid file");
    let header = elf.sframe_sections().next().expect("one section");
    let data = elf.section_data(header).expect("in the file");
    let placement = Placement::at(header.address).with_abi(elf.abi());
    let sections = [Section::parse(data, placement).expect("a valid header")];
    let cfi = Cfi::load_all(&elf).expect("a linked file");
    assert!(cfi.iter().all(|cfi| cfi.defects().is_empty()), "{:?}", cfi[0].defects());
    let mut found = Vec::new();
    let totals = compare(&elf, &sections, &cfi, |range| {
        push(&mut found, (range.start, range.end, range.verdict));
    });
    assert_eq!(found, twin.expected(), "{twin:#x?}");
    whole(twin, &totals);
    Some(found)
}

/// Checks that every byte of code has a verdict, and that neither side describes code outside functions.
fn whole(twin: &Twin, totals: &Totals) {
    let Range { start, end } = twin.code();
    let functions: u64 = twin.program.functions.iter().map(|f| u64::from(f.size)).sum();
    let sums = totals.bytes;
    assert_eq!(sums.total(), end - start);
    assert_eq!(sums.neither, end - start - functions);
    assert_eq!((sums.undecided, sums.only_sframe, totals.functions.unplaced), (0, 0, 0));
}
