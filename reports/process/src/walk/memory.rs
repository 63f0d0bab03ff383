//! Memory as a walker reads it.

use sframe_validator::{Abi, Endian};

/// The memory of a process.
pub trait Memory {
    /// Fills `bytes` with the memory from `address` on. Returns whether all of it could be read.
    fn read(&self, address: u64, bytes: &mut [u8]) -> bool;

    /// The 8 bytes at an address, in the machine's byte order.
    fn word(&self, abi: Abi, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes).then_some(match abi.endian() {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        })
    }
}
