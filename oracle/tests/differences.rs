//! Tests of the place and the cause of a difference, against objdump's output for the golden files, and with one byte
//! of the files changed.

#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "a test program: it may panic"
)]

mod common;

use common::{ALL, ALL_BY_PATTERN, golden, of_file, open};
use sframe_oracle::account::{Options, Similar, account};
use sframe_validator::finding::CodeSpan;
use sframe_validator::unwind::CodeAddress;

/// `corpus/NOTES.md`: entries of `.plt.got` are wrong by one slot. objdump prints function 2 at 0x860 with one row,
/// `sp+16`. Its entry is at 0x5c + 2 * 16 after the header of 28 bytes.
#[test]
fn differences_state_their_place_and_values() {
    of_file("2.47.50/x86_64/shared.so", &Options::default(), |account| {
        let [difference] = account.differences.as_slice() else { panic!("one difference") };
        let finding = &difference.finding;
        assert_eq!(finding.rule.name, "cfa-mismatch");
        assert_eq!(finding.message, "CFA is rsp+16, CFI says rsp+8");
        // The jump has six bytes. The code decides nothing about the padding after it.
        assert_eq!(
            finding.code,
            Some(CodeSpan { start: CodeAddress::absolute(0x860), end: 0x866 })
        );
        let function = finding.function.expect("known");
        assert_eq!((function.index, function.size, finding.row), (2, 8, Some(0)));
        assert_eq!(function.start, Some(CodeAddress::absolute(0x860)));
        // A row with a start of 1 byte, the info byte, and 1 word.
        assert_eq!(finding.bytes.end - finding.bytes.start, 3);
        assert_eq!(finding.offset, Some(finding.bytes.start));
        let data = golden("2.47.50/x86_64/shared.so");
        open(&data, |_, sections, _| {
            let bytes = &sections[0].data()[finding.bytes.start as usize..];
            assert_eq!(bytes[..3], [0, 0x03, 16]);
        });
        let padding = Similar { functions: 0, ranges: 1, bytes: 2 };
        assert_eq!(difference.similar, Some(padding));
    });
}

/// objdump of the same file: `remembers` is function 4, at 0x1b, and has 13 bytes. 2.47.50 has rows at 0, 1, 4, 6 and
/// 8; 2.44 has other values from 3 on (`corpus/NOTES.md`).
#[test]
fn rows_are_numbered_as_they_are_stored() {
    of_file("2.44/x86_64/cfi.o", &ALL, |account| {
        for difference in &account.differences {
            let finding = &difference.finding;
            let data = golden("2.44/x86_64/cfi.o");
            open(&data, |_, sections, _| {
                let section = &sections[0];
                let function = finding.function.expect("known");
                let entry = section.entry(function.index).expect("in the table");
                let function = entry.function().expect("readable");
                let rows: Vec<_> =
                    function.frame_row_entries().expect("readable").flatten().collect();
                let number = finding.row.expect("known") as usize;
                let offset = difference.start.address - entry.start().expect("known").address;
                // The last row that starts at or before the PC.
                let last = rows.iter().rposition(|row| u64::from(row.start) <= offset);
                assert_eq!(last, Some(number));
                assert_eq!(finding.offset, Some(rows[number].offset));
            });
        }
        assert!(account.differences.len() > 2);
    });
}

/// Each row of five libraries is moved to its function's last instruction. The preceding row then applies to all
/// following code, where CFI's rows differ from it in one field or another. The cause must be the byte that was
/// changed.
#[test]
fn a_wrong_row_start_is_one_finding_at_that_row() {
    let mut errors = 0;
    for name in [
        "2.44/x86_64/throw.so",
        "2.44/aarch64/throw.so",
        "2.47.50/x86_64/throw.so",
        "2.47.50/aarch64_be/throw.so",
        "2.47.50/s390x/throw.so",
    ] {
        let data = golden(name);
        let (before, changes) = open(&data, |elf, sections, cfi| {
            let header = elf.sframe_sections().next().expect("one");
            let mut changes = Vec::new();
            for function in sections[0].functions().flatten() {
                let rows = function.frame_row_entries().expect("readable").flatten();
                let rows: Vec<_> = rows.collect();
                let plain = function.repeat_size() == Ok(None);
                let last = function.size().saturating_sub(4);
                for (number, pair) in (1_u32..).zip(rows.windows(2)) {
                    let row = &pair[1];
                    // Some rows equal the preceding one.
                    let news =
                        (pair[0].info, pair[0].words.bytes()) != (row.info, row.words.bytes());
                    // The field of a short function is in its low byte, in either byte order.
                    let short = function.size() < 0x100 && row.fre_type.width() == 1;
                    if plain && short && news && row.start < last {
                        changes.push((header.offset, row.offset, number, row.start, last));
                    }
                }
            }
            (account(elf, sections, cfi, &Options::default()).counts, changes)
        });
        for (section, offset, number, from, to) in changes {
            let mut data = data.clone();
            data[(section + offset) as usize] = to as u8;
            open(&data, |elf, sections, cfi| {
                let account = account(elf, sections, cfi, &ALL_BY_PATTERN);
                let sum = |counts: &[(_, u64)]| counts.iter().map(|(_, count)| count).sum::<u64>();
                assert_eq!(sum(&account.counts), sum(&before) + 1, "{name}: {offset:#x}");
                let found = account.differences.iter().find(|d| d.finding.offset == Some(offset));
                let finding = &found.expect("at the row").finding;
                assert_eq!(finding.row, Some(number));
                let cause = format!(
                    "row {number} starts at +{to:#x}, CFI says the same from +{from:#x} on"
                );
                assert!(finding.message.ends_with(&cause), "{}", finding.message);
            });
            errors += 1;
        }
    }
    assert!(errors >= 40, "{errors}");
}
