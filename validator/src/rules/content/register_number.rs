use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::Version;
use crate::subject::RowContext;
use crate::unwind::Recovery;

pub(super) static RULE: Rule = Rule {
    name: "register-number",
    group: Group::Content,
    severity: Severity::Error,
    versions: Versions::V2,
    abis: Abis::S390X,
    about_tools: false,
    page: Page {
        summary: "an odd word for RA or FP names one of the registers 0 to 31",
        consequence: "There is no such register, so the frame cannot be recovered.",
        remedy: "Encode only general and floating-point registers.",
        source: "V2 errata 1 (SFRAME_V2_S390X_OFFSET_ENCODE_REGNUM); the s390x ELF ABI's numbering",
        example: "a version 2 s390x row with FP's word 65, register 32",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let Ok(frame) = row.frame else { return };
    if row.layout.version != Version::V2 {
        return;
    }
    for (name, index, recovery) in [("RA", 1, frame.ra), ("FP", 2, frame.fp)] {
        if let Recovery::RegisterOffset { register, .. } = recovery
            && register.0 > 31
        {
            report.field(
                row.word(index),
                register.0.cast_signed(),
                "0 to 31",
                format_args!(
                    "row {} says that {name} is in register {}, which does not exist",
                    row.index,
                    register.0.cast_signed()
                ),
            );
        }
    }
}
