//! A linker's stubs: rows that repeat in each block.

use sframe_validator::unwind::{CodeAddress, Row};

use crate::model::{Function, merge};

/// The size in bytes of a lazy stub, which is that of the block in the linker's CFI expression.
const BLOCK: u64 = 16;
/// The maximum number of blocks before the rows repeat.
const MOST_HEAD: u64 = 4;

/// Splits a function whose rows repeat into its head and one block. Other functions stay as they are.
pub(crate) fn fold(function: Function) -> Vec<Function> {
    let start = function.start.address;
    let end = start.saturating_add(function.size.into());
    let heads = (0..=MOST_HEAD).map(|head| start.saturating_add(head * BLOCK));
    let head = heads.take_while(|head| *head < end).find(|head| {
        // Readers disagree whether blocks count from the function's start or from address 0.
        head.is_multiple_of(BLOCK)
            && end.is_multiple_of(BLOCK)
            && repeats(&function.rows, *head, end)
    });
    let Some(head) = head.filter(|head| function.rows.len() > 2 && end - head > 2 * BLOCK) else {
        return vec![function];
    };
    let part = |from: u64, to: u64| Function {
        start: CodeAddress { address: from, ..function.start },
        size: u32::try_from(to - from).unwrap_or(u32::MAX),
        rows: within(&function.rows, from, to),
        ..function.clone()
    };
    let mut block = part(head, end);
    block.rows = within(&function.rows, head, head.saturating_add(BLOCK));
    block.block = Some(16);
    let before = (head > start).then(|| part(start, head));
    before.into_iter().chain([block]).collect()
}

/// The rows in a range, cut to it.
fn within(rows: &[Row], from: u64, to: u64) -> Vec<Row> {
    let inside = rows.iter().filter(|row| row.start < to && row.end > from);
    inside.map(|row| Row { start: row.start.max(from), end: row.end.min(to), ..*row }).collect()
}

/// Whether the rows from `head` to `end` are those of the first block, again and again.
fn repeats(rows: &[Row], head: u64, end: u64) -> bool {
    let block = within(rows, head, head.saturating_add(BLOCK));
    let mut expected = Vec::new();
    let mut from = head;
    while from < end {
        for row in &block {
            let shift = from - head;
            let start = row.start.saturating_add(shift);
            let next = Row { start, end: row.end.saturating_add(shift).min(end), ..*row };
            if next.start < end && !expected.last_mut().is_some_and(|last| merge(last, &next)) {
                expected.push(next);
            }
        }
        if expected.len() > rows.len() {
            return false;
        }
        from = from.saturating_add(BLOCK);
    }
    expected == within(rows, head, end)
}
