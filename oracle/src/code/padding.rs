//! Padding: what assemblers and compilers put between functions, and after instructions that do not continue.

use std::ops::Range;

/// What an instruction is for an execution that never comes to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filling {
    /// It does nothing or traps: gaps are filled with it.
    Filler,
    /// Execution does not continue after it.
    End,
    /// Anything else.
    Other,
}

/// The padding in code that is not reached, as offsets: each run of filler after an instruction that does not continue.
/// `is_entry` says that no such instruction is before the code. `first` is what the first instruction of code is, and its length.
pub(super) fn paddings(
    code: &[u8],
    is_entry: bool,
    first: impl Fn(&[u8]) -> (Filling, usize),
) -> Vec<Range<usize>> {
    let mut paddings: Vec<Range<usize>> = Vec::new();
    let (mut offset, mut is_after_end) = (0_usize, !is_entry);
    while let Some(rest) = code.get(offset..).filter(|rest| !rest.is_empty()) {
        let (filling, length) = first(rest);
        let end = offset.saturating_add(length.clamp(1, rest.len()));
        if is_after_end && filling == Filling::Filler {
            match paddings.last_mut().filter(|last| last.end == offset) {
                Some(last) => last.end = end,
                None => paddings.push(offset..end),
            }
        } else {
            is_after_end = filling == Filling::End;
        }
        offset = end;
    }
    paddings
}
