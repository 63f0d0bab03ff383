//! The memory of a core dump.

use crate::memory::Image;
use crate::walk::Memory;

/// The memory that a core dump contains and, for what was not dumped because it could be read from a file, the content of
/// the mapped files.
#[derive(Clone, Debug)]
pub struct CoreMemory<'s> {
    pub(super) dumped: Image<'s>,
    pub(super) files: Image<'s>,
}

impl Memory for CoreMemory<'_> {
    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let Some(next) = address.checked_add(filled as u64) else { return false };
            let copied = match self.dumped.copy(next, rest) {
                0 => match rest.get_mut(..1) {
                    // A byte at a time, because the next one may have been dumped.
                    Some(one) => self.files.copy(next, one),
                    None => 0,
                },
                copied => copied,
            };
            if copied == 0 {
                return false;
            }
            filled += copied;
        }
        true
    }
}
