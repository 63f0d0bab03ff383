//! Code of the C library that is linked into each program.

use sframe_record::{Owner, Weight};

use super::NONE;
use crate::case::Case;
use crate::defect::{Affected, Defect};
use crate::signs::{ANY, Files, Signs};

pub(super) const ALL: &[&Defect] = &[&START_WITHOUT_SFRAME, &LIBRARY_WITHOUT_SFRAME];

pub(crate) static START_WITHOUT_SFRAME: Defect = Defect {
    id: "start-without-sframe",
    title: "the code where a program starts has no SFrame, because crt1.o has none",
    affected: &[Affected { tool: "glibc", first: "", last: "" }],
    owner: Owner::CRuntime,
    recognised: "the code of a function that SFrame does not describe is the code of glibc's start files, in a program with \
                 their note (.note.ABI-tag)",
    effect: "a walker that reaches _start finds no row; it is the last frame of each stack of the main thread, so that \
                  the stack still ends there",
    workaround: "none is needed; a C library that was built with SFrame has it",
    without_input: "each program with a C library without SFrame shows it",
    signs: &[Signs { rules: &["unexplained-loss"], files: Files::Linked, also: is_start, ..ANY }],
    ..NONE
};

fn is_start(case: &Case<'_>) -> bool {
    let start = case.finding.code.as_ref().map(|code| code.start.0);
    start.is_some_and(|start| case.evidence.start_files.contains(&start))
}

static LIBRARY_WITHOUT_SFRAME: Defect = Defect {
    id: "library-without-sframe",
    weight: Weight::Partial,
    pcs: "the functions of the C library",
    title: "a static program has no SFrame for the functions of its C library, because libc.a has none",
    affected: &[Affected { tool: "glibc", first: "", last: "" }],
    owner: Owner::CRuntime,
    recognised: "`sframe-check link -- COMMAND` lists the inputs without SFrame. The program does not show which input a function \
                 came from: symbol tables name the inputs of local symbols alone. The functions of your own objects that were \
                 assembled without SFrame look the same, so that unexplained-loss reports all of them",
    effect: "a walker stops in the C library, or falls back",
    workaround: "link dynamically, or use a C library that was built with SFrame; to accept it, suppress unexplained-loss for \
                 these programs in sframe-check.toml",
    without_input: "each static program with a C library without SFrame shows it",
    ..NONE
};
