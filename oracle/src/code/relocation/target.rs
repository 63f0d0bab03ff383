//! What relocations of code refer to.

use sframe_validator::unwind::CodeAddress;

/// The size of a relocated field of AMD64, in bytes.
pub(in crate::code) const FIELD: u64 = 4;

/// What a relocated field of an instruction refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::code) enum RelocationTarget {
    /// A place in the same file, given by its distance from the instruction.
    Place(CodeAddress),
    /// The address of a place in the same file.
    Address(CodeAddress),
    /// The page of 4 KiB that contains a place in the same file (AArch64).
    Page(CodeAddress),
    /// The offset of a place in the same file from its page (AArch64).
    InPage(CodeAddress),
    /// A place in the caller: a jump to the Linux kernel's `__x86_return_thunk` is a return.
    Return,
    /// A function that does not return.
    NoReturn,
    /// Something in another file, or by way of a table.
    Elsewhere,
}

impl RelocationTarget {
    /// The place in the same file that is referred to.
    pub(super) const fn place(self) -> Option<CodeAddress> {
        match self {
            RelocationTarget::Place(to)
            | RelocationTarget::Address(to)
            | RelocationTarget::Page(to)
            | RelocationTarget::InPage(to) => Some(to),
            RelocationTarget::Return | RelocationTarget::NoReturn | RelocationTarget::Elsewhere => {
                None
            }
        }
    }
}
