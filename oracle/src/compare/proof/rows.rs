//! The rows of SFrame and CFI about one chunk of code after the other.

use sframe_validator::Section;
use sframe_validator::elf::Elf;

use crate::cfi::Cfi;
use crate::code::Code;
use crate::compare::piece::{Piece, with_pieces};
use crate::witness::CodeRange;

/// The functions of a chunk, and the pieces in them, both in the order of addresses.
pub(super) struct Chunk<'r, 'c> {
    pub(super) functions: &'r [CodeRange],
    pub(super) pieces: Vec<Piece<'c>>,
}

/// Passes the chunks of a file, of about `size` bytes of code, to `examine`.
pub(super) fn with_chunks<'c, T>(
    size: u64,
    code: &Code<'_>,
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    examine: impl FnOnce(&mut (dyn Iterator<Item = Chunk<'_, 'c>> + Send)) -> T,
) -> T {
    let mut rest = code.functions();
    with_pieces(elf, sections, cfi, |pieces_in| {
        examine(&mut core::iter::from_fn(|| {
            let functions = next_chunk(size, &mut rest)?;
            Some(Chunk { functions, pieces: pieces_in(functions) })
        }))
    })
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
