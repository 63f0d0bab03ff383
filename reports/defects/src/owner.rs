//! Who has to act on a finding that is no case of a known defect.

use sframe_record::{Finding, Origin, OriginKind, Owner, Record, UnwindTable, Wrong};

/// Sections that linkers make.
const STUBS: [&str; 4] = [".plt", ".plt.got", ".plt.sec", ".iplt"];
/// The rule about rows that were compared with the machine code, and not with CFI.
const WITHOUT_CFI: &str = "sframe-contradicts-code";

/// The rule about registers that SFrame does not carry.
const REGISTERS: &str = "register-contradicts-code";

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
        REGISTERS => of_directives(finding),
        rule if rule.starts_with("segment-") => Owner::Linker,
        _ => Owner::Unknown,
    }
}

/// Whether the owner of a finding depends on what its code was made from: CFI is wrong.
#[must_use]
pub fn depends_on_origin(record: &Record<'_>, finding: &Finding<'_>) -> bool {
    let ruling = finding.difference.as_ref().and_then(|of| of.ruling.as_ref());
    let is_wrong = ruling.is_some_and(|of| matches!(of.wrong, Wrong::Cfi | Wrong::Inherited));
    record.table != Some(UnwindTable::Orc) && (is_wrong || finding.rule.as_str() == REGISTERS)
}

/// The owner of wrong directives: the author of assembly, or the compiler that wrote them.
fn of_directives(finding: &Finding<'_>) -> Owner {
    match finding.origin.as_deref() {
        Some(Origin { kind: OriginKind::Assembly, .. }) => Owner::Yours,
        Some(Origin { kind: OriginKind::Compiled, .. }) => Owner::Compiler,
        None => Owner::Unknown,
    }
}

/// The owner of a row that the machine code proves wrong.
fn by_ruling(record: &Record<'_>, finding: &Finding<'_>) -> Option<Owner> {
    let ruling = finding.difference.as_ref()?.ruling.as_ref()?;
    // Only CFI shows what the directives said from which SFrame was made. ORC tables are objtool's.
    let has_cfi = finding.rule.as_str() != WITHOUT_CFI && record.table != Some(UnwindTable::Orc);
    match ruling.wrong {
        Wrong::Sframe | Wrong::Cfi | Wrong::Inherited if !has_cfi => Some(Owner::Unknown),
        Wrong::Cfi | Wrong::Inherited => Some(of_directives(finding)),
        // Assemblers make rows from directives; linkers copy them.
        Wrong::Sframe => Some(Owner::Assembler),
        Wrong::Both | Wrong::Neither | Wrong::Undecided => None,
    }
}
