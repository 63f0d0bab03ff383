//! Traits of compilers and linkers: what a release always leaves out of CFI, or always states wrongly.

use sframe_record::{Owner, Producer, Weight};

use super::NONE;
use crate::case::Case;
use crate::defect::{Affected, Defect};
use crate::frame_code::{self, AARCH64, AMD64};
use crate::signs::{ANY, Extent, Files, Signs};
use crate::traits::RULES;

pub(super) const ALL: &[&Defect] = &[&EPILOGUES, &CALLS_ONLY, &FRAME_POINTER, &PLT_PUSH];

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

static FRAME_POINTER: Defect = Defect {
    id: "frame-pointer-not-described",
    weight: Weight::Partial,
    pcs: "all code after a function has saved its caller's frame pointer, for that register alone",
    title: "Go does not describe in CFI where functions save the frame pointer",
    affected: &[Affected { tool: "Go", first: "", last: "" }],
    owner: Owner::Compiler,
    recognised: "Go is the compiler of the file, and of the code, or that is assembly, for which Go's tools write the CFI; the code has saved the \
                 frame pointer, and CFI says that it is unchanged; CFA and return address are right",
    effect: "debuggers that unwind by CFI find the right callers and a wrong frame pointer in them, which matters where Go calls C",
    workaround: "unwind Go's functions by frame pointers, as its own profiler does",
    without_input: "Go is not among the compilers of the corpus; the assembly in reports/program/tests/known/traits.rs has the same shape",
    signs: &[Signs { also: is_frame_pointer_of_go, ..TRAIT }],
    ..NONE
};

static PLT_PUSH: Defect = Defect {
    id: "ld-plt-push",
    weight: Weight::Partial,
    pcs: "the jumps that end the stubs of .plt",
    title: "CFI for stubs of .plt with endbr64 has the push one byte late",
    affected: &[Affected { tool: "GNU ld", first: "", last: "" }],
    owner: Owner::Linker,
    recognised: "in .plt for AMD64, the code has CFA = SP+16 at byte 9 of a stub, and CFI SP+8",
    effect: "a profiler that stops at the jump of a stub, before the function's first call is resolved, finds a wrong caller",
    workaround: "link with GNU ld 2.40 or later",
    without_input: "linkers of that age are not at hand; reports/program/tests/known/traits.rs makes their CFI from that of GNU ld 2.40",
    signs: &[Signs { files: Files::Linked, sections: &[".plt"], also: is_jump_of_stub, ..TRAIT }],
    ..NONE
};

/// A stub is `endbr64`, of 4 bytes, `push`, of 5, and a jump. A large `.plt` has more findings than have their rows listed.
fn is_jump_of_stub(case: &Case<'_>) -> bool {
    let is_byte = |start: u64, end: u64| start % 16 == 9 && end.checked_sub(start) == Some(1);
    case.finding.code.as_deref().is_some_and(|code| is_byte(code.start.0, code.end.0))
        && case.finding.message.as_str() == "CFA is rsp+16 by the code, CFI says rsp+8"
}

/// Go's linker writes rules for the CFA and the return address alone (observed with Go 1.19).
fn is_frame_pointer_of_go(case: &Case<'_>) -> bool {
    let message = case.finding.message.as_str();
    let is_of_go = || match case.finding.origin.as_deref() {
        Some(origin) => origin.compilers.iter().all(|compiler| compiler.name.as_str() == "Go"),
        None => false,
    };
    let is_by_go = |producer: &Producer<'_>| producer.name.as_str() == "Go";
    let is_saved =
        message.starts_with("FP is *(CFA") && message.ends_with(" by the code, CFI says unchanged");
    // On AArch64, FP is saved below SP, where nothing protects it.
    let is_lost = message == "CFI says that FP is unchanged, the code proves that it is not";
    (is_saved || is_lost) && is_of_go() && case.record.producers.iter().any(is_by_go)
}

fn is_old_gcc(case: &Case<'_>) -> bool {
    frame_code::is_made_by(case.finding, "GCC", |version| version < (4, 5))
        && frame_code::is_epilogue(case.finding, &AMD64)
}

fn is_of_calls_only(case: &Case<'_>) -> bool {
    let is_clang = || frame_code::is_made_by(case.finding, "clang", |_| true);
    let in_epilogue = || frame_code::is_epilogue(case.finding, &AARCH64);
    is_clang() && (in_epilogue() || frame_code::is_prologue(case.finding, &AARCH64))
}
