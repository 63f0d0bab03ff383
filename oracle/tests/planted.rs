//! Errors planted in the CFI of real libraries are found, and nothing else is accused: one rule, offset, register or row of a function
//! is changed, where the machine code decides what is changed; for a rule that is left out, where it knows the slot. `SFRAME_PLANTED` is the number of errors for each library, and
//! `SFRAME_SEED` makes others.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use sframe_corpus::tools;
use sframe_oracle::cfi::{Cfi, Fde, Instruction, Kind, RowContext};
use sframe_oracle::code::{Function, KnownFacts, Program, Truth};
use sframe_oracle::compare::{function_as_described, wrong_rules};
use sframe_validator::Abi;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{Frame, Recovery, Register};

/// Libraries that Debian and its cross compiler install.
const LIBRARIES: [&str; 10] = [
    "/usr/lib/x86_64-linux-gnu/libc.so.6",
    "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
    "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
    "/usr/lib/x86_64-linux-gnu/libm.so.6",
    "/usr/lib/x86_64-linux-gnu/libzstd.so.1",
    "/usr/aarch64-linux-gnu/lib/libc.so.6",
    "/usr/aarch64-linux-gnu/lib/libm.so.6",
    "/usr/aarch64-linux-gnu/lib/libstdc++.so.6",
    "/usr/aarch64-linux-gnu/lib/libgomp.so.1",
    "/usr/aarch64-linux-gnu/lib/libasan.so.8",
];

/// Numbers that look random, the same for a seed (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).expect("31 bits") % limit
    }
}

/// A change of some bytes of a section, at their offset.
#[derive(Clone, Debug)]
struct Change {
    kind: &'static str,
    offset: u64,
    bytes: Vec<u8>,
}

/// The changes of an instruction, which has these bytes, that keep its length.
fn changes(instruction: Instruction, offset: u64, bytes: &[u8], abi: Abi) -> Vec<Change> {
    let change = |kind, bytes: Vec<u8>| Change { kind, offset, bytes };
    let with_last = |last: u8| [&bytes[..bytes.len() - 1], &[last]].concat();
    let is_kept = |register: Register| {
        let kept: &[u32] = match abi {
            Abi::Amd64 => &[3, 6, 12, 13, 14, 15, 16],
            _ => &[19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 72, 73, 74, 75, 76, 77, 78, 79],
        };
        kept.contains(&register.0)
    };
    let last = bytes[bytes.len() - 1];
    let step: u8 = if abi == Abi::Amd64 { 8 } else { 16 };
    match instruction {
        Instruction::DefCfaOffset(offset) if (32..96).contains(&offset) => vec![
            change("CFA: offset", with_last(last + step)),
            change("CFA: offset", with_last(last - step)),
            change("CFA: left out", vec![0; bytes.len()]),
        ],
        Instruction::DefCfa(_, offset) if (32..96).contains(&offset) => {
            vec![change("CFA: offset", with_last(last + step))]
        }
        Instruction::DefCfaRegister(_) => vec![change("CFA: left out", vec![0; bytes.len()])],
        Instruction::Offset(register, slot) if is_kept(register) && (2..60).contains(&slot) => {
            let mut all = vec![
                change("rule: left out", vec![0; bytes.len()]),
                change("rule: offset", with_last(last + 1)),
            ];
            if bytes.len() == 2 {
                let other = if abi == Abi::Amd64 { register.0 ^ 1 } else { register.0 ^ 3 };
                let code = 0x80 | u8::try_from(other & 0x3f).expect("6 bits");
                all.push(change("rule: register", vec![code, last]));
            }
            all
        }
        Instruction::Restore(register) if is_kept(register) => {
            vec![change("restore: left out", vec![0; bytes.len()])]
        }
        Instruction::AdvanceLoc(delta) if bytes.len() == 1 && (8..0x30).contains(&delta) => {
            // On AArch64 the code factor is 4 or 1.
            vec![change("row: too late", vec![bytes[0] + 4])]
        }
        _ => Vec::new(),
    }
}

/// The instructions of a function with their offsets in the section and their bytes.
fn instructions<'c>(function: &Fde<'c>) -> Vec<(Instruction, u64, &'c [u8])> {
    let data = function.cfi().data();
    let mut all = Vec::new();
    let mut rest = function.instructions();
    loop {
        let start = rest.offset();
        let Some(Ok(instruction)) = rest.next() else { return all };
        let range =
            usize::try_from(start).expect("small")..usize::try_from(rest.offset()).expect("small");
        all.push((instruction, start, data.get(range).expect("in the section")));
    }
}

/// What CFI says at the addresses of instructions, and what the code proves there.
struct Place {
    frame: Option<Frame>,
    rules: Vec<Option<Recovery>>,
    truth: Truth,
    known: Vec<Option<Recovery>>,
}

fn registers(abi: Abi) -> Vec<Register> {
    let numbers: Vec<u32> = match abi {
        Abi::Amd64 => vec![3, 12, 13, 14, 15],
        _ => (19..29).chain(72..80).collect(),
    };
    numbers.into_iter().map(Register).collect()
}

/// The rows and rules of CFI, and what the code proves, at each instruction of the function that is reached.
fn places(function: &mut Function<'_>, fde: &Fde<'_>, abi: Abi) -> BTreeMap<u64, Place> {
    let mut context = RowContext::new(fde.cfi());
    let rows: Vec<_> = fde.rows(&mut context).flatten().collect();
    let registers = registers(abi);
    let mut places = BTreeMap::new();
    let (start, end) = (fde.start().address, fde.start().address + fde.size());
    function.visit(start..end, |address, _, facts: KnownFacts<'_>| {
        let frame = rows.iter().find(|row| row.contains(address)).map(|row| row.frame);
        places.insert(
            address,
            Place {
                frame,
                rules: registers.iter().map(|it| fde.rule(*it, address)).collect(),
                truth: frame.map_or(Truth::Unknown, |frame| facts.judge(&frame).whole()),
                known: registers.iter().map(|it| facts.recovery(*it)).collect(),
            },
        );
    });
    places
}

/// The outcome of a planted error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The change means the same, or the code does not decide what was changed.
    NoError,
    Found,
    Missed,
}

/// Plants an error in a function, whose unchanged places are known. Panics if something else is accused.
fn plant(
    data: &[u8],
    section: u64,
    change: &Change,
    before: &BTreeMap<u64, Place>,
    start: u64,
) -> Outcome {
    let mut changed = data.to_vec();
    let first = usize::try_from(section + change.offset).expect("small");
    changed[first..first + change.bytes.len()].copy_from_slice(&change.bytes);
    let elf = Elf::parse(&changed).expect("ELF");
    let abi = elf.abi().expect("known");
    let cfi = Cfi::load_all(&elf).expect("readable");
    let code = Program::for_few(&elf, &[], &cfi).expect("examined");
    let found = cfi.iter().flat_map(Cfi::functions).find(|fde| fde.start().address == start);
    let fde = found.expect("the function is still there");
    let Some(mut function) = code.function(fde.start()) else { return Outcome::NoError };
    let after = places(&mut function, &fde, abi);
    let has_rule = |index: usize| {
        after.values().any(|place| place.rules[index].is_some_and(|it| it != Recovery::Unchanged))
    };
    let is_kept: Vec<bool> = registers(abi)
        .into_iter()
        .enumerate()
        .map(|(index, register)| has_rule(index) || function.restores(register))
        .collect();
    // Where the code decides what was changed.
    let mut is_error = false;
    let mut differs = |address: u64| -> bool {
        let (Some(old), Some(new)) = (before.get(&address), after.get(&address)) else {
            return true;
        };
        let frame = old.frame != new.frame;
        let rule = (0..old.rules.len()).find(|it| old.rules[*it] != new.rules[*it]);
        is_error |= frame && old.truth == Truth::Proven;
        is_error |= rule.is_some_and(|it| {
            let is_stated = old.rules[it] == old.known[it] && old.known[it].is_some();
            // A register that still holds its value is in its slot as well.
            is_stated
                && old.known[it] != Some(Recovery::Unchanged)
                && new.rules[it].is_some()
                && is_kept[it]
        });
        frame || rule.is_some()
    };
    let changed_at: Vec<u64> = before.keys().copied().filter(|it| differs(*it)).collect();
    if !is_error {
        return Outcome::NoError;
    }
    let Some(mut function) = function_as_described(&code, &elf, &[], &cfi, fde.start()) else {
        return Outcome::Missed;
    };
    let mut accused: Vec<u64> = Vec::new();
    for (address, place) in places(&mut function, &fde, abi) {
        let was_accused = before.get(&address).is_some_and(|old| old.truth == Truth::Refuted);
        accused.extend((place.truth == Truth::Refuted && !was_accused).then_some(address));
    }
    for wrong in wrong_rules(&mut function, &elf, &cfi) {
        for rule in wrong.rules {
            accused.extend(after.keys().filter(|it| (rule.start..rule.end).contains(it)));
        }
    }
    let others: Vec<_> = accused.iter().filter(|it| !changed_at.contains(it)).collect();
    assert!(others.is_empty(), "{change:x?} at {start:#x}: also accused: {others:x?}");
    if accused.is_empty() { Outcome::Missed } else { Outcome::Found }
}

#[test]
fn planted_errors_are_found() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let wanted = usize::try_from(number("SFRAME_PLANTED").unwrap_or(5)).expect("small");
    let seed = number("SFRAME_SEED").unwrap_or(1);
    let (mut planted, mut missed) = (0, Vec::new());
    for library in LIBRARIES {
        let Ok(data) = std::fs::read(Path::new(library)) else {
            tools::skipped::note(library, "corpus/install-tools");
            continue;
        };
        let elf = Elf::parse(&data).expect("ELF");
        let abi = elf.abi().expect("known");
        let cfi = Cfi::load_all(&elf).expect("readable");
        let table = cfi.iter().find(|it| it.kind() == Some(Kind::EhFrame)).expect("CFI");
        let section = elf.section(table.section()).expect("a section").offset;
        let code = Program::for_few(&elf, &[], &cfi).expect("examined");
        let functions: Vec<Fde<'_>> = table.functions().collect();
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut here: BTreeMap<&str, usize> = BTreeMap::new();
        for _ in 0..wanted * 200 {
            if here.values().sum::<usize>() >= wanted {
                break;
            }
            let fde = functions[random.below(functions.len())];
            let all: Vec<Change> = instructions(&fde)
                .into_iter()
                .flat_map(|(it, offset, bytes)| changes(it, offset, bytes, abi))
                .collect();
            if all.is_empty() || fde.size() > 1 << 11 {
                continue;
            }
            let change = &all[random.below(all.len())];
            let Some(mut function) = function_as_described(&code, &elf, &[], &cfi, fde.start())
            else {
                continue;
            };
            let before = places(&mut function, &fde, abi);
            // Real errors are no place for others.
            if before.values().any(|place| place.truth == Truth::Refuted)
                || !wrong_rules(&mut function, &elf, &cfi).is_empty()
            {
                continue;
            }
            let start = fde.start().address;
            match plant(&data, section, change, &before, start) {
                Outcome::NoError => {}
                outcome => {
                    *here.entry(change.kind).or_default() += 1;
                    planted += 1;
                    if outcome == Outcome::Missed {
                        missed.push(format!("{library} {start:#x}: {change:x?}"));
                    }
                }
            }
        }
        println!("{library}: {here:?}");
    }
    println!("{planted} planted, {} missed: {missed:#?}", missed.len());
    // At least 98 %: where a register may still hold its value on one of several ways, "unchanged" is undecided.
    assert!(missed.len() * 50 <= planted, "{} of {planted} missed: {missed:#?}", missed.len());
}
