//! The figures of several scans, oldest first: lines over time.

use serde::Serialize;
use sframe_history::changes::Changes;
use sframe_record::Summary;

use crate::strings::shown;

/// The figures of one scan. Figures that are unknown are absent.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Point {
    /// Its name, such as the path of its store.
    pub(crate) label: String,
    errors: Option<u64>,
    warnings: Option<u64>,
    files: Option<u64>,
    with_section: Option<u64>,
    /// Bytes of code in files with a section, and the part that SFrame describes.
    code: Option<u64>,
    covered: Option<u64>,
    /// Bytes of code where SFrame and CFI differ.
    different: Option<u64>,
    undecided: Option<u64>,
}

impl Point {
    /// The figures of a scan.
    pub(crate) fn of(label: &str, summary: &Summary<'_>) -> Point {
        let compared = summary.compared.as_ref();
        Point {
            label: shown(label).0,
            errors: Some(summary.errors),
            warnings: Some(summary.warnings),
            files: Some(summary.checked),
            with_section: Some(summary.with_section),
            code: Some(summary.code_bytes_with_section),
            covered: Some(summary.covered_bytes),
            different: compared.map(|total| total.coverage.bytes.different),
            undecided: Some(summary.undecided),
        }
    }

    /// The figures of both scans in a comparison, as far as it has them.
    pub(crate) fn both(changes: &Changes) -> [Point; 2] {
        let described = [&changes.summary.described_old, &changes.summary.described_new];
        let mut points = [&changes.old, &changes.new].map(|scan| Point {
            label: shown(&scan.name).0,
            files: Some(scan.files),
            ..Point::default()
        });
        for (point, described) in points.iter_mut().zip(described) {
            point.code = Some(described.code_bytes);
            point.covered = Some(described.described_bytes);
        }
        points
    }
}
