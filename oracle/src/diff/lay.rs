//! Two lists of pieces laid over each other.

use sframe_validator::unwind::Frame;
use sframe_validator::{Abi, Version};

use super::FunctionPlace;

/// What one side says about a range of PCs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) function: FunctionPlace,
    /// `None` where it cannot be read.
    pub(super) frame: Option<Frame>,
    pub(super) signal: bool,
    pub(super) key_b: bool,
    pub(super) version: Version,
    pub(super) abi: Abi,
}

/// Hands `sink` every range that one side or both have a piece for, in order. The pieces of each
/// side are in order and do not overlap.
pub(super) fn lay(
    first: &[Piece],
    second: &[Piece],
    mut sink: impl FnMut(u64, u64, Option<&Piece>, Option<&Piece>),
) {
    let (mut a, mut b) = (first.iter().peekable(), second.iter().peekable());
    let mut at = 0;
    loop {
        while a.next_if(|piece| piece.end <= at).is_some() {}
        while b.next_if(|piece| piece.end <= at).is_some() {}
        let (left, right) = (a.peek().copied(), b.peek().copied());
        let starts = [left, right].into_iter().flatten().map(|piece| piece.start.max(at));
        let Some(start) = starts.min() else { return };
        let covering = |piece: &&Piece| piece.start <= start;
        // Up to where neither side says something else.
        let edges = [left, right].into_iter().flatten();
        let ends = edges.map(|piece| if covering(&piece) { piece.end } else { piece.start });
        let Some(end) = ends.min() else { return };
        sink(start, end, left.filter(covering), right.filter(covering));
        at = end;
    }
}
