//! Checks that generated programs have every call frame instruction in every form. The target `cfi` compares their
//! meaning with the oracle and gimli.

use std::collections::BTreeSet;

use sframe_fuzz::program::{Program, Scope};
use sframe_mutate::Seeded;
use sframe_oracle::cfi::Cfi;
use sframe_validator::unwind::{Cfa, Recovery};

fn programs(scope: &Scope<'_>) -> Vec<Program> {
    let mut random = Seeded::new(29);
    let program = |_| {
        let length = random.below(1_000);
        Program::new(&random.bytes(length), 0x1000, scope)
    };
    (0..3_000).map(program).collect()
}

/// The codes of the instructions in the section's functions, numbered as in DWARF 5 7.24.
fn codes(program: &Program) -> BTreeSet<u8> {
    let section = program.section(0x8000);
    let cfi = Cfi::from_bytes(&section, program.kind, 0x8000, program.abi);
    let mut codes = BTreeSet::new();
    for function in cfi.functions() {
        let mut instructions = function.instructions();
        loop {
            let code = section.get(instructions.offset() as usize).copied().unwrap_or(0);
            match instructions.next() {
                Some(decoded) => drop(decoded.expect("valid")),
                None => break,
            }
            codes.insert(if code & 0xc0 == 0 { code } else { code & 0xc0 });
        }
    }
    codes
}

#[test]
fn every_instruction_is_generated() {
    // The codes in DWARF 5 table 7.29, and of vendors: MIPS_advance_loc8, AARCH64_negate_ra_state_with_pc,
    // GNU_window_save or AARCH64_negate_ra_state, GNU_args_size, GNU_negative_offset_extended.
    let mut wanted: BTreeSet<u8> = (0..=0x16).collect();
    wanted.extend([0x40, 0x80, 0xc0, 0x1d, 0x2c, 0x2d, 0x2e, 0x2f]);
    let scope = Scope {
        for_gimli: false,
        in_file: false,
        abi: None,
        ops: Scope::ALL_OPS,
        allows: &|_, _| true,
    };
    let found: BTreeSet<_> = programs(&scope).iter().flat_map(codes).collect();
    assert_eq!(found, wanted);
    let scope = Scope { for_gimli: true, ..scope };
    let found: BTreeSet<_> = programs(&scope).iter().flat_map(codes).collect();
    wanted.retain(|code| ![0x1d, 0x2c, 0x2f].contains(code));
    assert_eq!(found, wanted);
}

#[test]
fn every_rule_is_generated() {
    let scope = Scope {
        for_gimli: false,
        in_file: false,
        abi: None,
        ops: Scope::ALL_OPS,
        allows: &|_, _| true,
    };
    let mut found = BTreeSet::new();
    for program in programs(&scope) {
        for (_, frame) in program.functions.iter().flat_map(|function| program.rows(function)) {
            found.insert(match frame.cfa {
                Cfa::RegisterOffset { .. } => "CFA in register",
                Cfa::Dereference { .. } => "CFA in memory",
                other => panic!("{other}"),
            });
            for rule in [frame.ra, frame.fp] {
                found.insert(match rule {
                    Recovery::Unchanged => "unchanged",
                    Recovery::AtCfa(_) => "at CFA",
                    Recovery::CfaOffset(_) => "CFA + offset",
                    Recovery::AtRegister { .. } => "at register",
                    Recovery::RegisterOffset { .. } => "register + offset",
                    Recovery::Undefined => "undefined",
                    other => panic!("{other}"),
                });
            }
            found.insert(if frame.ra_signed { "signed" } else { "not signed" });
        }
    }
    assert_eq!(found.len(), 10, "{found:?}");
}
