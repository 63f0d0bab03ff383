//! The sweep: a single pass over code with the rows of two witnesses.

use core::ops::ControlFlow;

use sframe_validator::unwind::CodeAddress;

use crate::witness::{CodeRange, Left, Witness};

/// Judges the statements of two witnesses.
pub trait Observer<A: Witness, B: Witness> {
    /// Whether the observer needs each witness's rows where the other has nothing to compare them with.
    const ALL_ROWS: bool = false;

    /// Whether both witnesses agree about each PC of a function from `place` to `end`, which both describe; the sweep
    /// then continues at `end`. This is a shortcut: returning false is always correct.
    fn agree_all_over(
        &mut self,
        _place: CodeAddress,
        _end: u64,
        _first: &mut A,
        _second: &mut B,
    ) -> bool {
        false
    }

    /// Receives the code from `place` to `end`, about which each witness makes a single statement ([`Witness::says`]).
    fn piece(
        &mut self,
        place: CodeAddress,
        end: u64,
        first: &mut A,
        second: &mut B,
    ) -> ControlFlow<()>;

    /// Receives a function that the first witness has left.
    fn left_first(&mut self, _left: Left<A::Function, A::Error>) {}

    /// Receives a function that the second witness has left.
    fn left_second(&mut self, _left: Left<B::Function, B::Error>) {}
}

/// Sweeps over `code`, which must be ordered and without overlaps, with two witnesses. `observer` receives every byte
/// of it in the order of addresses, in pieces about which each witness makes a single statement.
pub fn sweep<A: Witness, B: Witness>(
    code: &[CodeRange],
    first: &mut A,
    second: &mut B,
    observer: &mut impl Observer<A, B>,
) {
    if sweep_ranges(code, first, second, observer).is_break() {
        return;
    }
    first.finish(&mut |left| observer.left_first(left));
    second.finish(&mut |left| observer.left_second(left));
}

/// Sweeps over a part of the code, before parts with higher addresses.
pub(super) fn sweep_ranges<A: Witness, B: Witness, O: Observer<A, B>>(
    code: &[CodeRange],
    first: &mut A,
    second: &mut B,
    observer: &mut O,
) -> ControlFlow<()> {
    code.iter().try_for_each(|range| sweep_range(*range, first, second, observer))
}

fn sweep_range<A: Witness, B: Witness, O: Observer<A, B>>(
    CodeRange { start: mut place, end }: CodeRange,
    first: &mut A,
    second: &mut B,
    observer: &mut O,
) -> ControlFlow<()> {
    while place.address < end {
        let first_end = first.enter(place, &mut |left| observer.left_first(left));
        let second_end = second.enter(place, &mut |left| observer.left_second(left));
        let mut until = end.min(first_end).min(second_end);
        let both = first.describes() && second.describes();
        if !both || !observer.agree_all_over(place, until, first, second) {
            until = until.min(match O::ALL_ROWS || second.describes() {
                true => first.read(place.address),
                false => first.skip(place.address),
            });
            until = until.min(match O::ALL_ROWS || first.says().anything() {
                true => second.read(place.address),
                false => second.skip(place.address),
            });
            // A witness that does not advance must not block the sweep.
            until = until.max(place.address + 1);
            observer.piece(place, until, first, second)?;
        }
        place.address = until;
    }
    ControlFlow::Continue(())
}
