//! The memory of another process.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;

use crate::walk::Memory;

/// The memory of another process.
#[derive(Debug)]
pub struct LiveMemory(File);

impl LiveMemory {
    /// Opens the memory that a process has now. If it executes another program, it gets another memory.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened: the process has ended, or may not be traced.
    pub fn open(pid: u32) -> io::Result<LiveMemory> {
        File::open(format!("/proc/{pid}/mem")).map(LiveMemory)
    }

    /// Reads bytes from an address on, up to the first one that cannot be read. Returns their number.
    pub(crate) fn read_some(&self, address: u64, bytes: &mut [u8]) -> usize {
        let mut done = 0;
        while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match self.0.read_at(rest, address.wrapping_add(done as u64)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
                Ok(read) => done += read,
            }
        }
        done
    }
}

impl Memory for LiveMemory {
    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        self.read_some(address, bytes) == bytes.len()
    }
}
