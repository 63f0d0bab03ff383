//! Wrong rows of SFrame beside the truth, for those who know the mistakes of its producers.

use sframe_validator::unwind::Frame;

/// A row of SFrame that does not recover the caller, and what is true at the same PC.
#[derive(Clone, Copy, Debug)]
pub struct WrongRow<'r> {
    /// The bytes of the file that contains the row.
    pub file: &'r [u8],
    /// The address in the file.
    pub address: u64,
    /// What the row says.
    pub stated: Frame,
    /// What is true, in the same terms.
    pub truth: Frame,
}

/// Names the known defect of a producer that a wrong row is a case of.
pub type KnownDefect = fn(&WrongRow<'_>) -> Option<&'static str>;
