//! The executable memory of a traced process, and what is known about each instruction in it.

use std::io;

use nix::unistd::Pid;

use crate::files::Files;
use crate::live::LiveMemory;
use crate::live::mapped::MappedFiles;
use crate::live::maps;
use crate::modules::{FileId, Mapping, Modules};

/// A place in a mapped file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FileOffset {
    pub(super) file: FileId,
    pub(super) offset: u64,
}

/// A range of executable memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The file, and the offset in it of the first byte; `None` if there is no file, or code can change there.
    pub(super) code: Option<(FileId, u64)>,
}

impl Region {
    #[inline]
    pub(super) const fn contains(&self, pc: u64) -> bool {
        self.start <= pc && pc < self.end
    }
}

/// A process's memory.
pub(super) struct Space {
    pub(super) memory: LiveMemory,
    /// By address.
    regions: Vec<Region>,
    /// All mappings, for [`Modules`].
    mappings: Vec<Mapping>,
    /// Another number after each change.
    pub(super) generation: u64,
}

/// The files of all traced processes.
pub(super) struct Tables<'s> {
    files: MappedFiles<'s>,
    pub(super) modules: Modules<'s>,
    /// The generation of the mappings that `modules` has.
    mapped: u64,
    generations: u64,
    /// For each file of `modules`, by its number: a byte for each of its bytes.
    bytes: Vec<Vec<u8>>,
}

impl<'s> Tables<'s> {
    pub(super) fn new(files: &'s Files) -> Tables<'s> {
        Tables {
            files: MappedFiles::new(files),
            modules: Modules::new(),
            mapped: 0,
            generations: 0,
            bytes: Vec::new(),
        }
    }

    /// The byte for a place in a file.
    #[inline]
    pub(super) fn byte(&mut self, at: FileOffset) -> Option<&mut u8> {
        self.bytes.get_mut(at.file.number())?.get_mut(usize::try_from(at.offset).ok()?)
    }

    /// The memory of a process, as it is now.
    pub(super) fn space(&mut self, pid: Pid) -> io::Result<Space> {
        let memory = LiveMemory::open(pid.as_raw().unsigned_abs())?;
        let mut space = Space { memory, regions: Vec::new(), mappings: Vec::new(), generation: 0 };
        self.refresh(pid, &mut space);
        Ok(space)
    }

    /// Reads the mappings of a process again. One that has ended meanwhile has none.
    pub(super) fn refresh(&mut self, pid: Pid, space: &mut Space) {
        let pid = pid.as_raw().unsigned_abs();
        let lines = maps::read(pid).unwrap_or_default();
        space.mappings = self.files.mappings(&mut self.modules, pid, &space.memory, &lines);
        let region = |(line, mapping): (&maps::Line, &Mapping)| Region {
            start: line.start,
            end: line.end,
            code: mapping.file.filter(|_| !line.writable),
        };
        let with_code = lines.iter().zip(&space.mappings).filter(|(line, _)| line.executable);
        space.regions = with_code.map(region).collect();
        for file in self.modules.files().skip(self.bytes.len()) {
            let size = self.modules.bytes(file).map_or(0, <[u8]>::len);
            // Pages of zeros take memory only once they are written.
            self.bytes.push(vec![0; size]);
        }
        self.generations += 1;
        space.generation = self.generations;
    }

    /// The files of a process, ready for lookups.
    pub(super) fn modules(&mut self, space: &Space) -> &mut Modules<'s> {
        if self.mapped != space.generation {
            self.modules.map(space.mappings.clone());
            self.mapped = space.generation;
        }
        &mut self.modules
    }
}

impl Space {
    /// The region that contains an address.
    pub(super) fn region(&self, pc: u64) -> Option<Region> {
        let after = self.regions.partition_point(|region| region.start <= pc);
        self.regions.get(after.checked_sub(1)?).copied().filter(|region| region.contains(pc))
    }

    /// Whether executable memory is in a range.
    pub(super) fn has_code_in(&self, start: u64, end: u64) -> bool {
        self.regions.iter().any(|region| region.start < end && start < region.end)
    }

    /// A copy for a process whose memory is a copy, or the same.
    pub(super) fn copy(&self, pid: Pid) -> io::Result<Space> {
        Ok(Space {
            memory: LiveMemory::open(pid.as_raw().unsigned_abs())?,
            regions: self.regions.clone(),
            mappings: self.mappings.clone(),
            generation: self.generation,
        })
    }
}
