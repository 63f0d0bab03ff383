//! Why the machine code decides nothing about some rows.

use std::io::{self, Write};

use super::coverage::example;
use sframe_record::numbers::grouped;
use sframe_record::{FunctionPlace, ProofTotal, SymbolNames, UnprovenBytes};

/// Writes the bytes for each reason, and the first place of each.
pub(super) fn totals(
    out: &mut dyn Write,
    total: &ProofTotal<'_>,
    noun: &str,
    names: SymbolNames,
) -> io::Result<()> {
    for (name, reasons) in total.proofs.undecided(noun) {
        writeln!(out, "  undecided bytes of {name}:")?;
        for reason in reasons {
            let text = text(reason, total.files, names);
            writeln!(out, "  {:>13}  {text}", grouped(reason.bytes))?;
        }
    }
    Ok(())
}

/// `the paths that lead there disagree; first f+0x20 at 0x1020, see 0x1010 jmp *%rax`. The file is named if there are
/// several.
fn text(reason: &UnprovenBytes<'_>, files: u64, names: SymbolNames) -> String {
    let first = reason.first.clone().map(|first| {
        let file = first.file.clone().filter(|_| files > 1);
        format!("; first {}", example(&FunctionPlace { file, ..first }, names))
    });
    let cause = reason.cause.as_ref().map(|cause| format!(", see {}", cause.named()));
    [Some(reason.reason.description().to_owned()), first, cause].into_iter().flatten().collect()
}
