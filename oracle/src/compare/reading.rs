//! Repeated blocks of version 1, which does not record their size.
//!
//! Nor does it say where blocks start: its text compares bits of the PC (V1 1.3.2). A *reading* is a size of the block, which divides the function's and has room for all
//! rows, and one of two origins: the function's start or address 0. CFI refutes those that are
//! wrong. Where all that are left say the same, that is what the rows say.

use core::ops::ControlFlow;

use sframe_validator::unwind::Row;

/// The largest block: version 2 records the size in one byte (V2 2.3).
const MAX_BLOCK: u64 = 0xff;

/// How a function's rows repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Bytes of a block.
    pub(crate) block: u64,
    /// How far into a block the function starts, bytes.
    pub(crate) phase: u64,
}

/// The code of a function whose rows repeat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Where it starts, and its size.
    pub(crate) start: u64,
    pub(crate) size: u64,
    /// Where it ends, or another function hides it.
    pub(crate) end: u64,
}

/// What other information says about a row at one PC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    /// Whether the row is right there; `None` where nothing is known.
    pub(crate) agrees: Option<bool>,
    /// The end of what holds there alike.
    pub(crate) until: u64,
}

impl Evidence {
    /// Nothing is known anywhere.
    pub(crate) const NONE: Evidence = Evidence { agrees: None, until: u64::MAX };
}

/// Hands `sink` the pieces of a function, given the rows of its first block, in order: `None` for
/// the rest once no repetitions are left.
pub(crate) fn repeat(
    rows: &[Row],
    reading: Reading,
    span: Span,
    repetitions: &mut u64,
    sink: &mut impl FnMut(u64, u64, Option<&Row>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Reading { block, phase } = reading;
    let mut at = span.start;
    // Before the function, where it starts inside a block.
    let mut skipped = phase;
    while at < span.end && !rows.is_empty() {
        let Some(left) = repetitions.checked_sub(1) else { return sink(at, span.end, None) };
        *repetitions = left;
        let place = |offset: u64| at.saturating_add(offset.saturating_sub(skipped)).min(span.end);
        for row in rows {
            let from = place(row.start.saturating_sub(span.start).min(block));
            let to = place(row.end.saturating_sub(span.start).min(block));
            if from < to {
                sink(from, to, Some(row))?;
            }
        }
        let Some(next) = at.checked_add(block.saturating_sub(skipped).max(1)) else { break };
        (at, skipped) = (next, 0);
    }
    ControlFlow::Continue(())
}

/// How the rows repeat, which are those of one block, each up to the next one's start; `None` where
/// more than one reading is left, or none.
pub(crate) fn choose(
    rows: &[Row],
    span: Span,
    repetitions: &mut u64,
    mut evidence: impl FnMut(u64, &Row) -> Evidence,
) -> Option<Reading> {
    let last = rows.last()?.start.checked_sub(span.start)?;
    if rows.len() == 1 && last == 0 {
        // However often it repeats.
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
                // All that fit everywhere say the same.
                Fit::Everywhere => return Some(reading),
                Fit::Unrefuted => several |= left.replace(reading).is_some(),
            }
        }
    }
    left.filter(|_| !several)
}

/// What is known of a reading.
enum Fit {
    /// It is wrong at some PC.
    Refuted,
    /// It is right at every PC.
    Everywhere,
    /// It is wrong nowhere, and not known to be right everywhere.
    Unrefuted,
}

/// Compares a reading with the evidence; `None` where the repetitions do not last for that.
fn try_on(
    rows: &[Row],
    reading: Reading,
    span: Span,
    repetitions: &mut u64,
    evidence: &mut impl FnMut(u64, &Row) -> Evidence,
) -> Option<Fit> {
    let (mut right, mut refuted, mut unread) = (0, false, false);
    let mut sink = |from: u64, to: u64, row: Option<&Row>| {
        let Some(row) = row else {
            unread = true;
            return ControlFlow::Break(());
        };
        let mut at = from;
        while at < to {
            let Evidence { agrees, until } = evidence(at, row);
            let next = until.min(to).max(at + 1);
            match agrees {
                Some(true) => right += next - at,
                Some(false) => {
                    refuted = true;
                    return ControlFlow::Break(());
                }
                None => {}
            }
            at = next;
        }
        ControlFlow::Continue(())
    };
    let _ = repeat(rows, reading, span, repetitions, &mut sink);
    match (unread, refuted) {
        (true, _) => None,
        (_, true) => Some(Fit::Refuted),
        _ if right == span.end - span.start => Some(Fit::Everywhere),
        _ => Some(Fit::Unrefuted),
    }
}

#[cfg(test)]
mod tests {
    use sframe_validator::unwind::Frame;

    use super::*;

    /// Rows at these offsets, each up to the next one or the function's end.
    fn rows(span: Span, starts: &[u64]) -> Vec<Row> {
        let ends = starts.iter().skip(1).copied().chain([span.size]);
        let row = |(start, end): (&u64, u64)| Row {
            start: span.start + start,
            end: span.start + end,
            frame: Frame::OUTERMOST,
        };
        starts.iter().zip(ends).map(row).collect()
    }

    /// Chooses among readings of rows at 0 and 11 of 48 bytes, of which the second one is right from
    /// 11 on in each block of 16 bytes that starts at `origin`; nothing is known from `known` on.
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
    fn the_reading_that_is_right_everywhere_is_taken() {
        assert_eq!(chosen(0x1010, 0x1010, 48), Some(Reading { block: 16, phase: 0 }));
        // Blocks of 12, 24 and 48 bytes are refuted by the first PCs.
        assert_eq!(chosen(0x1010, 0x1010, 17), Some(Reading { block: 16, phase: 0 }));
        // A function that starts inside a block, by the address.
        assert_eq!(chosen(0x1008, 0x1000, 48), Some(Reading { block: 16, phase: 8 }));
        assert_eq!(chosen(0x1008, 0x1008, 48), Some(Reading { block: 16, phase: 0 }));
    }

    #[test]
    fn what_is_not_refuted_has_to_be_one_reading() {
        assert_eq!(chosen(0x1010, 0x1010, 12), None);
        // No block of any size starts there.
        assert_eq!(chosen(0x1010, 0x1004, 48), None);
        let nothing = |_, _: &Row| Evidence::NONE;
        // 16 bytes have room for one block with a row at 11, and 32 for two, or one twice as long.
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

    /// Code that is only promised has more blocks than the file has bytes.
    #[test]
    fn readings_end_with_the_repetitions() {
        let size = 0xffff_fff0;
        let span = Span { start: 0, size, end: size };
        let right = |pc, _: &Row| Evidence { agrees: Some(true), until: pc + 1 };
        assert_eq!(choose(&rows(span, &[0, 11]), span, &mut 1000, right), None);
    }
}
