//! Assemblers on random [programs](mod@crate::program) with `.cfi_` directives. The comparison with CFI finds defects
//! in their SFrame, and each is reduced to the smallest program that still shows it.

mod known;
mod reduce;
mod signature;
mod symptoms;
mod tools;

pub use known::{known, known_at_once};
pub use reduce::reduce;
pub use signature::signature;
pub use symptoms::symptoms;
pub use tools::{Assembler, AssemblerError, assemblers};

use std::collections::BTreeSet;

use sframe_validator::Abi;
use sframe_validator::unwind::Register;

use crate::program::{Function, Op, Program, Scope};
use sframe_mutate::Seeded;

/// Bytes of entropy for a program, about as many as the largest number of functions uses.
const ENTROPY: usize = 16 + 12 * (8 + 24 * 8);
/// The most kinds of instructions in a program. With more of them, a known defect with one kind would hide defects
/// with the others.
const KINDS: usize = 5;

/// A random program of few kinds of instructions, with the CIE that assemblers write.
#[must_use]
pub fn program(abi: Abi, random: &mut Seeded) -> Program {
    let ops = (0..1 + random.below(KINDS)).fold(0, |ops, _| ops | 1 << (5 + random.below(19)));
    let scope =
        Scope { for_gimli: false, in_file: true, abi: Some(abi), ops, allows: &|_, _| true };
    let length = random.below(ENTROPY);
    let mut program = Program::new(&random.bytes(length), 0, &scope);
    program.data_factor = -8;
    program.initial = initial(abi);
    // Assemblers drop most functions with escapes, so that most programs have none.
    if random.below(4) > 0 {
        program.functions.iter_mut().flat_map(|f| &mut f.ops).for_each(Op::spell_out);
    }
    program
}

/// The initial instructions of assemblers' CIEs.
fn initial(abi: Abi) -> Vec<Op> {
    let cfa = |offset| Op::DefCfa { register: abi.sp(), offset, form: 0 };
    match abi {
        Abi::Amd64 => {
            vec![cfa(8), Op::Offset { register: Register(16), offset: -8, form: 0 }]
        }
        Abi::S390x => vec![cfa(160)],
        Abi::Aarch64Big | Abi::Aarch64Little => vec![cfa(0)],
    }
}

/// The symptoms of each function of a program, in order. If the assembler crashes on the program, or refuses it, the
/// functions are tried one by one.
pub fn examine(assembler: &Assembler, program: &Program) -> Vec<BTreeSet<String>> {
    match assembler.assemble(&program.assembly()) {
        Ok(object) => symptoms(&object, program),
        Err(error) if program.functions.len() <= 1 => {
            program.functions.iter().map(|_| BTreeSet::from([error.to_string()])).collect()
        }
        Err(_) => {
            let alone = |function: &Function| alone(program, function);
            let programs = program.functions.iter().map(alone);
            programs.flat_map(|program| examine(assembler, &program)).collect()
        }
    }
}

/// The program with only one of its functions.
fn alone(program: &Program, function: &Function) -> Program {
    let function = Function { start: 0, ..function.clone() };
    Program { functions: vec![function], ..program.clone() }
}
