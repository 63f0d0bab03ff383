//! What the machine code proves about the rows of all files.

use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::{ProofBytes, ProofTotal};

/// One line about how much of the rows is proven. `noun` is what people call the tables that SFrame was compared with.
pub(super) fn in_short(total: &ProofTotal, noun: &str) -> String {
    let of = |name: &str, bytes: &ProofBytes| {
        let share = percent(bytes.proven, bytes.total());
        let mut parts = vec![format!("{share} of {name} is right")];
        let others = [
            (bytes.refuted, "wrong"),
            (bytes.unknown, "unknown"),
            (bytes.unreached, "not reached"),
        ];
        let some = others.into_iter().filter(|(number, _)| *number > 0);
        parts.extend(some.enumerate().map(|(place, (number, what))| match place {
            0 => format!("{} {what}", counted(number, "byte")),
            _ => format!("{} {what}", grouped(number)),
        }));
        parts.join(", ")
    };
    let sframe = total.proofs.sframe.as_ref().map(|bytes| of("SFrame", bytes));
    let cfi = total.proofs.cfi.as_ref().map(|bytes| of(noun, bytes));
    let parts: Vec<String> = [sframe, cfi].into_iter().flatten().collect();
    let nothing = || "there are no rows".to_owned();
    let proofs = if parts.is_empty() { nothing() } else { parts.join("; ") };
    format!("compared with the code of {}: {proofs}", counted(total.files, "file"))
}
