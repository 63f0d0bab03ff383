//! Tests with seeded defects: one offset, base register, row start, function start, size or flag at a time is changed
//! in real sections. Every change of the values that a PC recovers must change the verdict at that PC, and no other
//! verdict may change. The recovered values come from looking up each PC, like an unwinder, and not from the sweep.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

mod common;

use std::collections::BTreeMap;

use common::golden;
use sframe_oracle::cfi::Cfi;
use sframe_oracle::compare::{Verdict, compare};
use sframe_validator::elf::Elf;
use sframe_validator::section::{FieldPlace, FrameRowEntry, Function, FunctionField};
use sframe_validator::unwind::{CodeAddress, Frame};
use sframe_validator::{Endian, Placement, Section, Version};

/// A change of one field.
struct Perturbation {
    kind: &'static str,
    /// The offset in the section, and the size in bytes.
    place: (u64, u64),
    change: Change,
}

#[derive(Clone, Copy)]
enum Change {
    Add(i64),
    Flip(u8),
}

/// The result of an unwinder's look-up of a PC; an error if it cannot read the function.
type Recovered = Result<Option<(Frame, bool, bool)>, ()>;

/// Facts about a file, PC by PC.
struct Known {
    recovered: Vec<Recovered>,
    verdicts: Vec<Verdict>,
}

fn look_up(section: &Section<'_>, pc: u64) -> Recovered {
    let function = section.find_function(CodeAddress::absolute(pc)).map_err(|_| ())?;
    let Some(function) = function else { return Ok(None) };
    let row = function.find_row(pc).map_err(|_| ())?;
    let key_b = function.attributes().info.pauth_key_b();
    Ok(row.map(|row| (row.frame, function.is_signal_frame(), row.frame.ra_signed && key_b)))
}

/// The addresses of all code, one by one.
fn pcs(elf: &Elf<'_>) -> Vec<u64> {
    elf.code_sections().flat_map(|s| s.address..s.address + s.size).collect()
}

fn known(data: &[u8]) -> Known {
    let elf = Elf::parse(data).expect("ELF");
    let pcs = pcs(&elf);
    let header = *elf.sframe_sections().next().expect("a section");
    let placement = Placement::at(header.address).with_abi(elf.abi());
    let section = Section::parse(elf.section_data(&header).expect("bytes"), placement);
    let sections = [section.expect("the header is not touched")];
    let cfi = Cfi::load_all(&elf).expect("readable");
    let mut verdicts = vec![Verdict::Equal; pcs.len()];
    let totals = compare(&elf, &sections, &cfi, |range| {
        for pc in range.start..range.end {
            let place = pcs.binary_search(&pc).expect("a range of code");
            verdicts[place] = range.verdict;
        }
    });
    assert_eq!(totals.bytes.total(), pcs.len() as u64);
    let recovered = pcs.iter().map(|pc| look_up(&sections[0], *pc)).collect();
    Known { recovered, verdicts }
}

/// The perturbations of a section that do not change the order of functions and rows, because a reader's search relies
/// on it.
fn perturbations(section: &Section<'_>) -> Vec<Perturbation> {
    let unit = i64::from(section.abi().expect("known").instruction_alignment());
    let entries: Vec<_> = section.entries().collect();
    let mut all = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        let function = entry.function().expect("sound");
        let start = entry.start().expect("linked").address;
        let end = start + u64::from(entry.size());
        let next = entries.get(number + 1).map_or(u64::MAX, |e| e.start().expect("linked").address);
        let before = number.checked_sub(1).map_or(0, |number| {
            let before = &entries[number];
            before.start().expect("linked").address + u64::from(before.size())
        });
        let mut add = |kind, place: FieldPlace, change| {
            all.push(Perturbation { kind, place: (place.offset, place.size), change });
        };
        let room = |bytes: u64| bytes >= unit as u64;
        if room(next - end) {
            add("function start", entry.field(FunctionField::Start), Change::Add(unit));
            add("function size", entry.field(FunctionField::Size), Change::Add(unit));
        }
        if room(start - before) {
            add("function start", entry.field(FunctionField::Start), Change::Add(-unit));
        }
        if i64::from(entry.size()) > unit {
            add("function size", entry.field(FunctionField::Size), Change::Add(-unit));
        }
        let info = entry.field(FunctionField::Info);
        if section.abi().is_ok_and(|abi| abi.is_aarch64()) {
            add("key flag", info, Change::Flip(0x20));
        }
        // An entry without rows is lost coverage, with or without the mark.
        if section.header().version == Version::V3 && function.num_rows() > 0 {
            add("signal flag", info, Change::Flip(0x80));
        }
        of_rows(&function, unit, &mut all);
    }
    all
}

fn of_rows(function: &Function<'_>, unit: i64, all: &mut Vec<Perturbation>) {
    let rows: Vec<FrameRowEntry<'_>> =
        function.frame_row_entries().expect("sound").map(|row| row.expect("sound")).collect();
    let size = match function.repeat_size() {
        Ok(Some(block)) => u32::from(block),
        _ => function.size(),
    };
    for (number, row) in rows.iter().enumerate() {
        let next = rows.get(number + 1).map_or(size, |next| next.start);
        let mut add = |kind, place, change| all.push(Perturbation { kind, place, change });
        let width = row.fre_type.width() as u64;
        if i64::from(next) - i64::from(row.start) > unit {
            add("row start", (row.offset, width), Change::Add(unit));
        }
        if !function.is_flexible() {
            add("base register", (row.info_offset(), 1), Change::Flip(1));
        }
        if function.section().abi().is_ok_and(|abi| abi.is_aarch64()) {
            add("signed flag", (row.info_offset(), 1), Change::Flip(0x80));
        }
        // In flexible rows, every second word is an offset, and the others are control words.
        let first = usize::from(function.is_flexible());
        for word in (first..row.words.count()).step_by(1 + first) {
            let place = (row.word_offset(word), u64::from(row.words.size()));
            add("offset", place, Change::Add(8));
            add("offset", place, Change::Add(-8));
        }
    }
}

/// The file with one changed field in its section, which is at file offset `section`.
fn perturbed(data: &[u8], section: u64, endian: Endian, change: &Perturbation) -> Vec<u8> {
    let (offset, size) = change.place;
    let from = (section + offset) as usize;
    let mut data = data.to_vec();
    let field = &mut data[from..from + size as usize];
    match change.change {
        Change::Flip(bits) => field[0] ^= bits,
        Change::Add(number) => {
            if endian == Endian::Big {
                field.reverse();
            }
            let mut bytes = [0; 8];
            bytes[..field.len()].copy_from_slice(field);
            let shift = 64 - 8 * field.len();
            let value = u64::from_le_bytes(bytes).wrapping_add_signed(number) << shift >> shift;
            field.copy_from_slice(&value.to_le_bytes()[..field.len()]);
            if endian == Endian::Big {
                field.reverse();
            }
        }
    }
    data
}

/// The number of perturbations that changed the values recovered at some PC, all of which were reported at exactly
/// those PCs, and the number of those that changed nothing.
#[derive(Clone, Copy, Default)]
struct Score {
    reported: u64,
    silent: u64,
}

fn of_file(name: &str, scores: &mut BTreeMap<&'static str, Score>) {
    let data = golden(name);
    let elf = Elf::parse(&data).expect("ELF");
    let header = *elf.sframe_sections().next().expect("a section");
    let placement = Placement::at(header.address).with_abi(elf.abi());
    let bytes = elf.section_data(&header).expect("bytes");
    let section = Section::parse(bytes, placement).expect("sound");
    let before = known(&data);
    for change in perturbations(&section) {
        let after = known(&perturbed(&data, header.offset, elf.endian(), &change));
        let what = format!("{name}: {} at {:#x}", change.kind, change.place.0);
        let mut differing = 0;
        for (number, pc) in pcs(&elf).into_iter().enumerate() {
            let (old, new) = (&before.recovered[number], &after.recovered[number]);
            let (was, is) = (before.verdicts[number], after.verdicts[number]);
            // A block in version 1, whose size a reader must guess.
            if old.is_err() && new.is_err() {
                continue;
            }
            if old == new {
                assert_eq!(was, is, "{what}: {pc:#x} recovers what it did");
                continue;
            }
            differing += 1;
            // If SFrame and CFI agreed, they no longer do. If CFI has no rule, it is visible whether SFrame gained or
            // lost one.
            let seen = match was {
                Verdict::Equal | Verdict::Limited(_) => is != was,
                Verdict::Neither => is == Verdict::OnlySframe,
                Verdict::OnlyCfi => is != Verdict::OnlyCfi || new == &Ok(None),
                Verdict::OnlySframe | Verdict::Different(_) | Verdict::Undecided => true,
            };
            assert!(seen, "{what}: {pc:#x} recovers {new:?} for {old:?}, and is still {is:?}");
        }
        let score = scores.entry(change.kind).or_default();
        score.reported += u64::from(differing > 0);
        score.silent += u64::from(differing == 0);
    }
}

#[test]
fn every_change_of_recovered_values_is_reported_at_its_pcs() {
    let mut scores = BTreeMap::new();
    for (version, machines) in [
        ("2.40", &["x86_64", "aarch64", "aarch64_be"][..]),
        ("2.44", &["x86_64", "aarch64", "aarch64_be"]),
        ("2.47.50", &["x86_64", "aarch64", "aarch64_be", "s390x"]),
    ] {
        for machine in machines {
            for file in ["throw.so", "handwritten.so"] {
                of_file(&format!("{version}/{machine}/{file}"), &mut scores);
            }
        }
    }
    for (kind, Score { reported, silent }) in &scores {
        println!("{kind}: {reported} of {reported} reported, {silent} change nothing");
        assert!(*reported > 0, "{kind}");
    }
    let kinds: Vec<_> = scores.keys().copied().collect();
    let wanted = [
        "base register",
        "function size",
        "function start",
        "key flag",
        "offset",
        "row start",
        "signal flag",
        "signed flag",
    ];
    assert_eq!(kinds, wanted);
}
