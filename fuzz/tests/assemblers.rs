//! Tests of the harness for assemblers: they assemble its programs as intended, and their defects are found, reduced
//! and recognised.
//!
//! These tests need the assemblers that `corpus/build` unpacks. Without them, they print a message.

use std::path::Path;

use sframe_corpus::tools;
use sframe_fuzz::assembler::{Assembler, assemblers, examine, known, program, reduce, signature};
use sframe_fuzz::program::{Function, Op, Program};
use sframe_mutate::Seeded;
use sframe_validator::Abi;

/// The number of random programs for each assembler.
const COUNT: usize = 24;

fn present() -> Vec<Assembler> {
    let found = assemblers(Path::new(env!("CARGO_BIN_EXE_assemblers")));
    if found.is_empty() {
        tools::missing("an assembler", "corpus/build fetch");
    }
    found
}

#[test]
fn assembled_cfi_has_the_rows_of_the_program() {
    for assembler in present() {
        let mut random = Seeded::new(5);
        let mut functions = 0;
        for _ in 0..COUNT {
            let program = program(assembler.abi, &mut random);
            for (number, symptoms) in examine(&assembler, &program).iter().enumerate() {
                let function = &program.functions[number];
                assert!(!symptoms.contains("misread"), "{}: {function:#x?}", assembler.name);
                functions += 1;
            }
        }
        assert!(functions > 2 * COUNT, "{functions}");
    }
}

/// Two functions with many instructions that do not matter. In the second one, the return address is not where versions
/// 1 and 2 assume it.
fn elsewhere(random: &mut Seeded) -> Program {
    let mut program = program(Abi::Amd64, random);
    let advance = Op::Advance { bytes: 3, form: 0 };
    let other = Op::Offset { register: Abi::Amd64.fp(), offset: -16, form: 0 };
    let ra = Op::Offset { register: Abi::Amd64.ra(), offset: -136, form: 0 };
    let function = |start, ops: Vec<Op>| Function { start, size: 16, ops };
    program.functions = vec![
        function(0, vec![advance, other]),
        function(16, vec![advance, other, advance, ra, advance, Op::RememberState, advance]),
    ];
    (program.signal, program.key_b) = (true, false);
    program
}

#[test]
fn a_defect_is_found_reduced_and_recognised() {
    let assemblers = present();
    let wanted = |assembler: &&Assembler| assembler.name == "2.44" && assembler.abi == Abi::Amd64;
    let Some(assembler) = assemblers.iter().find(wanted) else { return };
    let program = elsewhere(&mut Seeded::new(1));
    let found = examine(assembler, &program);
    assert!(found[0].is_empty(), "{found:?}");
    assert_eq!(found[1].iter().map(String::as_str).collect::<Vec<_>>(), ["differs: ra"]);
    let smallest = reduce(assembler, &program, 1, "differs: ra");
    assert_eq!(signature(&smallest), "saved:ra", "{}", smallest.assembly());
    assert_eq!(known(assembler, &smallest, "differs: ra"), Some("return-elsewhere"));
    // Another field would be a new defect, and so would two of them.
    assert_eq!(known(assembler, &smallest, "differs: cfa"), None);
    assert_eq!(known(assembler, &smallest, "differs: cfa, ra"), None);
}
