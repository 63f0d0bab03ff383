//! The executable memory of a traced process, and what is known about each instruction in it.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use nix::unistd::Pid;

use crate::files::Files;
use crate::modules::{FileId, Mapping, Modules};
use crate::ptrace::Memory;

/// The largest image that is read from memory: the vDSO has a few pages.
const LARGEST_IMAGE: u64 = 1 << 20;

/// A range of executable memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The number of the file's [table](Tables), and the offset in the file of the first byte; `None` if code can
    /// change there.
    pub(super) code: Option<(usize, u64)>,
}

impl Region {
    #[inline]
    pub(super) const fn contains(&self, pc: u64) -> bool {
        self.start <= pc && pc < self.end
    }
}

/// A process's memory.
pub(super) struct Space {
    pub(super) memory: Memory,
    /// By address.
    regions: Vec<Region>,
    /// All mappings, for [`Modules`].
    mappings: Vec<Mapping>,
    /// Another number after each change.
    pub(super) generation: u64,
}

/// The files of all traced processes.
pub(super) struct Tables<'s> {
    files: &'s Files,
    pub(super) modules: Modules<'s>,
    /// The generation of the mappings that `modules` has.
    mapped: u64,
    generations: u64,
    /// Files by device, inode and path.
    known: HashMap<String, (FileId, usize)>,
    /// For each file, a byte for each byte of code, by offset in the file.
    bytes: Vec<Vec<u8>>,
    pub(super) file_of: Vec<FileId>,
}

impl<'s> Tables<'s> {
    pub(super) fn new(files: &'s Files) -> Tables<'s> {
        Tables {
            files,
            modules: Modules::new(),
            mapped: 0,
            generations: 0,
            known: HashMap::new(),
            bytes: Vec::new(),
            file_of: Vec::new(),
        }
    }

    /// The byte for a place in a file.
    #[inline]
    pub(super) fn byte(&mut self, table: usize, offset: u64) -> Option<&mut u8> {
        self.bytes.get_mut(table)?.get_mut(usize::try_from(offset).ok()?)
    }

    /// The memory of a process, as it is now.
    pub(super) fn space(&mut self, pid: Pid) -> std::io::Result<Space> {
        let memory = Memory::open(pid)?;
        let mut space = Space { memory, regions: Vec::new(), mappings: Vec::new(), generation: 0 };
        self.refresh(pid, &mut space);
        Ok(space)
    }

    /// Reads the mappings of a process again.
    pub(super) fn refresh(&mut self, pid: Pid, space: &mut Space) {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        space.regions.clear();
        space.mappings.clear();
        for line in maps.lines().filter_map(Line::parse) {
            let file = self.file(&line, &space.memory);
            let offset = if line.path == VDSO { 0 } else { line.offset };
            let (start, end, executable) = (line.start, line.end, line.executable);
            let mapped = file.map(|(file, _)| (file, offset));
            space.mappings.push(Mapping { start, end, executable, file: mapped });
            if executable {
                let code = file.filter(|_| !line.writable).map(|(_, table)| (table, offset));
                space.regions.push(Region { start, end, code });
            }
        }
        self.generations += 1;
        space.generation = self.generations;
    }

    /// The file of a mapping, and its table. Files without executable mappings are left out.
    fn file(&mut self, line: &Line<'_>, memory: &Memory) -> Option<(FileId, usize)> {
        let is_vdso = line.path == VDSO;
        if !line.executable || !(is_vdso || line.path.starts_with('/')) {
            return None;
        }
        let key = format!("{} {}", line.identity, line.path);
        if let Some(found) = self.known.get(&key) {
            return Some(*found);
        }
        let bytes = if is_vdso {
            let size = line.end.saturating_sub(line.start).min(LARGEST_IMAGE);
            let mut image = vec![0; usize::try_from(size).ok()?];
            let read = memory.read(line.start, &mut image);
            image.truncate(read);
            Ok(self.files.keep(image))
        } else {
            self.files.open(Path::new(line.path)).map(|file| &**file)
        };
        let size = bytes.as_ref().map_or(0, |bytes| bytes.len());
        let file = self.modules.add(line.path.as_bytes().to_vec(), bytes);
        let table = self.bytes.len();
        // Pages of zeros take memory only once they are written.
        self.bytes.push(vec![0; size]);
        self.file_of.push(file);
        self.known.insert(key, (file, table));
        Some((file, table))
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
    pub(super) fn copy(&self, pid: Pid) -> std::io::Result<Space> {
        Ok(Space {
            memory: Memory::open(pid)?,
            regions: self.regions.clone(),
            mappings: self.mappings.clone(),
            generation: self.generation,
        })
    }
}

/// The name of the code that the kernel maps into every process.
const VDSO: &str = "[vdso]";

/// A line of `/proc/PID/maps` (proc_pid_maps(5)).
#[derive(Debug, PartialEq, Eq)]
struct Line<'l> {
    start: u64,
    end: u64,
    writable: bool,
    executable: bool,
    offset: u64,
    /// Device and inode.
    identity: &'l str,
    /// May contain spaces; ends with ` (deleted)` if the file was removed. Line ends are written as `\012`.
    path: &'l str,
}

impl<'l> Line<'l> {
    fn parse(line: &'l str) -> Option<Line<'l>> {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let (permissions, rest) = rest.split_once(' ')?;
        let (offset, rest) = rest.split_once(' ')?;
        // The device and the inode, then spaces and the path.
        let inode = rest.find(' ')? + 1;
        let length = rest.get(inode..)?.find(' ').unwrap_or(rest.len() - inode);
        let identity = rest.get(..inode + length)?;
        Some(Line {
            start: u64::from_str_radix(start, 16).ok()?,
            end: u64::from_str_radix(end, 16).ok()?,
            writable: permissions.contains('w'),
            executable: permissions.contains('x'),
            offset: u64::from_str_radix(offset, 16).ok()?,
            identity,
            path: rest.get(inode + length..)?.trim_start(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as Linux writes them.
    #[test]
    fn mappings_are_parsed() {
        let text = "7f08a000-7f08b0ff r-xp 00028000 fd:00 1234                       /usr/lib/a b.so (deleted)";
        let line = Line {
            start: 0x7f08_a000,
            end: 0x7f08_b0ff,
            writable: false,
            executable: true,
            offset: 0x28000,
            identity: "fd:00 1234",
            path: "/usr/lib/a b.so (deleted)",
        };
        assert_eq!(Line::parse(text), Some(line));
        let anonymous = Line::parse("1000-2000 rwxp 00000000 00:00 0 ").expect("a line");
        assert_eq!((anonymous.writable, anonymous.path), (true, ""));
        assert_eq!(Line::parse("1000-2000 rwxp 00000000 00:00 0").expect("a line").path, "");
        for broken in
            ["", "1000", "1000-2000", "1000-2000 r-xp zz 00:00 0", "x-2000 r-xp 0 00:00 0"]
        {
            assert_eq!(Line::parse(broken), None, "{broken}");
        }
    }
}
