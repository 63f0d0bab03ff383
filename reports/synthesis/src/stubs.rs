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
    // Each block that repeats has a row of its own, so a few rows in a large function need no search.
    if u64::from(function.size) / BLOCK > function.rows.len() as u64 + MOST_HEAD {
        return vec![function];
    }
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

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests may panic")]
mod tests {
    use sframe_validator::Abi;
    use sframe_validator::unwind::{Cfa, Frame, Recovery};

    use super::*;

    fn row(start: u64, end: u64, offset: i64) -> Row {
        let cfa = Cfa::RegisterOffset { register: Abi::Amd64.sp(), offset };
        let frame =
            Frame { cfa, ra: Recovery::AtCfa(-8), fp: Recovery::Unchanged, ra_signed: false };
        Row { start, end, frame }
    }

    fn function(size: u32, rows: Vec<Row>) -> Function {
        Function {
            start: CodeAddress::absolute(0x100),
            size,
            signal: false,
            pauth_key_b: false,
            block: None,
            start_width: None,
            flexible: false,
            rows,
        }
    }

    /// The table that GNU ld makes on AMD64, from its CFI: a head of 16 bytes, which pushes twice, and three stubs,
    /// each of which pushes in its second instruction, at 11.
    #[test]
    fn lazy_stubs_are_a_head_and_a_block() {
        let stubs = [0x110, 0x120, 0x130];
        let mut rows = vec![row(0x100, 0x106, 16), row(0x106, 0x110, 24)];
        for stub in stubs {
            rows.extend([row(stub, stub + 11, 8), row(stub + 11, stub + 16, 16)]);
        }
        let [head, block] = fold(function(64, rows.clone())).try_into().expect("two parts");
        assert_eq!((head.start.address, head.size, head.block), (0x100, 16, None));
        assert_eq!(head.rows, rows[..2]);
        assert_eq!((block.start.address, block.size, block.block), (0x110, 48, Some(16)));
        assert_eq!(block.rows, rows[2..4]);
    }

    /// One stub is different, or cut: nothing repeats.
    #[test]
    fn other_rows_stay_as_they_are() {
        let different = vec![
            row(0x100, 0x10b, 8),
            row(0x10b, 0x110, 16),
            row(0x110, 0x11b, 8),
            row(0x11b, 0x120, 16),
            row(0x120, 0x12a, 8),
            row(0x12a, 0x130, 16),
        ];
        assert_eq!(fold(function(0x30, different.clone())), [function(0x30, different)]);
        let cut = vec![
            row(0x100, 0x10b, 8),
            row(0x10b, 0x110, 16),
            row(0x110, 0x11b, 8),
            row(0x11b, 0x120, 16),
            row(0x120, 0x128, 8),
        ];
        assert_eq!(fold(function(0x28, cut.clone())), [function(0x28, cut)]);
    }
}
