//! The line that says who has to act on a finding.

use sframe_record::{Finding, Owner, Record, Wrong};

/// The owner, or why it is undecided; `None` if nothing is known about it.
pub(super) fn of(record: &Record<'_>, finding: &Finding<'_>) -> Option<String> {
    match finding.owner {
        Owner::Unknown if is_sframe_wrong(finding) => {
            Some("undecided, the assembler or the author of the CFI".to_owned())
        }
        Owner::Unknown if sframe_defects::depends_on_origin(record, finding) => {
            Some("undecided, the compiler or the author of assembly".to_owned())
        }
        _ => finding.owner_in_words(),
    }
}

/// Whether the machine code proves SFrame wrong.
fn is_sframe_wrong(finding: &Finding<'_>) -> bool {
    let ruling = finding.difference.as_ref().and_then(|difference| difference.ruling.as_ref());
    ruling.is_some_and(|ruling| ruling.wrong == Wrong::Sframe)
}
