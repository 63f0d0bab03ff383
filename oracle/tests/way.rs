//! The way from an entry of a function to an instruction is one that the processor can take: each instruction comes after the one
//! before it in the file, or is the target of its jump. iced-x86 decodes them for this test; instructions of AArch64 have 4 bytes.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

mod common;

use common::open;
use iced_x86::{Decoder, DecoderOptions, FlowControl};
use sframe_oracle::code::{Arrival, Program, ProvenRow, WayStep};
use sframe_validator::Abi;
use sframe_validator::elf::Elf;

/// The instruction of a step, decoded independently.
fn decoded(elf: &Elf<'_>, step: &WayStep) -> iced_x86::Instruction {
    let bytes = elf.code_bytes(step.place, step.length).expect("in the file");
    Decoder::with_ip(64, bytes, step.place.address, DecoderOptions::NONE).decode()
}

/// Whether control can go from one instruction to the next as the way says.
fn follows(elf: &Elf<'_>, before: &WayStep, step: &WayStep) -> bool {
    let is_next = before.place.address + before.length == step.place.address;
    if elf.abi() != Some(Abi::Amd64) {
        return step.length == 4 && (is_next || step.arrival != Arrival::Following);
    }
    let instruction = decoded(elf, before);
    assert_eq!(instruction.len() as u64, before.length);
    let flow = instruction.flow_control();
    let is_target = instruction.near_branch_target() == step.place.address;
    match step.arrival {
        Arrival::Entry(_) => false,
        Arrival::Following => {
            is_next && !matches!(flow, FlowControl::UnconditionalBranch | FlowControl::Return)
        }
        Arrival::Jump => match flow {
            FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => is_target,
            FlowControl::IndirectBranch => true,
            _ => false,
        },
        Arrival::Exception => matches!(flow, FlowControl::Call | FlowControl::IndirectCall),
    }
}

/// Whether everything that is known after a join is known on one of the edges that meet there.
fn is_known_by(after: &ProvenRow, on_edge: &ProvenRow) -> bool {
    let cfa = after.cfa.is_none_or(|cfa| on_edge.cfa == Some(cfa));
    let ra = after.ra.is_none() || on_edge.ra.is_some();
    cfa && ra && (after.fp.is_none() || on_edge.fp.is_some())
}

#[test]
fn ways_are_those_of_the_processor() {
    let (mut places, mut jumps, mut joins, mut edges_seen) = (0, 0, 0, 0);
    for file in [
        "golden/2.44/x86_64/shared.so",
        "golden/2.44/x86_64/static.exe",
        "golden/2.44/x86_64/handwritten.so",
        "golden/2.44/aarch64/shared.so",
    ] {
        let data = sframe_corpus::read(file);
        open(&data, |elf, sections, cfi| {
            let code = Program::of(elf, sections, cfi).expect("its code is examined");
            for range in code.functions() {
                let Some(mut function) = code.function(range.start) else { continue };
                let mut reached = Vec::new();
                function.visit(range.start.address..range.end, |start, _, facts| {
                    reached.push((start, facts.proven_row()));
                });
                for (address, row) in reached.clone() {
                    let way = code.way_to(&mut function, address, &[]);
                    let way = way.unwrap_or_else(|| panic!("{file}: no way to {address:#x}"));
                    let last = way.last().expect("an instruction");
                    assert_eq!((last.place.address, last.row), (address, row), "{file}");
                    assert!(matches!(way[0].arrival, Arrival::Entry(_)), "{file}: {:?}", way[0]);
                    for pair in way.windows(2) {
                        assert!(follows(elf, &pair[0], &pair[1]), "{file}: {pair:#x?}");
                        jumps += usize::from(pair[1].arrival == Arrival::Jump);
                    }
                    joins += way.iter().filter(|step| step.ways > 1).count();
                    let edges = code.edges_to(&mut function, address, &[]);
                    assert!(last.ways >= edges.len(), "{file}: {last:#x?} {edges:#x?}");
                    for edge in &edges {
                        let is_before = reached.iter().any(|(it, _)| *it == edge.from.address);
                        assert!(
                            is_before
                                || !(range.start.address..range.end).contains(&edge.from.address)
                        );
                        assert!(is_known_by(&row, &edge.row), "{file}: {row:?} {edge:#x?}");
                        edges_seen += 1;
                    }
                    places += 1;
                }
            }
        });
    }
    println!("{places} places, {jumps} jumps, {joins} joins, {edges_seen} edges");
    assert!(places > 500 && jumps > 200 && joins > 100, "{places}, {jumps}, {joins}");
    assert!(edges_seen > 50, "{edges_seen}");
}
