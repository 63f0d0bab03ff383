use super::{code, covered};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::{FileKind, TotalContext};
use crate::unwind::CodeAddress;

pub(super) static RULE: Rule = Rule {
    name: "stubs-uncovered",
    group: Group::Coverage,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::AMD64,
    about_tools: false,
    page: Page {
        summary: "the linker's stub sections (.plt, .plt.sec, .plt.got) have entries",
        consequence: "Stack traces that a profiler takes in a stub end there.",
        remedy: "Link with GNU ld; mold writes no entries for its stubs.",
        source: "observed: GNU ld writes them for AMD64 and s390x",
        example: "a shared object whose .plt has no entry",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
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
}
