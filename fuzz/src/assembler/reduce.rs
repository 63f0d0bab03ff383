//! The smallest program that still shows a symptom.

use sframe_reduce::shrink::Shrink;

use super::{Assembler, alone, examine};
use crate::program::{Frames, Op, Program};

/// Reduces a program, whose function `number` shows `symptom`, as long as it still does. Removes other functions, marks of
/// the CIE, and instructions, and then makes the instructions simpler.
#[must_use]
pub fn reduce(assembler: &Assembler, program: &Program, number: usize, symptom: &str) -> Program {
    let shows =
        |program: &Program| examine(assembler, program).iter().any(|found| found.contains(symptom));
    let mut smallest = alone(program, &program.functions[number]);
    // Some symptoms need other functions.
    if !shows(&smallest) {
        smallest = program.clone();
    }
    let mut shrink = Shrink::new(smallest, shows);
    shrink.drop_runs(
        |program| program.functions.len(),
        |program, range| {
            let mut program = program.clone();
            program.functions.drain(range);
            (!program.functions.is_empty()).then_some(program)
        },
    );
    drop_marks(&mut shrink);
    for function in 0..shrink.smallest().functions.len() {
        drop_ops(&mut shrink, function);
        simplify_ops(&mut shrink, function);
    }
    shrink.into_smallest()
}

fn drop_marks<S: FnMut(&Program) -> bool>(shrink: &mut Shrink<Program, S>) {
    let before = shrink.smallest().clone();
    let marks = [(false, false), (false, before.key_b), (before.signal, false)];
    let marks = marks.into_iter().filter(|marks| *marks != (before.signal, before.key_b));
    shrink.try_each(marks.map(|(signal, key_b)| Program { signal, key_b, ..before.clone() }));
}

/// Removes shorter and shorter runs of instructions, until each instruction is needed.
fn drop_ops<S: FnMut(&Program) -> bool>(shrink: &mut Shrink<Program, S>, function: usize) {
    shrink.drop_runs(
        |program| program.functions[function].ops.len(),
        |program, range| {
            let mut ops = program.functions[function].ops.clone();
            ops.drain(range);
            with_ops(program, function, ops)
        },
    );
}

fn simplify_ops<S: FnMut(&Program) -> bool>(shrink: &mut Shrink<Program, S>, function: usize) {
    let unit = shrink.smallest().abi.instruction_alignment();
    shrink.replace_each(
        |program| program.functions[function].ops.len(),
        |program, at| {
            let ops = program.functions[function].ops.clone();
            let program = program.clone();
            simpler(&ops[at], unit).into_iter().filter_map(move |simpler| {
                let mut ops = ops.clone();
                ops[at] = simpler;
                with_ops(&program, function, ops)
            })
        },
    );
}

/// The program with other instructions in one function; `None` if they have no meaning.
fn with_ops(program: &Program, number: usize, ops: Vec<Op>) -> Option<Program> {
    let mut frames = Frames::new(program.abi);
    program.initial.iter().for_each(|op| frames.step(op));
    frames.start();
    // The last row has an instruction of its own.
    let mut size = program.abi.instruction_alignment();
    for op in &ops {
        match op {
            Op::Advance { bytes, .. } => size += bytes,
            op if frames.can_step(op) => frames.step(op),
            _ => return None,
        }
    }
    let mut program = program.clone();
    program.functions[number].ops = ops;
    program.functions[number].size = size;
    // Functions follow each other.
    let mut end = 0_u64;
    for function in &mut program.functions {
        function.start = end.next_multiple_of(4);
        end = function.start + u64::from(function.size);
    }
    Some(program)
}

/// Simpler variants of an instruction, the simplest first.
fn simpler(op: &Op, unit: u32) -> Vec<Op> {
    let forms = |offset: i64, form: u8| {
        let small = offset.signum() * 16;
        [(small, 0), (offset, 0), (small, form), (offset, form)].into_iter()
    };
    match *op {
        Op::Advance { .. } => vec![Op::Advance { bytes: unit, form: 0 }],
        Op::DefCfa { register, offset, form } => forms(offset, form)
            .map(|(offset, form)| Op::DefCfa { register, offset, form })
            .collect(),
        Op::DefCfaOffset { offset, form } => {
            forms(offset, form).map(|(offset, form)| Op::DefCfaOffset { offset, form }).collect()
        }
        Op::Offset { register, offset, form } => forms(offset, form)
            .map(|(offset, form)| Op::Offset { register, offset, form })
            .collect(),
        Op::Restore { register, .. } => vec![Op::Restore { register, form: 0 }],
        _ => Vec::new(),
    }
}
