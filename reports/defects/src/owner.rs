//! Who has to act on a finding that is no case of a known defect.

use sframe_record::{Finding, Owner, Record, UnwindTable, Wrong};

/// Sections that linkers make.
const STUBS: [&str; 4] = [".plt", ".plt.got", ".plt.sec", ".iplt"];
/// The rule about rows that were compared with the machine code, and not with CFI.
const WITHOUT_CFI: &str = "sframe-contradicts-code";

/// The owner of a finding; unknown, if the file does not show who made the mistake.
pub(crate) fn of(record: &Record<'_>, finding: &Finding<'_>) -> Owner {
    let is_stub = finding.elf_section.as_deref().is_some_and(|name| STUBS.contains(&name));
    if is_stub {
        return Owner::Linker;
    }
    if let Some(owner) = by_ruling(record, finding) {
        return owner;
    }
    match finding.rule.as_str() {
        "obsolete-version" if record.elf_type.is_some() => Owner::Assembler,
        "concatenated-section" | "mixed-inputs" => Owner::Linker,
        // As for rows: the directives are in the source.
        "register-contradicts-code" => Owner::Yours,
        rule if rule.starts_with("segment-") => Owner::Linker,
        _ => Owner::Unknown,
    }
}

/// The owner of a row that the machine code proves wrong.
fn by_ruling(record: &Record<'_>, finding: &Finding<'_>) -> Option<Owner> {
    let ruling = finding.difference.as_ref()?.ruling.as_ref()?;
    // Only CFI shows what the directives said from which SFrame was made. ORC tables are objtool's.
    let has_cfi = finding.rule.as_str() != WITHOUT_CFI && record.table != Some(UnwindTable::Orc);
    match ruling.wrong {
        Wrong::Sframe | Wrong::Cfi | Wrong::Inherited if !has_cfi => Some(Owner::Unknown),
        // The directives are in the source, or in the compiler that its author chose.
        Wrong::Cfi | Wrong::Inherited => Some(Owner::Yours),
        // Assemblers make rows from directives; linkers copy them.
        Wrong::Sframe => Some(Owner::Assembler),
        Wrong::Both | Wrong::Neither | Wrong::Undecided => None,
    }
}
