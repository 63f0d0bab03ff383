//! What a consumer is given: a section of a linked file, as it is in memory.

use sframe_validator::Abi;

/// A section and what surrounds it.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The section's bytes.
    pub bytes: &'a [u8],
    /// The address of the first byte.
    pub address: u64,
    /// The machine of the file that contains the section.
    pub machine: Abi,
    /// The first address of the code and the first one after it. Kernels learn it when the section is registered;
    /// without it, code may be anywhere.
    pub text: Option<(u64, u64)>,
}

impl<'a> Input<'a> {
    /// A section without limits on the place of its code.
    #[must_use]
    pub const fn new(bytes: &'a [u8], address: u64, machine: Abi) -> Input<'a> {
        Input { bytes, address, machine, text: None }
    }

    /// States where the code is.
    #[must_use]
    pub const fn with_text(mut self, start: u64, end: u64) -> Input<'a> {
        self.text = Some((start, end));
        self
    }
}
