//! The rows of SFrame and CFI about one chunk of code after the other. Parts of functions that come before them are examined with
//! them, so that a function is followed only once.

use core::ops::Range;
use std::collections::BTreeMap;

use crate::code::Program;
use crate::compare::piece::{Piece, with_pieces};
use crate::compare::tables::Tables;
use crate::witness::CodeRange;

/// The maximum number of pieces that are held back.
const MOST_HELD: usize = 1 << 16;

/// Functions that are examined one after the other, with the pieces in them.
pub(super) struct Chunk<'c> {
    bytes: u64,
    /// Those that have pieces, and the numbers of these.
    functions: Vec<(CodeRange, Range<usize>)>,
    pieces: Vec<Piece<'c>>,
}

impl<'c> Chunk<'c> {
    /// The number of bytes of code.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The functions that have pieces, in the order in which they are to be examined, and their pieces.
    pub(super) fn functions(&self) -> impl Iterator<Item = (CodeRange, &[Piece<'c>])> {
        let pieces = |range: &Range<usize>| self.pieces.get(range.clone()).unwrap_or_default();
        self.functions.iter().map(move |(function, range)| (*function, pieces(range)))
    }

    /// Adds a function, whose pieces have these numbers.
    fn add(&mut self, function: CodeRange, pieces: Range<usize>) {
        self.bytes = self.bytes.saturating_add(function.bytes());
        if !pieces.is_empty() {
            self.functions.push((function, pieces));
        }
    }
}

/// Parts of functions, with their pieces, by the numbers of the functions. They come before their functions, and are held back
/// until then.
#[derive(Default)]
struct Held<'c> {
    parts: BTreeMap<usize, Vec<(CodeRange, Vec<Piece<'c>>)>>,
    /// The number of pieces.
    count: usize,
}

impl<'c> Held<'c> {
    /// Holds back a part of a function. Returns false if there are too many.
    fn hold(&mut self, owner: usize, part: CodeRange, pieces: &[Piece<'c>]) -> bool {
        let count = self.count.saturating_add(pieces.len());
        let has_room = count <= MOST_HELD;
        if has_room {
            self.count = count;
            self.parts.entry(owner).or_default().push((part, pieces.to_vec()));
        }
        has_room
    }

    /// Adds the parts of a function to the chunk that contains it.
    fn release(&mut self, owner: usize, chunk: &mut Chunk<'c>) {
        for (part, mut pieces) in self.parts.remove(&owner).unwrap_or_default() {
            let first = chunk.pieces.len();
            self.count = self.count.saturating_sub(pieces.len());
            chunk.pieces.append(&mut pieces);
            chunk.add(part, first..chunk.pieces.len());
        }
    }
}

/// Passes the chunks of a file, of about `size` bytes of code, to `examine`.
pub(super) fn with_chunks<'c, T>(
    size: u64,
    code: &Program<'_>,
    tables: Tables<'_, 'c>,
    examine: impl FnOnce(&mut (dyn Iterator<Item = Chunk<'c>> + Send)) -> T,
) -> T {
    let mut rest = code.functions();
    let mut held = Held::default();
    with_pieces(tables, |pieces_in| {
        examine(&mut core::iter::from_fn(|| {
            let first = code.functions().len().saturating_sub(rest.len());
            let functions = next_chunk(size, &mut rest)?;
            Some(chunk(code, (first, functions), pieces_in(functions), &mut held))
        }))
    })
}

/// The chunk of some functions, the first one of which has the number `first`. Parts of later functions are held back.
fn chunk<'c>(
    code: &Program<'_>,
    (first, functions): (usize, &[CodeRange]),
    pieces: Vec<Piece<'c>>,
    held: &mut Held<'c>,
) -> Chunk<'c> {
    let mut chunk = Chunk { bytes: 0, functions: Vec::with_capacity(functions.len()), pieces };
    let (mut next, count) = (0, chunk.pieces.len());
    for (number, function) in (first..).zip(functions) {
        let end = (function.start.section, function.end);
        let rest = chunk.pieces.get(next..count).unwrap_or_default();
        let here = rest
            .iter()
            .take_while(|piece| (piece.start.section, piece.start.address) < end)
            .count();
        let own = next..next.saturating_add(here);
        next = own.end;
        let pieces = chunk.pieces.get(own.clone()).unwrap_or_default();
        let owner = code.owner(number).filter(|_| !pieces.is_empty());
        if !owner.is_some_and(|owner| held.hold(owner, *function, pieces)) {
            chunk.add(*function, own);
        }
        held.release(number, &mut chunk);
    }
    chunk
}

/// Takes functions with `size` bytes of code from the start of `rest`.
fn next_chunk<'r>(size: u64, rest: &mut &'r [CodeRange]) -> Option<&'r [CodeRange]> {
    let mut bytes = 0_u64;
    let count = rest.iter().take_while(|function| {
        let has_room = bytes < size;
        bytes = bytes.saturating_add(function.bytes());
        has_room
    });
    let count = count.count();
    let (chunk, left) = rest.split_at_checked(count)?;
    *rest = left;
    (!chunk.is_empty()).then_some(chunk)
}

#[cfg(test)]
mod tests {
    use sframe_validator::elf::Elf;

    use super::*;
    use crate::cfi::Cfi;

    /// GCC's `check.cold` and `guarded.cold`, which come before all other functions (`nm`), are examined after `check` and
    /// `guarded`, each with its own pieces.
    #[test]
    fn parts_follow_their_functions() {
        let file = sframe_corpus::read("golden/2.44/x86_64/shared.so");
        let elf = Elf::parse(&file).expect("ELF");
        let cfi = Cfi::load_all(&elf).expect("readable");
        let code = Program::of(&elf, &[], &cfi).expect("AMD64");
        for size in [1, 1 << 20] {
            let mut starts = Vec::new();
            with_chunks(size, &code, Tables { elf: &elf, sections: &[], cfi: &cfi }, |chunks| {
                for chunk in chunks {
                    for (function, pieces) in chunk.functions() {
                        let (start, end) = (function.start.address, function.end);
                        assert!(pieces.iter().all(|it| it.start.address >= start && it.end <= end));
                        assert!(!pieces.is_empty());
                        starts.push(start);
                    }
                }
            });
            for (function, part) in [(0xd70, 0x880), (0xd30, 0x870)] {
                let place = starts.iter().position(|start| *start == part).expect("a part");
                assert_eq!(starts.get(place - 1), Some(&function), "{size}: {starts:x?}");
            }
            let count = starts.len();
            starts.sort_unstable();
            starts.dedup();
            assert_eq!(starts.len(), count, "each function once");
        }
    }
}
