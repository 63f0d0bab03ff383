//! The smallest program that still shows a symptom.

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
    let mut reducer = Reducer { shows: &shows, smallest };
    reducer.drop_functions();
    reducer.drop_marks();
    for function in 0..reducer.smallest.functions.len() {
        reducer.drop_ops(function);
        reducer.simplify_ops(function);
    }
    reducer.smallest
}

struct Reducer<'s> {
    shows: &'s dyn Fn(&Program) -> bool,
    smallest: Program,
}

impl Reducer<'_> {
    /// Takes the candidate if it shows the symptom, and says whether it does.
    fn try_one(&mut self, candidate: Option<Program>) -> bool {
        let better = candidate.filter(|candidate| (self.shows)(candidate));
        let found = better.is_some();
        self.smallest = better.unwrap_or_else(|| self.smallest.clone());
        found
    }

    fn drop_functions(&mut self) {
        let mut at = 0;
        while self.smallest.functions.len() > 1 && at < self.smallest.functions.len() {
            let mut candidate = self.smallest.clone();
            candidate.functions.remove(at);
            if !self.try_one(Some(candidate)) {
                at += 1;
            }
        }
    }

    fn drop_marks(&mut self) {
        let Program { signal, key_b, .. } = self.smallest;
        let marks = [(false, false), (false, key_b), (signal, false)];
        for (signal, key_b) in marks {
            if self.try_one(Some(Program { signal, key_b, ..self.smallest.clone() })) {
                break;
            }
        }
    }

    /// Removes shorter and shorter runs of instructions, until each instruction is needed.
    fn drop_ops(&mut self, function: usize) {
        let count = |reducer: &Self| reducer.smallest.functions[function].ops.len();
        let mut length = count(self);
        while length > 0 {
            let mut at = 0;
            let mut dropped = false;
            while at < count(self) {
                let mut ops = self.smallest.functions[function].ops.clone();
                ops.drain(at..(at + length).min(ops.len()));
                if self.try_one(with_ops(&self.smallest, function, ops)) {
                    dropped = true;
                } else {
                    at += length;
                }
            }
            length = if length == 1 && dropped { 1 } else { length / 2 };
        }
    }

    fn simplify_ops(&mut self, function: usize) {
        let unit = self.smallest.abi.instruction_alignment();
        for at in 0..self.smallest.functions[function].ops.len() {
            for simpler in simpler(&self.smallest.functions[function].ops[at], unit) {
                let mut ops = self.smallest.functions[function].ops.clone();
                ops[at] = simpler;
                if self.try_one(with_ops(&self.smallest, function, ops)) {
                    break;
                }
            }
        }
    }
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
