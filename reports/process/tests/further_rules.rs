//! The rules of CFI for all registers, for the linked files of the golden corpus. The truth is gimli's table of rows.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeMap;

use gimli::{
    BaseAddresses, EhFrame, EndianSlice, RegisterRule, RunTimeEndian, UnwindContext, UnwindSection,
    UnwindTableRow,
};
use sframe_corpus::golden;
use sframe_process::{FurtherRules, Mapping, Modules, Witness};
use sframe_validator::elf::{Elf, PT_LOAD};
use sframe_validator::unwind::{Expression, Recovery, Register};
use sframe_validator::{Abi, Endian};

/// The registers that functions preserve, by the names of their ABIs.
fn preserved(abi: Abi) -> Vec<u32> {
    match abi {
        // rbx, r12, r13, r14, r15.
        Abi::Amd64 => vec![3, 12, 13, 14, 15],
        // x19 to x28.
        Abi::Aarch64Little | Abi::Aarch64Big => (19..29).collect(),
        // r6 to r10, r12, r13; f8, f10, f12, f14, f9, f11, f13, f15.
        Abi::S390x => [6, 7, 8, 9, 10, 12, 13].into_iter().chain(24..32).collect(),
    }
}

type Section<'a> = EhFrame<EndianSlice<'a, RunTimeEndian>>;
type Rule = RegisterRule<usize>;

/// A rule of gimli in our words; expressions by their place.
fn rule(rule: &Rule) -> Option<Recovery> {
    let expression = |found: &gimli::UnwindExpression<usize>| Expression {
        offset: found.offset.try_into().expect("a small section"),
        length: found.length.try_into().expect("a small section"),
    };
    Some(match rule {
        RegisterRule::Undefined => Recovery::Undefined,
        RegisterRule::SameValue => Recovery::Unchanged,
        RegisterRule::Offset(offset) => Recovery::AtCfa(*offset),
        RegisterRule::ValOffset(offset) => Recovery::CfaOffset(*offset),
        RegisterRule::Register(source) => {
            Recovery::RegisterOffset { register: Register(source.0.into()), offset: 0 }
        }
        RegisterRule::Expression(found) => Recovery::AtExpression(expression(found)),
        RegisterRule::ValExpression(found) => Recovery::Expression(expression(found)),
        _ => return None,
    })
}

/// The rules of a row for the registers that have a place in [`FurtherRules`].
fn expected(abi: Abi, row: &UnwindTableRow<usize>) -> BTreeMap<u32, Recovery> {
    let mut rules: BTreeMap<u32, Recovery> =
        preserved(abi).into_iter().map(|register| (register, Recovery::Unchanged)).collect();
    for (register, found) in row.registers() {
        let number = u32::from(register.0);
        let others = ![abi.sp(), abi.fp(), abi.ra()].contains(&Register(number));
        if let (true, 0..32, Some(rule)) = (others, number, rule(found)) {
            rules.insert(number, rule);
        }
    }
    rules
}

/// The numbers of rows, and of rules that a function has itself.
#[derive(Default)]
struct Counts {
    rows: u64,
    own: u64,
    expressions: u64,
}

impl Counts {
    fn compare(&mut self, abi: Abi, row: &UnwindTableRow<usize>, found: &FurtherRules, at: &str) {
        let expected = expected(abi, row);
        let rules = found.registers.iter().map(|(register, rule)| (register.0, *rule)).collect();
        assert_eq!(expected, rules, "{at}");
        self.rows += 1;
        let own = expected.values().filter(|rule| **rule != Recovery::Unchanged);
        self.own += own.count() as u64;
        self.expressions += found.expressions.len() as u64;
        for rule in expected.values() {
            if let Recovery::AtExpression(place) | Recovery::Expression(place) = rule {
                let length = found.operations(*place).expect("its operations").len();
                assert_eq!(Ok(length), usize::try_from(place.length), "{at}");
            }
        }
    }
}

#[test]
fn all_rules_are_those_of_gimli() {
    let mut counts = Counts::default();
    let mut machines = BTreeMap::new();
    for path in golden(&["so", "exe"]) {
        let data = std::fs::read(&path).expect("a file");
        let elf = Elf::parse(&data).expect("ELF");
        let Some(abi) = elf.abi() else { continue };
        let frames: Vec<_> =
            elf.sections().iter().filter(|s| s.name.bytes() == b".eh_frame").collect();
        let [section] = frames[..] else { continue };
        let endian = match elf.endian() {
            Endian::Little => RunTimeEndian::Little,
            Endian::Big => RunTimeEndian::Big,
        };
        let mut frames: Section<'_> =
            EhFrame::new(elf.section_data(section).expect("the section"), endian);
        frames.set_address_size(8);
        let bases = BaseAddresses::default().set_eh_frame(section.address);
        let mut modules = Modules::new();
        let file = modules.add(b"file".to_vec(), Ok(&data));
        let loads = elf.segments().iter().filter(|s| s.p_type == PT_LOAD && s.file_size > 0);
        let mapping = |s: &sframe_validator::elf::Segment| Mapping {
            start: s.address,
            end: s.address + s.file_size,
            executable: true,
            file: Some((file, s.offset)),
        };
        modules.map(loads.map(mapping).collect());
        let mut entries = frames.entries(&bases);
        let mut context = UnwindContext::new();
        // What gimli cannot read has tests in the oracle.
        while let Ok(Some(entry)) = entries.next() {
            let gimli::CieOrFde::Fde(partial) = entry else { continue };
            let Ok(fde) = partial.parse(|_, bases, offset| frames.cie_from_offset(bases, offset))
            else {
                continue;
            };
            let Ok(mut rows) = fde.rows(&frames, &bases, &mut context) else { continue };
            while let Ok(Some(row)) = rows.next_row() {
                let (start, end) = (row.start_address(), row.end_address());
                if start >= end {
                    continue;
                }
                for address in [start, end - 1] {
                    let statement = modules.whole_statement(Witness::Cfi, address);
                    // Where functions overlap, another one may have been found.
                    let own = statement.function.is_some_and(|f| f.0 == fde.initial_address());
                    if own && statement.row.is_ok() {
                        let at = format!("{} {address:#x}", path.display());
                        counts.compare(abi, row, &statement.further, &at);
                        *machines.entry(abi.name()).or_insert(0_u32) += 1;
                    }
                }
            }
        }
    }
    let Counts { rows, own, expressions } = counts;
    println!("{rows} rows, {own} rules of their own, {expressions} expressions, {machines:?}");
    assert!(machines.len() >= 3 && own > 1000 && expressions > 0);
}
