//! The section against the file's symbols and stub sections. All of it is lint: what is not covered
//! may have no unwind information at all, which only its CFI can tell.

use alloc::vec::Vec;

use super::context::{Check, FileKind};
use super::{Abis, Group, Rule, Severity, Versions};
use crate::check::extents::{CodeExtent, Extents};
use crate::section::{CodeAddress, FunctionEntry, FunctionField};

/// The code of functions that have some, ordered by place.
fn code(extents: &Extents) -> Vec<CodeExtent> {
    extents.code.iter().copied().filter(|extent| extent.size > 0).collect()
}

/// Whether a function covers the byte at `place`. Functions may overlap in a broken section; then
/// the nearest start decides.
fn covered(code: &[CodeExtent], place: CodeAddress) -> bool {
    let after = code.partition_point(|extent| extent.start <= place);
    let before = after.checked_sub(1).and_then(|before| code.get(before));
    before.is_some_and(|extent| place < extent.end())
}

pub(super) static SYMBOL_UNCOVERED: Rule = Rule {
    name: "symbol-uncovered",
    group: Group::Coverage,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "every function symbol's code has an entry",
    consequence: "Stack traces end in the function.",
    remedy: "Give hand-written assembly CFI; look at the assembler's warnings for the function.",
    source: "observed: GNU as writes no entry for functions whose CFI it cannot express",
    example: "a shared object with a function symbol that no entry covers",
    check: Check::Total(|total, report| {
        let Some(facts) = total.facts else { return };
        let code = code(total.extents);
        for symbol in facts.symbols.symbols() {
            if symbol.size > 0 && !covered(&code, symbol.start) {
                report.file(format_args!(
                    "function {} at {:#x} ({:#x} bytes) has no entry",
                    symbol.name, symbol.start.address, symbol.size
                ));
            }
        }
    }),
};

pub(super) static FUNCTION_SIZE_SYMBOL: Rule = Rule {
    name: "function-size-symbol",
    group: Group::Coverage,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "an entry that starts at a symbol has the symbol's size",
    consequence: "A part of the function has no rows, or rows of it are applied to what follows. \
                  Legitimate for functions with more than one CFI procedure.",
    remedy: "Compare the labels of .size and .cfi_endproc.",
    source: "observed: compilers put both at the function's end",
    example: "an entry of 8 bytes for a function symbol of 16",
    check: Check::Total(|total, report| {
        let Some(facts) = total.facts else { return };
        let symbols = facts.symbols.symbols();
        let mut code = code(total.extents);
        // Of functions at one place, which is a defect of its own, one is compared.
        code.dedup_by_key(|extent| extent.start);
        for extent in &code {
            let first = symbols.partition_point(|symbol| symbol.start < extent.start);
            let mut here = symbols
                .get(first..)
                .unwrap_or_default()
                .iter()
                .take_while(|symbol| symbol.start == extent.start)
                .filter(|symbol| symbol.size > 0)
                .peekable();
            let Some(named) = here.peek().copied() else { continue };
            let Some(entry) = total.whole.section.entry(extent.index) else { continue };
            if here.all(|symbol| symbol.size != u64::from(extent.size)) {
                report.field(
                    entry.field(FunctionField::Size),
                    format_args!("{:#x}", extent.size),
                    format_args!("{:#x}", named.size),
                    format_args!(
                        "function #{} has {:#x} bytes, its symbol {} has {:#x}",
                        extent.index, extent.size, named.name, named.size
                    ),
                );
            }
        }
    }),
};

pub(super) static STUBS_UNCOVERED: Rule = Rule {
    name: "stubs-uncovered",
    group: Group::Coverage,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::AMD64,
    summary: "the linker's stub sections (.plt, .plt.sec, .plt.got) have entries",
    consequence: "Stack traces that a profiler takes in a stub end there.",
    remedy: "Link with GNU ld; mold writes no entries for its stubs.",
    source: "observed: GNU ld writes them for AMD64 and s390x",
    example: "a shared object whose .plt has no entry",
    check: Check::Total(|total, report| {
        let linked = total.whole.kind == FileKind::Linked;
        let Some(facts) = total.facts.filter(|_| linked) else { return };
        let code = code(total.extents);
        for stubs in &facts.stubs {
            let start = CodeAddress::absolute(stubs.address);
            let last = CodeAddress::absolute(stubs.address.saturating_add(stubs.size - 1));
            if !covered(&code, start) || !covered(&code, last) {
                report.file(format_args!(
                    "stub section {} at {:#x} ({:#x} bytes) is not covered",
                    stubs.name, stubs.address, stubs.size
                ));
            }
        }
    }),
};

pub(super) static REPEAT_OUTSIDE_STUBS: Rule = Rule {
    name: "repeat-outside-stubs",
    group: Group::Coverage,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "functions whose rows repeat are the linker's stubs",
    consequence: "In ordinary code the rows of the first block are applied to all others.",
    remedy: "Check the PC type in the function's info byte.",
    source: "V3 2.3.3.1; observed: GNU ld writes such functions for .plt and its like alone",
    example: "a shared object with a function of PC type MASK in .text",
    check: Check::Total(|total, report| {
        let linked = total.whole.kind == FileKind::Linked;
        let Some(facts) = total.facts.filter(|_| linked) else { return };
        let section = total.whole.section;
        for extent in &total.extents.code {
            let function = section.entry(extent.index).map(FunctionEntry::function);
            let Some(Ok(function)) = function else { continue };
            let info = function.attributes().info;
            if info.is_pc_mask() && !facts.in_stubs(extent.start, extent.size) {
                report.field(
                    function.entry().field(FunctionField::Info),
                    format_args!("{:#04x}", info.0),
                    "bit 0x10 clear",
                    format_args!(
                        "the rows of function #{} repeat, but it is in no stub section",
                        extent.index
                    ),
                );
            }
        }
    }),
};
