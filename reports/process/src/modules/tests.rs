//! Tests with libraries of the corpus, with the tables of other tools as the truth.

use super::*;

/// Whatever overlaps in a damaged core dump, each address has at most one mapping, and the offsets in files fit.
#[test]
fn overlapping_mappings_are_cut() {
    let file = FileId(0);
    let mapping =
        |start, end, offset| Mapping { start, end, executable: true, file: Some((file, offset)) };
    let mut modules = Modules::new();
    modules.map(vec![
        mapping(0x3000, 0x5000, 0x10),
        mapping(0x1000, 0x4000, 0),
        mapping(0x2000, 0x2000, 0),
        mapping(0x6000, 0x5000, 0),
        mapping(u64::MAX - 1, u64::MAX, u64::MAX),
    ]);
    assert_eq!(
        modules.mappings(),
        [
            mapping(0x1000, 0x4000, 0),
            mapping(0x4000, 0x5000, 0x1010),
            mapping(u64::MAX - 1, u64::MAX, u64::MAX)
        ]
    );
    let found = [0, 0xfff, 0x1000, 0x3fff, 0x4000, 0x5000, u64::MAX]
        .map(|a| modules.mapping(a).map(|m| m.start));
    assert_eq!(found, [None, None, Some(0x1000), Some(0x1000), Some(0x4000), None, None]);
}
