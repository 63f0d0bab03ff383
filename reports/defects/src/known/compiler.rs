//! Traits of compilers: what a release always leaves out of CFI.

use sframe_record::{Owner, Weight};

use super::NONE;
use crate::case::Case;
use crate::defect::{Affected, Defect};
use crate::frame_code::{self, AARCH64, AMD64};
use crate::signs::{ANY, Extent, Signs};
use crate::traits::RULES;

pub(super) const ALL: &[&Defect] = &[&EPILOGUES, &CALLS_ONLY];

/// The base of others.
const TRAIT: Signs = Signs { rules: &RULES, extent: Extent::Trait, ..ANY };

static EPILOGUES: Defect = Defect {
    id: "epilogues-not-described",
    weight: Weight::Partial,
    pcs: "the epilogues, from the first instruction that frees the frame",
    title: "GCC before 4.5 does not describe epilogues on AMD64",
    affected: &[Affected { tool: "GCC", first: "", last: "" }],
    owner: Owner::Compiler,
    recognised: "every compiler that the code may be of is GCC before 4.5; the range follows an instruction that frees the frame, and has \
                 only instructions of an epilogue; CFI still has the larger frame",
    effect: "a profiler that stops in an epilogue finds a wrong caller; at calls, all rows are right",
    workaround: "compile with GCC 4.5 or later",
    without_input: "compilers of that age are not at hand; the assembly in reports/program/tests/known/traits.rs has the same shape",
    signs: &[Signs { also: is_old_gcc, ..TRAIT }],
    ..NONE
};

static CALLS_ONLY: Defect = Defect {
    id: "cfi-for-calls-only",
    weight: Weight::Partial,
    pcs: "the prologues and epilogues",
    title: "clang without asynchronous tables describes frames on AArch64 for calls alone",
    affected: &[Affected { tool: "LLVM", first: "", last: "" }],
    owner: Owner::Compiler,
    recognised: "every compiler that the code may be of is clang; the range is part of a prologue and CFI still has the frame of the entry, or it \
                 is part of an epilogue and CFI still has the whole frame",
    effect: "a profiler that stops in a prologue or an epilogue finds a wrong caller; at calls, all rows are right",
    workaround: "compile with -fasynchronous-unwind-tables",
    without_input: "the LLVM IR in reports/program/tests/known/traits.rs shows it",
    signs: &[Signs { also: is_of_calls_only, ..TRAIT }],
    ..NONE
};

fn is_old_gcc(case: &Case<'_>) -> bool {
    frame_code::is_made_by(case.finding, "GCC", |version| version < (4, 5))
        && frame_code::is_epilogue(case.finding, &AMD64)
}

fn is_of_calls_only(case: &Case<'_>) -> bool {
    let is_clang = || frame_code::is_made_by(case.finding, "clang", |_| true);
    let in_epilogue = || frame_code::is_epilogue(case.finding, &AARCH64);
    is_clang() && (in_epilogue() || frame_code::is_prologue(case.finding, &AARCH64))
}
