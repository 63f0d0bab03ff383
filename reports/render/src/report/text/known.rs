//! Known defects in words.

use sframe_record::Owner;
use sframe_record::numbers::counted;
use sframe_record::text::printable;

/// As [`in_short`], with the number of its findings for a trait of a compiler, which is in most functions.
pub(crate) fn with_count(id: &str, count: u64) -> String {
    match sframe_defects::find(id) {
        Some(defect) if defect.owner == Owner::Compiler => {
            let (findings, affected) = (counted(count, "finding"), defect.affected());
            format!("{id}, {findings} ({affected}; {})", defect.consequence())
        }
        _ => in_short(id),
    }
}

/// `ld-plt-got (GNU ld 2.44 to 2.47.50; partial: the stubs of .plt.got)`.
pub(crate) fn in_short(id: &str) -> String {
    match sframe_defects::find(id) {
        Some(defect) => format!("{id} ({}; {})", defect.affected(), defect.consequence()),
        None => printable(id),
    }
}

/// `ld-plt-got (GNU ld 2.44 to 2.47.50; not caused by this file; partial: the stubs of .plt.got)`.
pub(crate) fn in_full(id: &str) -> String {
    match sframe_defects::find(id) {
        Some(defect) => {
            let (affected, consequence) = (defect.affected(), defect.consequence());
            format!("{id} ({affected}; not caused by this file; {consequence})")
        }
        None => printable(id),
    }
}
