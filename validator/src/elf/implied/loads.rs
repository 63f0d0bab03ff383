//! The memory that PT_LOAD segments fill with bytes of the file.

use alloc::vec::Vec;

use super::super::{ElfError, PT_LOAD, Segment};

/// The part of a segment that has bytes in the file, without addresses of segments that start before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) start: u64,
    /// The address after the last byte that is in the file.
    pub(super) end: u64,
    /// The address after the last byte in memory.
    pub(super) memory_end: u64,
    /// The place of the first byte in the file.
    offset: u64,
    /// `p_flags`.
    pub(super) flags: u32,
}

impl Load {
    /// The place in the file of the byte at an address.
    pub(super) const fn offset_of(&self, address: u64) -> u64 {
        self.offset.saturating_add(address.saturating_sub(self.start))
    }
}

/// The segments that are loaded, by address and without overlaps.
#[derive(Debug)]
pub(super) struct Loads<'a> {
    data: &'a [u8],
    loads: Vec<Load>,
}

impl<'a> Loads<'a> {
    /// # Errors
    /// [`ElfError::SharedBytes`] if the segments have more bytes in the file than the file has.
    pub(super) fn of(data: &'a [u8], segments: &[Segment]) -> Result<Loads<'a>, ElfError> {
        let mut loads: Vec<Load> = segments
            .iter()
            .filter(|segment| segment.p_type == PT_LOAD && segment.memory_size > 0)
            .map(|segment| {
                let start = segment.address;
                let in_file = segment.file_size.min(segment.memory_size);
                Load {
                    start,
                    end: start.saturating_add(in_file),
                    memory_end: start.saturating_add(segment.memory_size),
                    offset: segment.offset,
                    flags: segment.flags,
                }
            })
            .collect();
        loads.sort_by_key(|load| load.start);
        let mut covered = 0;
        loads.retain_mut(|load| {
            let start = load.start.max(covered);
            load.offset = load.offset_of(start);
            load.start = start;
            load.end = load.end.max(start);
            covered = load.memory_end.max(covered);
            load.start < load.memory_end
        });
        let size = data.len() as u64;
        let in_file = |load: &Load| load.end - load.start;
        let is_whole = |load: &&Load| load.offset.checked_add(in_file(load)) <= Some(size);
        let sum = loads.iter().filter(is_whole).map(in_file).fold(0, u64::saturating_add);
        if sum > size {
            return Err(ElfError::SharedBytes);
        }
        Ok(Loads { data, loads })
    }

    /// The size of the file.
    pub(super) const fn file_size(&self) -> u64 {
        self.data.len() as u64
    }

    pub(super) fn all(&self) -> &[Load] {
        &self.loads
    }

    /// The segment with the byte at an address.
    pub(super) fn at(&self, address: u64) -> Option<&Load> {
        let after = self.loads.partition_point(|load| load.start <= address);
        self.loads.get(after.checked_sub(1)?).filter(|load| address < load.end)
    }

    /// The bytes from an address to the end of its segment, or of the file.
    pub(super) fn from(&self, address: u64) -> Option<&'a [u8]> {
        let load = self.at(address)?;
        let offset = usize::try_from(load.offset_of(address)).ok()?;
        let bytes = self.data.get(offset..)?;
        let size = usize::try_from(load.end - address).unwrap_or(usize::MAX);
        Some(bytes.get(..size).unwrap_or(bytes))
    }

    /// The `size` bytes at an address.
    pub(super) fn bytes(&self, address: u64, size: u64) -> Option<&'a [u8]> {
        self.from(address)?.get(..usize::try_from(size).ok()?)
    }

    /// The address at which a byte of the file is loaded. Only the first segments are asked: the headers, for which this is
    /// meant, are at the start of the file.
    pub(super) fn address_of(&self, offset: u64) -> Option<u64> {
        let distance = |load: &Load| {
            let distance = offset.checked_sub(load.offset)?;
            (distance < load.end - load.start).then(|| load.start + distance)
        };
        self.loads.iter().find_map(distance)
    }
}
