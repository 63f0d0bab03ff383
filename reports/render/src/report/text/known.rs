//! Known defects in words.

use sframe_record::text::printable;

/// `ld-plt-got (GNU ld 2.44 to 2.47.50)`.
pub(crate) fn in_short(id: &str) -> String {
    match sframe_defects::find(id) {
        Some(defect) => format!("{id} ({})", defect.affected()),
        None => printable(id),
    }
}

/// `ld-plt-got (GNU ld 2.44 to 2.47.50; not caused by this file)`.
pub(crate) fn in_full(id: &str) -> String {
    match sframe_defects::find(id) {
        Some(defect) => format!("{id} ({}; not caused by this file)", defect.affected()),
        None => printable(id),
    }
}
