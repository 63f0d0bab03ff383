//! Where functions are: in code, in order, apart from each other.

use super::context::{Check, FileKind, FunctionContext};
use super::{Abis, Group, Rule, Severity, Versions};
use crate::check::extents::{CodeExtent, Overlap};
use crate::finding::FunctionId;
use crate::section::{CodeAddress, FunctionField};

/// Whether two functions claim exactly the same code.
fn same(a: &CodeExtent, b: &CodeExtent) -> bool {
    a.start == b.start && a.size == b.size
}

fn identify(extent: &CodeExtent) -> FunctionId {
    FunctionId { index: extent.index, start: Some(extent.start), size: extent.size }
}

/// Whether the place is one that linkers let references into discarded sections lead to. Code can
/// be at address 0 all the same (`-Ttext=0`).
fn is_tombstone(function: &FunctionContext<'_>, start: CodeAddress) -> bool {
    let special = start.address == 0 || start.address == u64::MAX;
    special && function.code.is_known() && function.code.containing(start).is_none()
}

pub(super) static FUNCTION_AT_NULL: Rule = Rule {
    name: "function-at-null",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "no function of a linked file starts at address 0 or -1, unless code is there",
    consequence: "The entry is left over from a function that the linker discarded; the sorted \
                  table starts or ends with entries that describe nothing.",
    remedy: "Link with a linker that removes the entries of discarded functions.",
    source: "observed: linkers write 0 or -1 for references into discarded sections",
    example: "a shared object with a function at address 0",
    check: Check::Function(|function, report| {
        let Ok(start) = function.start else { return };
        if function.whole.kind == FileKind::Linked && is_tombstone(function, start) {
            report.field(
                function.field(FunctionField::Start),
                format_args!("{:#x}", start.address),
                "an address in code",
                format_args!(
                    "the function starts at {:#x}, where linkers point references to what they \
                     discard",
                    start.address
                ),
            );
        }
    }),
};

pub(super) static FUNCTION_OUTSIDE_CODE: Rule = Rule {
    name: "function-outside-code",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a function of a linked file starts in executable code",
    consequence: "The kernel rejects the whole section; other readers keep rows for what is no \
                  code, and have none for the function that was meant.",
    remedy: "Check how the start field was relocated: against the field or against the section.",
    source: "observed: the kernel's patches check every start against the text range",
    example: "a shared object whose function starts in .data",
    check: Check::Function(|function, report| {
        let Ok(start) = function.start else { return };
        let linked = function.whole.kind == FileKind::Linked && function.code.is_known();
        let tombstone = is_tombstone(function, start);
        // A function of size 0 may stand at the very end of a section.
        let before = start.address.saturating_sub(1);
        let at_end = function.entry.size() == 0
            && function.code.containing(CodeAddress::absolute(before)).is_some();
        if linked && !tombstone && function.code.containing(start).is_none() && !at_end {
            report.field(
                function.field(FunctionField::Start),
                format_args!("{:#x}", start.address),
                "an address in an executable section",
                format_args!("the function starts at {:#x}, where no code is", start.address),
            );
        }
    }),
};

pub(super) static FUNCTION_PAST_CODE: Rule = Rule {
    name: "function-past-code",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a function ends in the executable section it starts in",
    consequence: "The kernel rejects the whole section; the function's rows are found for PCs of \
                  other code.",
    remedy: "Correct the function's size.",
    source: "observed: the kernel's patches; GNU as takes the size from the function's own labels",
    example: "an object whose function is longer than .text",
    check: Check::Function(|function, report| {
        let Ok(start) = function.start else { return };
        let size = function.entry.size();
        if start.address.checked_add(u64::from(size)).is_none() {
            report.field(
                function.field(FunctionField::Size),
                format_args!("{size:#x}"),
                format_args!("at most {:#x}", u64::MAX - start.address),
                format_args!("the function of {size:#x} bytes ends behind the address space"),
            );
            return;
        }
        let Some(range) = function.code.containing(start) else { return };
        if !range.contains(start, u64::from(size)) {
            let room = range.size - (start.address - range.start.address);
            report.field(
                function.field(FunctionField::Size),
                format_args!("{size:#x}"),
                format_args!("at most {room:#x}"),
                format_args!(
                    "the function of {size:#x} bytes ends {:#x} bytes behind its section",
                    u64::from(size) - room
                ),
            );
        }
    }),
};

pub(super) static FUNCTION_ALIGNMENT: Rule = Rule {
    name: "function-alignment",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::AARCH64.or(Abis::S390X),
    summary: "a function starts at a possible instruction address: a multiple of 4, on s390x of 2",
    consequence: "No PC ever equals the function's start; all its rows are off.",
    remedy: "Check how the start field was computed.",
    source: "the machines' instruction sets",
    example: "an AArch64 function at 0x1002",
    check: Check::Function(|function, report| {
        let (Ok(start), Some(abi)) = (function.start, function.abi()) else { return };
        let alignment = abi.instruction_alignment();
        if !start.address.is_multiple_of(u64::from(alignment)) {
            report.field(
                function.field(FunctionField::Start),
                format_args!("{:#x}", start.address),
                format_args!("a multiple of {alignment}"),
                format_args!(
                    "the function starts at {:#x}, where no instruction of {abi} can be",
                    start.address
                ),
            );
        }
    }),
};

pub(super) static FUNCTION_SIZE_ZERO: Rule = Rule {
    name: "function-size-zero",
    group: Group::Functions,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "a function has code: its size is not 0",
    consequence: "No PC is in the function, so its rows are dead. Where it shares its start with \
                  another function, libsframe may find it in the other's place, and the kernel's \
                  validation refuses the section.",
    remedy: "Leave functions without code out.",
    source: "observed: GNU as and ld keep GCC's empty cold parts, LLVM leaves them out",
    example: "a function of 0 bytes",
    check: Check::Function(|function, report| {
        if function.entry.size() == 0 {
            report.field(
                function.field(FunctionField::Size),
                0,
                "at least 1",
                format_args!("the function is 0 bytes long"),
            );
        }
    }),
};

pub(super) static FUNCTION_ORDER: Rule = Rule {
    name: "function-order",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "in a table that says it is sorted, functions are in the order of their addresses",
    consequence: "Binary search misses functions: their frames cannot be unwound.",
    remedy: "Sort by the resolved address (PC-relative fields are not monotonic themselves), or \
             clear SFRAME_F_FDE_SORTED.",
    source: "V3 2.1.3, 2.3.1; observed: libsframe and the kernel search by resolved address",
    example: "a sorted table with functions at 0x1010 and 0x1000",
    check: Check::Function(|function, report| {
        let (Ok(start), Some((before, _))) = (function.start, function.previous) else { return };
        let sorted = function.whole.header().flags.sorted();
        if sorted && function.whole.kind != FileKind::Relocatable && start < before {
            report.field(
                function.field(FunctionField::Start),
                format_args!("{:#x}", start.address),
                format_args!("at least {:#x}", before.address),
                format_args!(
                    "the table is said to be sorted, but function #{} at {:#x} follows one at \
                     {:#x}",
                    function.entry.index(),
                    start.address,
                    before.address
                ),
            );
        }
    }),
};

pub(super) static FUNCTION_OVERLAP: Rule = Rule {
    name: "function-overlap",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "no byte of code belongs to two functions",
    consequence: "Which of the two a reader finds for a PC is left to chance.",
    remedy: "Correct the start or the size of one of them; a discarded function's entry must go.",
    source: "V3 2.3; observed: readers take the last entry that starts at or before the PC",
    example: "functions at 0x1000 and 0x1008, 16 bytes each",
    check: Check::Total(|total, report| {
        let section = total.whole.section;
        for Overlap { before, first, count } in total.extents.overlapping_code() {
            if count > 1 {
                let Some(entry) = section.entry(before.index) else { continue };
                report.about(identify(&before)).field(
                    entry.field(FunctionField::Size),
                    format_args!("{:#x}", before.size),
                    format_args!("at most {:#x}", first.start.address - before.start.address),
                    format_args!(
                        "function #{} at {:#x} ({:#x} bytes) runs over {count} others",
                        before.index, before.start.address, before.size
                    ),
                );
                continue;
            }
            let Some(entry) = section.entry(first.index).filter(|_| !same(&before, &first)) else {
                continue;
            };
            report.about(identify(&first)).field(
                entry.field(FunctionField::Start),
                format_args!("{:#x}", first.start.address),
                format_args!("at least {:#x}", before.end().address),
                format_args!(
                    "function #{} at {:#x} starts inside function #{}, {:#x}..{:#x}",
                    first.index,
                    first.start.address,
                    before.index,
                    before.start.address,
                    before.end().address
                ),
            );
        }
    }),
};

pub(super) static FUNCTION_DUPLICATE: Rule = Rule {
    name: "function-duplicate",
    group: Group::Functions,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "no two entries describe the same code",
    consequence: "Which of the two a reader finds is left to chance; the kernel's validation \
                  refuses the section.",
    remedy: "Keep one of the entries.",
    source: "V3 2.3; observed: the kernel's patches ask for strictly ascending starts",
    example: "two functions at 0x1000, 16 bytes each",
    check: Check::Total(|total, report| {
        let section = total.whole.section;
        for Overlap { before, first, count } in total.extents.overlapping_code() {
            let duplicate = count == 1 && same(&before, &first);
            let Some(entry) = section.entry(first.index).filter(|_| duplicate) else { continue };
            report.about(identify(&first)).field(
                entry.field(FunctionField::Start),
                format_args!("{:#x}", first.start.address),
                "one entry for a function",
                format_args!(
                    "function #{} describes the same code as function #{}",
                    first.index, before.index
                ),
            );
        }
    }),
};
