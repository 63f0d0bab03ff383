//! The sweep: one pass over code with the rows of two witnesses.

use core::ops::ControlFlow;

use sframe_validator::section::CodeAddress;

use crate::witness::{CodeRange, Left, Witness};

/// Judges what two witnesses say.
pub trait Observer<A: Witness, B: Witness> {
    /// Whether both witnesses say the same about each PC from `place` to `end`, of a function that
    /// each has; then the sweep goes on at `end`. A shortcut: where the answer is no, nothing is lost.
    fn agree_all_over(
        &mut self,
        _place: CodeAddress,
        _end: u64,
        _first: &mut A,
        _second: &mut B,
    ) -> bool {
        false
    }

    /// Takes up the code from `place` to `end`, about which each witness says one thing
    /// ([`Witness::says`]).
    fn piece(
        &mut self,
        place: CodeAddress,
        end: u64,
        first: &mut A,
        second: &mut B,
    ) -> ControlFlow<()>;

    /// Takes up a function that the first witness has left.
    fn left_first(&mut self, _left: Left<A::Function, A::Error>) {}

    /// Takes up a function that the second witness has left.
    fn left_second(&mut self, _left: Left<B::Function, B::Error>) {}
}

/// Sweeps over `code`, which is ordered and without overlaps, with two witnesses. `observer` gets
/// every byte of it in the order of addresses, in pieces about which neither says two things.
pub fn sweep<A: Witness, B: Witness>(
    code: &[CodeRange],
    first: &mut A,
    second: &mut B,
    observer: &mut impl Observer<A, B>,
) {
    for range in code {
        if sweep_range(*range, first, second, observer).is_break() {
            return;
        }
    }
    first.finish(&mut |left| observer.left_first(left));
    second.finish(&mut |left| observer.left_second(left));
}

fn sweep_range<A: Witness, B: Witness>(
    CodeRange { start: mut place, end }: CodeRange,
    first: &mut A,
    second: &mut B,
    observer: &mut impl Observer<A, B>,
) -> ControlFlow<()> {
    while place.address < end {
        let first_end = first.enter(place, &mut |left| observer.left_first(left));
        let second_end = second.enter(place, &mut |left| observer.left_second(left));
        let mut until = end.min(first_end).min(second_end);
        let both = first.describes() && second.describes();
        if !both || !observer.agree_all_over(place, until, first, second) {
            until = until.min(first.read(place.address, second.describes()));
            let wanted = first.says().anything();
            until = until.min(second.read(place.address, wanted));
            // A witness that does not advance must not keep the sweep at its place.
            until = until.max(place.address + 1);
            observer.piece(place, until, first, second)?;
        }
        place.address = until;
    }
    ControlFlow::Continue(())
}
