//! Linux: the kernel's own stack on arm64.

use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Frame, Recovery};

use crate::answer::Stop;
use crate::consumer::{Consumer, Objects, Opening};
use crate::input::Input;
use crate::linux::{self, Rules};
use crate::page::{Fault, Page, Statement, Subject};
use crate::table::TableReader;

static PAGE: Page = Page {
    name: "linux-arm64-kernel",
    also: &[],
    title: "the Linux kernel's own stack on arm64, for livepatch (a series, not in Linux 7.3-rc7)",
    versions: "lookups: snapshot 86d1f1a2 of the series of 2026; the walker: 3aeff799, as v6 to v8 describe it",
    source: "dylanbhatch/linux 86d1f1a2, the series \"unwind, arm64: add sframe unwinder for kernel\": kernel/unwind/sframe.c, arch/arm64/kernel/module.c; 3aeff799: arch/arm64/kernel/stacktrace.c",
    reads: &[3],
    machines: &[Abi::Aarch64Little],
    without_row: "it follows the frame pointer, the trace is unreliable, and livepatch refuses",
    subtracts_one: Some(false),
    reports_errors: false,
    statements: &[
        Statement::proved(
            Subject::Versions,
            "the version is 3, with the flag for PC-relative starts; the flag SORTED is not required",
        ),
        Statement::proved(
            Subject::Header,
            "no auxiliary header; at least one function and one row; the tables fit",
        ),
        Statement::proved(
            Subject::Order,
            "a module's table is sorted in place when it is loaded; vmlinux must be sorted, or nothing is found",
        ),
        Statement::by_reading(
            Subject::Bounds,
            "a function starts inside the text: vmlinux from _stext to _etext, of a module its core text only",
        ),
        Statement::proved(
            Subject::Lookup,
            "functions and rows are found as for user programs; a bad row is an error, and the section stays",
        ),
        Statement::by_reading(
            Subject::Lookup,
            "rows are used for the frame that an interrupt or another exception has stopped only; other frames by their frame records",
        ),
        Statement::by_reading(
            Subject::Limits,
            "FP is aligned to 8, and the CFA to 16; an FP that is the CFA's base is not below SP",
        ),
        Statement::by_reading(
            Subject::Limits,
            "3aeff799 tests the CFA with the mask 0x15 in place of 15, and so refuses odd multiples of 16",
        ),
        Statement::by_reading(Subject::Decoding, "flexible rules end the walk"),
        Statement::by_reading(
            Subject::EndOfStack,
            "the stack ends at a final frame record; a row without words is an error",
        ),
        Statement::by_reading(
            Subject::ReturnAddress,
            "return addresses are looked up without subtracting one",
        ),
    ],
    faults: &[
        Fault::by_reading(
            "v6",
            "functions in .init.text and .exit.text of modules, and in .rodata.text, are never found",
        ),
        Fault::by_reading("v6", "RA in a register reads the CFA's register number"),
        Fault::proved("v6", "a row without words is an error"),
        Fault::proved("v6", "an RA saved at CFA+0 is taken as not saved"),
        Fault::proved("v6", "a section shorter than a header is read beyond its end"),
    ],
    producers: &[
        "link modules with ld -r of binutils 2.46 or later: up to 2.44 it writes wrong starts",
        "a wrong or missing row makes livepatch wait or fail: check the section against the code",
    ],
};

/// The consumer.
pub(super) struct Arm64Kernel;

impl Consumer for Arm64Kernel {
    fn page(&self) -> &'static Page {
        &PAGE
    }

    fn open<'a>(&self, input: &Input<'a>) -> Opening<'a> {
        let rules = Rules { is_user: false, sorted_only: false, bad: Stop::error, walk };
        match linux::open(input, rules) {
            Ok(section) => Opening::Accept(Box::new(TableReader(section))),
            Err(stop) => stop.into(),
        }
    }

    fn objects(&self) -> Objects {
        Objects::Modules
    }
}

/// The walker knows rules relative to SP, FP and the CFA only.
fn walk(frame: Frame) -> Result<Frame, Stop> {
    let machine = Abi::Aarch64Little;
    let is_plain = |rule: Recovery| matches!(rule, Recovery::Unchanged | Recovery::AtCfa(_));
    let has_base = match frame.cfa {
        Cfa::RegisterOffset { register, .. } => [machine.sp(), machine.fp()].contains(&register),
        _ => false,
    };
    if has_base && is_plain(frame.ra) && is_plain(frame.fp) {
        Ok(frame)
    } else {
        Err(Stop::ends_walk("the row has a flexible rule"))
    }
}
