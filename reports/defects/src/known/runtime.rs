//! Code of the C library that is linked into each program.

use sframe_record::Owner;

use super::NONE;
use crate::case::Case;
use crate::defect::{Affected, Defect};
use crate::signs::{ANY, Files, Signs};

pub(super) const ALL: &[&Defect] = &[&START_WITHOUT_SFRAME];

/// The functions of glibc's and GCC's start files that have CFI.
const START_FILES: [&str; 4] =
    ["_start", "_dl_relocate_static_pie", "__libc_csu_init", "__libc_csu_fini"];

static START_WITHOUT_SFRAME: Defect = Defect {
    id: "start-without-sframe",
    title: "the code where a program starts has no SFrame, because crt1.o has none",
    affected: &[Affected { tool: "glibc", first: "", last: "" }],
    owner: Owner::CRuntime,
    recognised: "SFrame does not describe the function at the program's entry, which CFI marks as the outermost one",
    consequence: "a walker that reaches _start finds no row; it is the last frame of each stack of the main thread, so that \
                  the stack still ends there",
    workaround: "none is needed; a C library that was built with SFrame has it",
    signs: &[Signs { rules: &["unexplained-loss"], files: Files::Linked, also: is_start, ..ANY }],
    ..NONE
};

fn is_start(case: &Case<'_>) -> bool {
    let start = case.finding.code.as_ref().map(|code| code.start);
    let is_entry = start.is_some() && start == case.record.entry;
    let offset = case.finding.code.as_ref().and_then(|code| code.symbol_offset).unwrap_or(0);
    is_entry || offset == 0 && case.symbol().is_some_and(|symbol| START_FILES.contains(&symbol))
}
