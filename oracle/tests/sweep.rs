//! Tests of the sweep with witnesses whose statements are fixed, instead of SFrame and CFI.

use core::ops::ControlFlow;

use sframe_oracle::compare::{Observer, sweep};
use sframe_oracle::witness::{CodeRange, Left, Says, Shared, Witness};
use sframe_validator::unwind::CodeAddress;

/// A witness with one function, which starts and ends at addresses, and rows of a number of bytes. It says that a
/// statement is valid up to where it was asked if the number is 0.
struct Fixed {
    start: u64,
    end: u64,
    row: u64,
    inside: bool,
    read: u64,
}

impl Fixed {
    const fn new(start: u64, end: u64, row: u64) -> Fixed {
        Fixed { start, end, row, inside: false, read: 0 }
    }
}

impl Witness for Fixed {
    type Function = u64;
    type Row = u64;
    type Error = ();

    fn enter(&mut self, place: CodeAddress, left: &mut impl FnMut(Left<u64, ()>)) -> u64 {
        if self.inside && place.address >= self.end {
            self.finish(left);
        }
        self.inside = (self.start..self.end).contains(&place.address);
        match place.address {
            before if before < self.start => self.start,
            _ if self.inside => self.end,
            _ => u64::MAX,
        }
    }

    fn describes(&self) -> bool {
        self.inside
    }

    fn read(&mut self, address: u64) -> u64 {
        self.read = address;
        if self.inside { address + self.row } else { u64::MAX }
    }

    fn says(&self) -> Says<'_, u64, u64> {
        if self.inside { Says::Row(self.start, &self.read) } else { Says::Nothing }
    }

    fn note(&mut self, _: Shared) {}

    fn finish(&mut self, left: &mut impl FnMut(Left<u64, ()>)) {
        if core::mem::take(&mut self.inside) {
            left(Left { function: self.start, shared: Default::default(), error: None });
        }
    }
}

/// What an observer has seen.
#[derive(Default)]
struct Seen {
    pieces: Vec<(u64, u64)>,
    /// The questions whether both agree all over.
    asked: Vec<(u64, u64)>,
    left: Vec<(u8, u64)>,
    agree: bool,
    /// The place at which to stop.
    stop: Option<u64>,
}

impl Observer<Fixed, Fixed> for Seen {
    fn agree_all_over(
        &mut self,
        place: CodeAddress,
        end: u64,
        a: &mut Fixed,
        b: &mut Fixed,
    ) -> bool {
        assert!(a.inside && b.inside, "both describe it");
        self.asked.push((place.address, end));
        self.agree
    }

    fn piece(
        &mut self,
        place: CodeAddress,
        end: u64,
        _: &mut Fixed,
        _: &mut Fixed,
    ) -> ControlFlow<()> {
        self.pieces.push((place.address, end));
        match self.stop {
            Some(stop) if place.address >= stop => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn left_first(&mut self, left: Left<u64, ()>) {
        self.left.push((1, left.function));
    }

    fn left_second(&mut self, left: Left<u64, ()>) {
        self.left.push((2, left.function));
    }
}

fn swept(code: &[(u64, u64)], a: Fixed, b: Fixed, mut seen: Seen) -> Seen {
    let range = |&(start, end)| CodeRange { start: CodeAddress::absolute(start), end };
    let code: Vec<_> = code.iter().map(range).collect();
    let (mut a, mut b) = (a, b);
    sweep(&code, &mut a, &mut b, &mut seen);
    seen
}

#[test]
fn pieces_end_where_a_witness_says_something_else() {
    let seen =
        swept(&[(0, 20), (30, 34)], Fixed::new(4, 16, 8), Fixed::new(8, 32, 5), Seen::default());
    // Functions start at 4 and 8. From 8 on, rows end after 8 and 5 bytes, whichever is first; 4..16 ends, too.
    let wanted = [(0, 4), (4, 8), (8, 13), (13, 16), (16, 20), (30, 32), (32, 34)];
    assert_eq!(seen.pieces, wanted);
    // Only where both describe the code, up to the end of the one that ends first.
    assert_eq!(seen.asked, [(8, 16), (13, 16)]);
    assert_eq!(seen.left, [(1, 4), (2, 8)]);
}

#[test]
fn code_on_which_both_agree_is_no_piece() {
    let agree = Seen { agree: true, ..Seen::default() };
    let seen = swept(&[(0, 20)], Fixed::new(4, 16, 8), Fixed::new(8, 32, 5), agree);
    assert_eq!(seen.pieces, [(0, 4), (4, 8), (16, 20)]);
    assert_eq!(seen.asked, [(8, 16)]);
    // Functions that the code ends in are left at the end.
    assert_eq!(seen.left, [(1, 4), (2, 8)]);
}

#[test]
fn an_observer_can_stop() {
    let stop = Seen { stop: Some(4), ..Seen::default() };
    let seen = swept(&[(0, 20), (30, 34)], Fixed::new(4, 16, 8), Fixed::new(8, 32, 5), stop);
    assert_eq!((seen.pieces, seen.left), (vec![(0, 4), (4, 8)], vec![]));
}

#[test]
fn a_witness_that_does_not_advance_does_not_block() {
    let seen = swept(&[(0, 6)], Fixed::new(2, 5, 0), Fixed::new(8, 9, 1), Seen::default());
    assert_eq!(seen.pieces, [(0, 2), (2, 3), (3, 4), (4, 5), (5, 6)]);
}
