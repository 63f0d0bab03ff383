//! Tests of the generator: it reaches every feature of the format, and similar inputs give similar sections.
//!
//! The target `generated` checks that its sections are valid and are read back as they were built (`tests/smoke.rs`).

use std::collections::BTreeSet;

use sframe_fuzz::generate::{Configuration, FUNCTION_BLOCK, FunctionPlan, HEADER_BLOCK, Plan};
use sframe_mutate::Seeded;
use sframe_validator::section::FrameRowEntry;
use sframe_validator::unwind::{Cfa, Recovery};
use sframe_validator::{Abi, Section, Version};

/// Entropy for a number of functions.
fn entropy(random: &mut Seeded, functions: usize) -> Vec<u8> {
    random.bytes(HEADER_BLOCK + functions * FUNCTION_BLOCK)
}

fn plans(count: u64, configuration: &Configuration) -> impl Iterator<Item = Plan> {
    let mut random = Seeded::new(7);
    (0..count).map(move |_| {
        let functions = random.below(8);
        Plan::new(&entropy(&mut random, functions), configuration)
    })
}

/// The features of a plan and its section, as words.
fn features(plan: &Plan) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let (version, abi) = (plan.version.number(), plan.abi);
    found.insert(format!("V{version} {abi} {:?}", plan.endian));
    found.insert(format!("flags {:#x}", plan.flags()));
    found.insert(format!("object {}", plan.object));
    for function in &plan.functions {
        found.extend(function_features(plan, function));
    }
    let built = plan.build().expect("can be written");
    let relocations = plan.relocations(&built);
    let section = Section::parse(&built.bytes, plan.placement(&relocations)).expect("readable");
    for function in section.functions().flatten() {
        found.insert(format!("ADDR{}", function.fre_type().expect("known").width()));
        for row in function.frame_row_entries().expect("known").flatten() {
            let FrameRowEntry { words, .. } = row;
            let kind = if function.is_flexible() { "flexible" } else { "default" };
            found.insert(format!("{kind} {} words of {}", words.count(), words.size()));
        }
    }
    found
}

fn function_features(plan: &Plan, function: &FunctionPlan) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let kind = if function.flexible { "flexible" } else { "default" };
    found.insert(format!("signal {}", function.signal));
    found.insert(format!("key B {}", function.key_b));
    found.insert(format!("{kind} without rows {}", function.rows.is_empty()));
    found.insert(match function.repeat {
        Some(block) => format!("V{} repeat {}", plan.version.number(), block.min(33)),
        None => "no repeat".to_owned(),
    });
    let sp = plan.abi.sp();
    let recovery = |rule| match rule {
        Recovery::AtCfa(_) => "at CFA",
        Recovery::AtRegister { .. } => "at register",
        Recovery::RegisterOffset { offset: 0, .. } => "in register",
        Recovery::RegisterOffset { .. } => "register + offset",
        Recovery::Unchanged => "unchanged",
        Recovery::Undefined => "undefined",
        other => panic!("{other:?} has no encoding"),
    };
    for (_, frame) in &function.rows {
        let cfa = match frame.cfa {
            Cfa::RegisterOffset { register, .. } if register == sp => "SP",
            Cfa::RegisterOffset { register, .. } if register == plan.abi.fp() => "FP",
            Cfa::RegisterOffset { .. } => "register",
            Cfa::Dereference { .. } => "loaded",
            Cfa::Undefined => "undefined",
            Cfa::DereferencePlus { .. } | Cfa::Expression(_) => panic!("no encoding"),
        };
        let scope = format!("V{} {} {kind}", plan.version.number(), plan.abi);
        found.insert(format!("{scope} CFA {cfa}"));
        found.insert(format!("{scope} RA {}", recovery(frame.ra)));
        found.insert(format!("{scope} FP {}", recovery(frame.fp)));
        found.insert(format!("signed {}", frame.ra_signed));
    }
    found
}

/// The features of the format, from its specification: versions and ABIs (V1 does not know s390x), the numbers and
/// sizes of data words, and the kinds of rules.
fn wanted() -> BTreeSet<String> {
    let mut wanted = BTreeSet::new();
    for version in 1..=3 {
        for abi in Abi::ALL.into_iter().filter(|abi| version > 1 || *abi != Abi::S390x) {
            for endian in ["Little", "Big"] {
                wanted.insert(format!("V{version} {abi} {endian}"));
            }
            let scope = format!("V{version} {abi} default");
            for what in ["CFA SP", "CFA FP", "RA at CFA", "FP at CFA", "FP unchanged"] {
                wanted.insert(format!("{scope} {what}"));
            }
            if version > 1 {
                wanted.insert(format!("{scope} RA undefined"));
            }
        }
    }
    for abi in [Abi::Amd64, Abi::S390x, Abi::Aarch64Little] {
        let scope = format!("V3 {abi} flexible");
        for what in ["CFA SP", "CFA FP", "CFA register", "CFA loaded"] {
            wanted.insert(format!("{scope} {what}"));
        }
        for register in ["RA", "FP"] {
            for rule in ["at CFA", "at register", "in register", "register + offset"] {
                wanted.insert(format!("{scope} {register} {rule}"));
            }
        }
    }
    wanted.extend(
        ["V2 s390x default RA in register", "V2 s390x default FP in register"].map(str::to_owned),
    );
    for size in [1, 2, 4] {
        wanted.extend([1, 2, 3].map(|count| format!("default {count} words of {size}")));
        wanted.extend([2, 4, 5, 6].map(|count| format!("flexible {count} words of {size}")));
        wanted.insert(format!("ADDR{size}"));
    }
    for text in [
        "default 0 words of 1",
        "flexible 0 words of 1",
        "signal true",
        "key B true",
        "signed true",
        "default without rows true",
        "V1 repeat 0",
        "V2 repeat 16",
        "V3 repeat 8",
        "V3 repeat 32",
        "V3 repeat 33",
        "object true",
        "flags 0x0",
        "flags 0x1",
        "flags 0x4",
        "flags 0x5",
    ] {
        wanted.insert(text.to_owned());
    }
    wanted
}

#[test]
fn every_feature_is_generated() {
    let found: BTreeSet<_> =
        plans(6_000, &Configuration::SILENT).flat_map(|plan| features(&plan)).collect();
    let mut wanted = wanted();
    // AArch64's flexible rows cause a warning.
    wanted.retain(|feature| !feature.starts_with("V3 AArch64 flexible"));
    let missing: Vec<_> = wanted.difference(&found).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_warning_is_caused() {
    let mut found = BTreeSet::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for plan in plans(6_000, &Configuration::ALL) {
        found.extend(plan.warnings_in_file().must);
        seen.extend(features(&plan));
    }
    let wanted = [
        "auxiliary-header",
        "first-row-offset",
        "flex-abi",
        "flexible-without-rows",
        "frame-pointer-claim",
        "function-size-zero",
        "function-table-alignment",
        "function-table-offset",
        "function-without-rows",
        "no-rows",
        "obsolete-version",
        "repeat-size-multiple",
        "repeat-size-unknown",
        "repeat-start-alignment",
        "row-at-end",
        "row-duplicate-start",
        "rows-unused",
        "subsection-gap",
        "trailing-bytes",
        "unsorted-linked",
        "word-count-zero",
    ];
    assert_eq!(found, wanted.into_iter().collect());
    let missing: Vec<_> = self::wanted().difference(&seen).cloned().collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// A function without its place, because the earlier functions in the section must not affect the rest.
fn placeless(function: &FunctionPlan) -> FunctionPlan {
    FunctionPlan { start: 0, ..function.clone() }
}

#[test]
fn one_byte_changes_one_function() {
    let mut random = Seeded::new(11);
    let mut changed = 0;
    for _ in 0..2_000 {
        let mut bytes = entropy(&mut random, 6);
        let before = Plan::new(&bytes, &Configuration::SILENT);
        let at = HEADER_BLOCK + random.below(6 * FUNCTION_BLOCK);
        bytes[at] ^= 1 << random.below(8);
        let after = Plan::new(&bytes, &Configuration::SILENT);
        let touched = (at - HEADER_BLOCK) / FUNCTION_BLOCK;
        for (number, (old, new)) in before.functions.iter().zip(&after.functions).enumerate() {
            if number == touched {
                changed += usize::from(old != new);
            } else {
                assert_eq!(placeless(old), placeless(new), "byte {at}");
            }
        }
        assert_eq!(before.functions.len(), after.functions.len());
    }
    // Some bits have no effect, such as those for rows that the function does not have.
    assert!(changed > 200, "{changed}");
}

#[test]
fn more_entropy_adds_functions() {
    let mut random = Seeded::new(13);
    for _ in 0..200 {
        let bytes = entropy(&mut random, 6);
        let all = Plan::new(&bytes, &Configuration::LINKED);
        let few = Plan::new(&bytes[..HEADER_BLOCK + 3 * FUNCTION_BLOCK], &Configuration::LINKED);
        assert_eq!(few.functions, all.functions[..3]);
    }
}

#[test]
fn a_plan_without_entropy_is_an_empty_section() {
    let plan = Plan::new(&[], &Configuration::ALL);
    assert_eq!(plan.version, Version::V1);
    assert_eq!(plan.build().expect("can be written").bytes.len(), 28);
}
