//! Rows that repeat: a block of rows that is valid again in each block of the function.
//!
//! Version 1 records neither the size of the block nor where blocks start; its text compares bits of the PC (V1 1.3.2).
//! A *reading* consists of a block size, which divides the function's size and has room for all rows, and one of two
//! origins: the function's start or address 0. Another witness refutes wrong readings. If all remaining readings are
//! equivalent, they are used.

use sframe_validator::unwind::Row;

use super::rows::Piece;

/// The maximum block size: version 2 records the size in one byte (V2 2.3).
const MAX_BLOCK: u64 = 0xff;

/// How a function's rows repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// The size of a block in bytes.
    pub(super) block: u64,
    /// The offset in bytes of the function's start in a block.
    pub(super) phase: u64,
}

/// The code of a function whose rows repeat.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// The start of the function.
    pub(super) start: u64,
    /// The size of the function, including code that another function hides.
    pub(super) size: u64,
    /// The address where the function ends or is hidden by another one.
    pub(super) end: u64,
}

/// The evidence of another witness about a row at one PC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    /// Whether the row is correct there; `None` if unknown.
    pub(crate) agrees: Option<bool>,
    /// The end of the code for which that applies.
    pub(crate) until: u64,
}

impl Evidence {
    /// Evidence that contains nothing.
    pub(crate) const NONE: Evidence = Evidence { agrees: None, until: u64::MAX };
}

/// The pieces of a function whose rows repeat, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    reading: Reading,
    span: Span,
    /// The start of the current block.
    at: u64,
    /// The number of bytes of that block before the function, which may start inside a block.
    skipped: u64,
    /// The number of the next row in the block.
    row: usize,
}

impl Blocks {
    pub(super) const fn new(reading: Reading, span: Span) -> Blocks {
        Blocks { reading, span, at: span.start, skipped: reading.phase, row: 0 }
    }

    /// The next piece, given the rows of the first block. Once no repetitions are left, the rest of the function is a
    /// piece without a row.
    pub(super) fn next(&mut self, rows: &[Row], repetitions: &mut u64) -> Option<Piece> {
        let end = self.span.end;
        while self.at < end && !rows.is_empty() {
            if self.row == 0 {
                let Some(left) = repetitions.checked_sub(1) else {
                    let start = core::mem::replace(&mut self.at, end);
                    return Some(Piece { start, end, row: None });
                };
                *repetitions = left;
            }
            let Reading { block, .. } = self.reading;
            let Some(row) = rows.get(self.row) else {
                let next = self.at.checked_add(block.saturating_sub(self.skipped).max(1));
                (self.at, self.skipped, self.row) = (next.unwrap_or(end), 0, 0);
                continue;
            };
            self.row += 1;
            let place = |address: u64| {
                let offset = address.saturating_sub(self.span.start).min(block);
                self.at.saturating_add(offset.saturating_sub(self.skipped)).min(end)
            };
            let (start, end) = (place(row.start), place(row.end));
            if start < end {
                return Some(Piece { start, end, row: Some(*row) });
            }
        }
        None
    }
}

/// The reading of a block's rows, each of which extends to the start of the next; `None` if several readings are left,
/// or none.
pub(super) fn choose(
    rows: &[Row],
    span: Span,
    repetitions: &mut u64,
    mut evidence: impl FnMut(u64, &Row) -> Evidence,
) -> Option<Reading> {
    let last = rows.last()?.start.checked_sub(span.start)?;
    if rows.len() == 1 && last == 0 {
        // The result does not depend on how often the block repeats.
        return Some(Reading { block: span.size, phase: 0 });
    }
    let mut left = None;
    let mut several = false;
    for block in (last + 1..=MAX_BLOCK).filter(|block| span.size.is_multiple_of(*block)) {
        let phase = span.start % block;
        for phase in [Some(0), Some(phase).filter(|phase| *phase > 0)].into_iter().flatten() {
            let reading = Reading { block, phase };
            match try_on(rows, reading, span, repetitions, &mut evidence)? {
                Fit::Refuted => {}
                // All readings that fit everywhere are equivalent.
                Fit::Everywhere => return Some(reading),
                Fit::Unrefuted => several |= left.replace(reading).is_some(),
            }
        }
    }
    left.filter(|_| !several)
}

/// The result of comparing a reading with the evidence.
enum Fit {
    /// The reading is wrong at some PC.
    Refuted,
    /// The reading is correct at every PC.
    Everywhere,
    /// The reading is wrong nowhere, but not known to be correct everywhere.
    Unrefuted,
}

/// Compares a reading with the evidence; `None` if too few repetitions are left for that.
fn try_on(
    rows: &[Row],
    reading: Reading,
    span: Span,
    repetitions: &mut u64,
    evidence: &mut impl FnMut(u64, &Row) -> Evidence,
) -> Option<Fit> {
    let mut right = 0;
    let mut blocks = Blocks::new(reading, span);
    while let Some(Piece { start, end, row }) = blocks.next(rows, repetitions) {
        let row = row?;
        let mut at = start;
        while at < end {
            let Evidence { agrees, until } = evidence(at, &row);
            let next = until.min(end).max(at + 1);
            match agrees {
                Some(true) => right += next - at,
                Some(false) => return Some(Fit::Refuted),
                None => {}
            }
            at = next;
        }
    }
    Some(if right == span.end - span.start { Fit::Everywhere } else { Fit::Unrefuted })
}

#[cfg(test)]
mod tests {
    use sframe_validator::unwind::Frame;

    use super::*;

    /// Rows at these offsets, each of which extends to the next one or to the function's end.
    fn rows(span: Span, starts: &[u64]) -> Vec<Row> {
        let ends = starts.iter().skip(1).copied().chain([span.size]);
        let row = |(start, end): (&u64, u64)| Row {
            start: span.start + start,
            end: span.start + end,
            frame: Frame::OUTERMOST,
        };
        starts.iter().zip(ends).map(row).collect()
    }

    /// Chooses among readings of rows at 0 and 11 of 48 bytes. The second row is correct from 11 on in each block of 16
    /// bytes that starts at `origin`; nothing is known from `known` on.
    fn chosen(start: u64, origin: u64, known: u64) -> Option<Reading> {
        let span = Span { start, size: 48, end: start + 48 };
        choose(&rows(span, &[0, 11]), span, &mut 1000, |pc, row| {
            let second = row.start > start;
            let agrees = second == ((pc - origin) % 16 >= 11);
            Evidence { agrees: (pc < start + known).then_some(agrees), until: pc + 1 }
        })
    }

    /// GNU ld's stubs (`format`: PLT entries of version 2 record 16 bytes).
    #[test]
    fn the_block_size_that_agrees_everywhere_is_chosen() {
        assert_eq!(chosen(0x1010, 0x1010, 48), Some(Reading { block: 16, phase: 0 }));
        // The first PCs refute blocks of 12, 24 and 48 bytes.
        assert_eq!(chosen(0x1010, 0x1010, 17), Some(Reading { block: 16, phase: 0 }));
        // A function that starts inside a block, because blocks start at aligned addresses.
        assert_eq!(chosen(0x1008, 0x1000, 48), Some(Reading { block: 16, phase: 8 }));
        assert_eq!(chosen(0x1008, 0x1008, 48), Some(Reading { block: 16, phase: 0 }));
    }

    #[test]
    fn ambiguous_block_sizes_are_undecided() {
        assert_eq!(chosen(0x1010, 0x1010, 12), None);
        // No block of any size starts there.
        assert_eq!(chosen(0x1010, 0x1004, 48), None);
        let nothing = |_, _: &Row| Evidence::NONE;
        // 16 bytes have room for one block with a row at 11; 32 bytes for two, or for one twice as long.
        let span = |size| Span { start: 0x1010, size, end: 0x1010 + size };
        let of = |size, starts: &[u64]| {
            let span = span(size);
            choose(&rows(span, starts), span, &mut 1000, nothing)
        };
        assert_eq!(of(16, &[0, 11]), Some(Reading { block: 16, phase: 0 }));
        assert_eq!(of(32, &[0, 11]), None);
        // One row is the same in any block.
        assert_eq!(of(32, &[0]), Some(Reading { block: 32, phase: 0 }));
    }

    /// A block has room for its last row: 22 bytes with a row at 11 are one block, not two of 11 bytes, in which the row
    /// would have no place.
    #[test]
    fn blocks_have_room_for_all_rows() {
        let of = |start, size, starts: &[u64]| {
            let span = Span { start, size, end: start + size };
            choose(&rows(span, starts), span, &mut 1000, |_, _| Evidence::NONE)
        };
        assert_eq!(of(2200, 22, &[0, 11]), Some(Reading { block: 22, phase: 0 }));
        assert_eq!(of(0x1000, 16, &[0, 15]), Some(Reading { block: 16, phase: 0 }));
        assert_eq!(of(0x1000, 16, &[0, 16]), None);
        assert_eq!(of(0x1000, 32, &[5]), None);
        assert_eq!(of(0x1000, 32, &[]), None);
    }

    /// If the rows are correct in several readings at each place, any of them gives the right frames.
    #[test]
    fn readings_that_are_right_everywhere_are_equivalent() {
        let span = Span { start: 0x1010, size: 48, end: 0x1010 + 48 };
        // The evidence is about one byte, about some, or about all code from there on.
        for known in [0, 1, 5, u64::MAX] {
            let right =
                |pc: u64, _: &Row| Evidence { agrees: Some(true), until: pc.saturating_add(known) };
            let reading = choose(&rows(span, &[0, 11]), span, &mut 1000, right);
            assert!(reading.is_some(), "{known}");
        }
    }

    /// The pieces as offsets from the start of the function, and the row's number.
    fn pieces(
        block: u64,
        phase: u64,
        size: u64,
        starts: &[u64],
        budget: u64,
    ) -> Vec<(u64, u64, Option<u64>)> {
        let span = Span { start: 0x1000, size, end: 0x1000 + size };
        let rows = rows(Span { size: block, ..span }, starts);
        let mut blocks = Blocks::new(Reading { block, phase }, span);
        let (mut repetitions, mut found) = (budget, Vec::new());
        while let Some(Piece { start, end, row }) = blocks.next(&rows, &mut repetitions) {
            found.push((start - 0x1000, end - 0x1000, row.map(|row| row.start - 0x1000)));
        }
        found
    }

    #[test]
    fn rows_repeat_in_each_block() {
        let three = [(0, 3, 0), (3, 8, 3), (8, 11, 0), (11, 16, 3), (16, 19, 0), (19, 20, 3)];
        let three = three.map(|(start, end, row)| (start, end, Some(row)));
        assert_eq!(pieces(8, 0, 20, &[0, 3], 3), three);
        // When no repetitions are left, the rest is unknown.
        let two = [three[0], three[1], three[2], three[3], (16, 20, None)];
        assert_eq!(pieces(8, 0, 20, &[0, 3], 2), two);
        assert_eq!(pieces(8, 0, 20, &[0, 3], 0), [(0, 20, None)]);
        // The function starts 5 bytes after the start of a block, so 3 bytes are left of it, all in the second row.
        let inside =
            [(0, 3, 3), (3, 6, 0), (6, 11, 3)].map(|(start, end, row)| (start, end, Some(row)));
        assert_eq!(pieces(8, 5, 11, &[0, 3], 2), inside);
        // A row that starts after the end of the block is nowhere.
        assert_eq!(pieces(8, 0, 8, &[0, 8], 1), [(0, 8, Some(0))]);
        assert_eq!(pieces(8, 0, 8, &[], 1), []);
    }

    /// Code that is only claimed has more blocks than the file has bytes.
    #[test]
    fn the_number_of_repetitions_is_limited() {
        let size = 0xffff_fff0;
        let span = Span { start: 0, size, end: size };
        let right = |pc, _: &Row| Evidence { agrees: Some(true), until: pc + 1 };
        assert_eq!(choose(&rows(span, &[0, 11]), span, &mut 1000, right), None);
    }
}
