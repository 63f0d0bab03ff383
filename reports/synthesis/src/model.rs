//! The functions of a file's CFI, as a section is made from them.

use sframe_oracle::coverage::Cause;
use sframe_oracle::witness::CodeRange;
use sframe_validator::section::FreType;
use sframe_validator::unwind::{CodeAddress, Row};

/// A function that a section will describe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Where it starts.
    pub start: CodeAddress,
    /// The size in bytes of code.
    pub size: u32,
    /// Whether it is a signal frame.
    pub signal: bool,
    /// Whether the B key signs its return addresses (AArch64).
    pub pauth_key_b: bool,
    /// The size in bytes of the block that repeats, if the rows are those of one block.
    pub block: Option<u8>,
    /// The width of the rows' start fields; `None` for the narrowest.
    pub start_width: Option<FreType>,
    /// Whether the rows are flexible even if default rows would suffice.
    pub flexible: bool,
    /// The rows, with absolute addresses, in ascending order. Those of a repeated block are those of the first one.
    pub rows: Vec<Row>,
}

/// Extends a row by the next one if both have the same frame.
pub(crate) fn merge(row: &mut Row, next: &Row) -> bool {
    let same = row.frame == next.frame && row.end == next.start;
    if same {
        row.end = next.end;
    }
    same
}

/// Functions that the section leaves out for one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Why they are left out.
    pub cause: Cause,
    /// Their number.
    pub functions: u64,
    /// Their bytes of code.
    pub bytes: u64,
    /// The first one in the order of the file.
    pub example: CodeRange,
}

/// The losses of a file, by cause.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses(Vec<Loss>);

impl Losses {
    /// Counts a function.
    pub(crate) fn add(&mut self, cause: Cause, start: CodeAddress, size: u64) {
        match self.0.iter_mut().find(|loss| loss.cause == cause) {
            Some(loss) => {
                loss.functions = loss.functions.saturating_add(1);
                loss.bytes = loss.bytes.saturating_add(size);
            }
            None => {
                let example = CodeRange { start, end: start.address.saturating_add(size) };
                self.0.push(Loss { cause, functions: 1, bytes: size, example });
            }
        }
    }

    /// The cause that was added first.
    pub(crate) fn first(&self) -> Option<Cause> {
        self.0.first().map(|loss| loss.cause)
    }

    /// The losses in the order of [`Cause::ALL`].
    pub(crate) fn sorted(mut self) -> Vec<Loss> {
        self.0.sort_by_key(|loss| loss.cause);
        self.0
    }
}
