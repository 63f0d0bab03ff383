use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::{FileKind, TotalContext};
use crate::text::Text;

pub(super) static RULE: Rule = Rule {
    name: "stale-after-rewriting",
    group: Group::Coverage,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "after BOLT has rewritten a file, no function describes code that it has replaced",
        consequence: "The functions run at other addresses, where the section has no rows for \
                      them. Stack traces through them end.",
        remedy: "Make the section anew: `sframe-check synthesize --replace`.",
        source: "observed: llvm-bolt 19 writes .eh_frame for the new code, and leaves .sframe as \
                 it was; llvm/llvm-project#115067",
        example: "a program with functions in .bolt.org.text",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
    let linked = total.whole.kind == FileKind::Linked;
    let Some(elf) = total.elf.filter(|_| linked) else { return };
    let Some(replaced) = elf.replaced_code() else { return };
    let functions = total.extents.code.iter().filter(|extent| extent.size > 0);
    let mut stale = functions.clone().filter_map(|extent| replaced.section_of(extent.start));
    let Some(first) = stale.next() else { return };
    let (stale, all) = (stale.count().saturating_add(1), functions.count());
    let new = first.name.bytes().strip_prefix(b".bolt.org").unwrap_or_default();
    let new = Text::of(new);
    report.file(format_args!(
        "{stale} of {all} functions describe code in {} that nothing executes any longer: BOLT \
         has replaced it by code in {new}",
        first.name
    ));
}
