//! Linux: stacks of user programs, by the series that reads version 3 with flexible rows.

use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Frame, Recovery};

use crate::answer::Stop;
use crate::consumer::{Consumer, Opening};
use crate::input::Input;
use crate::linux::{self, Rules};
use crate::page::{Fault, Page, Statement, Subject};
use crate::table::TableReader;

static PAGE: Page = Page {
    name: "linux-user-v3",
    also: &[],
    title: "stacks of user programs in the Linux kernel, series that reads version 3 (not in Linux 7.3-rc7)",
    versions: "snapshot 3231d5c5 of 2026, with flexible rows and the system call stacktrace_setup; v14 of the series (5 May 2026) has flexible rules for FP and RA, too, and was not run",
    source: "dylanbhatch/linux 3231d5c571fa: kernel/unwind/sframe.c, sframe.h, user.c",
    reads: &[3],
    machines: &[Abi::Amd64],
    without_row: "it follows the frame pointer, where the machine has one",
    subtracts_one: Some(false),
    reports_errors: false,
    statements: &[
        Statement::proved(
            Subject::Versions,
            "the version is 3, with the flags SORTED and PC-relative starts; other flags are ignored",
        ),
        Statement::proved(
            Subject::Header,
            "no auxiliary header; at least one function and one row",
        ),
        Statement::proved(
            Subject::Header,
            "the rows start at or after the end of the function table, and both fit; the ABI is not compared",
        ),
        Statement::proved(
            Subject::Bounds,
            "a function starts inside the text, and its attributes and rows fit in the rows' part",
        ),
        Statement::proved(
            Subject::Order,
            "rows start in strictly ascending order, and not after the function's end",
        ),
        Statement::proved(Subject::Order, "the search notices functions out of order on its way"),
        Statement::proved(
            Subject::Lookup,
            "the last function that starts at or before the PC, if it covers the PC",
        ),
        Statement::proved(
            Subject::Lookup,
            "rows are read from the first one up to the one after the PC",
        ),
        Statement::proved(
            Subject::Decoding,
            "a row's words are all used, or the row is bad; an offset of 0 for RA or FP means unchanged",
        ),
        Statement::by_reading(
            Subject::Bounds,
            "the first bad row that a lookup meets removes the section for the whole process",
        ),
        Statement::by_reading(
            Subject::Limits,
            "the CFA is above SP (or equal in the topmost frame) and 8-byte aligned; an FP that is the CFA's base is not below SP",
        ),
        Statement::by_reading(
            Subject::Limits,
            "other base registers, and RA in a register, work in the topmost frame only; otherwise the walk ends",
        ),
        Statement::by_reading(
            Subject::EndOfStack,
            "a row without words falls back to the frame pointer",
        ),
        Statement::proved(
            Subject::ReturnAddress,
            "return addresses are looked up without subtracting one",
        ),
    ],
    faults: &[
        Fault::proved(
            "3231d5c5",
            "a row without words is an error, so an outermost frame is never recognised",
        ),
        Fault::proved("3231d5c5", "a repeated block of size 0 divides by zero in the kernel"),
        Fault::proved(
            "3231d5c5",
            "a CFA loaded through SP or FP, *(rbp-8), ends the walk: GNU as writes it for realigned stacks",
        ),
        Fault::proved(
            "linux-mm 01a27bfd (v13)",
            "the size of a row is computed after its words were counted down: functions with several rows are misread",
        ),
        Fault::proved("linux-mm 01a27bfd (v13)", "flexible rows are an error"),
        Fault::proved("3231d5c5", "an FP saved at CFA+0 is taken as not saved"),
    ],
    producers: &[
        "write version 3 and link with GNU ld 2.46 or later, or mold 3: the table is sorted and its starts are PC-relative",
        "leave out rows with equal starts: one of them removes the section for the whole process",
        "register the section's own size, not that of PT_GNU_SFRAME if GNU ld left stale bytes in it",
    ],
};

/// The consumer.
pub(super) struct LinuxUserV3;

impl Consumer for LinuxUserV3 {
    fn page(&self) -> &'static Page {
        &PAGE
    }

    fn open<'a>(&self, input: &Input<'a>) -> Opening<'a> {
        let rules = Rules { is_user: true, sorted_only: true, bad: Stop::drops_section, walk };
        match linux::open(input, rules) {
            Ok(section) => Opening::Accept(Box::new(TableReader(section))),
            Err(stop) => stop.into(),
        }
    }
}

/// The walker knows some rules only.
fn walk(frame: Frame) -> Result<Frame, Stop> {
    if let Cfa::Dereference { register, .. } = frame.cfa
        && [Abi::Amd64.sp(), Abi::Amd64.fp()].contains(&register)
    {
        return Err(Stop::ends_walk("the CFA is loaded through SP or FP"));
    }
    if matches!(frame.ra, Recovery::CfaOffset(_)) || matches!(frame.fp, Recovery::CfaOffset(_)) {
        return Err(Stop::ends_walk("RA or FP is an address in the frame itself"));
    }
    Ok(frame)
}
