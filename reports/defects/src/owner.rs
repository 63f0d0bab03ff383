//! Who has to act on a finding that is no case of a known defect.

use sframe_record::{Finding, Owner, Record, Wrong};

/// Sections that linkers make.
const STUBS: [&str; 4] = [".plt", ".plt.got", ".plt.sec", ".iplt"];

/// The owner of a finding; unknown, if the file does not show who made the mistake.
pub(crate) fn of(record: &Record<'_>, finding: &Finding<'_>) -> Owner {
    let is_stub = finding.elf_section.as_deref().is_some_and(|name| STUBS.contains(&name));
    if is_stub {
        return Owner::Linker;
    }
    let ruling = finding.difference.as_ref().and_then(|difference| difference.ruling.as_ref());
    match ruling.map(|ruling| ruling.wrong) {
        // The directives are in the source, or in the compiler that its author chose.
        Some(Wrong::Cfi | Wrong::Inherited) => return Owner::Yours,
        // Assemblers make rows from directives; linkers copy them.
        Some(Wrong::Sframe) => return Owner::Assembler,
        Some(Wrong::Both | Wrong::Neither | Wrong::Undecided) | None => {}
    }
    match finding.rule.as_str() {
        "obsolete-version" if record.elf_type.is_some() => Owner::Assembler,
        "concatenated-section" | "mixed-inputs" => Owner::Linker,
        rule if rule.starts_with("segment-") => Owner::Linker,
        _ => Owner::Unknown,
    }
}
