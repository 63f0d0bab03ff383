//! The files of a core dump that does not list them, as qemu writes it: the executable, and the shared libraries in the
//! list that the dynamic linker keeps for debuggers, as gdb finds them.
//!
//! The entry `DT_DEBUG` of the executable's dynamic section leads to `struct r_debug`, which leads to the first
//! `struct link_map` (`<link.h>`).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::FileHeader;
use sframe_validator::elf::{Elf, ElfKind, PF_X, PT_DYNAMIC, PT_INTERP, PT_LOAD, PT_PHDR, Segment};

use super::error::ListDefect;
use super::notes::FileRange;
use super::{CoreMemory, Loader, PAGE, below};
use crate::auxv::{AT_PHDR, AT_SYSINFO_EHDR};
use crate::build_id::check_build;
use crate::error::{FileDefect, UnusableFile};
use crate::memory::Image;
use crate::walk::Memory;

/// The entry of the dynamic section that the dynamic linker sets to the address of `struct r_debug`.
const DT_DEBUG: u64 = 21;
/// The size of an entry of the dynamic section: a tag and a value.
const ENTRY: u64 = 16;
/// The largest number of entries that are read. Real files have some thirty.
const MOST_ENTRIES: u64 = 4096;
/// The place of `r_map` in `struct r_debug`.
const FIRST: u64 = 8;
/// The largest number of entries in the list that are read. Programs with a thousand libraries exist.
const MOST_LIBRARIES: usize = 1 << 12;
/// The number of mappings after which no libraries are added. Linux maps up to 65,530 ranges unless it is set up otherwise.
const MOST_MAPPINGS: usize = 1 << 16;
/// The largest size of a path (`PATH_MAX`).
const LONGEST_NAME: usize = 4096;

/// The fields of `struct link_map`, in their order.
struct Linked {
    /// The difference between runtime addresses and the file's.
    bias: u64,
    /// The runtime address of the path.
    name: u64,
    /// The runtime address of the dynamic section.
    dynamic: u64,
    /// The runtime address of the next structure, or 0.
    next: u64,
}

/// An ELF file that was opened.
struct OpenedFile<'p, 's> {
    path: &'p Path,
    bytes: &'s [u8],
    elf: Elf<'s>,
}

impl<'s> Loader<'_, 's> {
    /// Finds the executable, and the libraries that the dynamic linker has loaded for it.
    pub(super) fn unlisted_files(&mut self) {
        let Some(path) = &self.places.exe else {
            self.problems.push(
                "the core dump does not list its files: name the program with --exe".to_owned(),
            );
            return;
        };
        let name = path.as_os_str().as_bytes();
        let program = match self.parsed(path) {
            Ok(parsed) => parsed,
            Err(defect) => {
                self.problems.push(UnusableFile::new(name, defect).to_string());
                return;
            }
        };
        let elf = &program.elf;
        // It is where its program headers are.
        let bias = match elf.kind() {
            ElfKind::Executable => 0,
            _ => self
                .notes
                .auxv
                .get(AT_PHDR)
                .zip(headers(elf, program.bytes))
                .map_or(0, |(runtime, headers)| runtime.wrapping_sub(headers)),
        };
        self.add_segments(name, &program, bias);
        let dynamic = segment(elf, PT_DYNAMIC);
        if let Some(dynamic) = dynamic.filter(|_| segment(elf, PT_INTERP).is_some()) {
            let start = dynamic.address.wrapping_add(bias);
            if let Err(defect) = self.libraries(start, dynamic.memory_size) {
                self.problems.push(defect.to_string());
            }
        }
    }

    /// Adds the libraries in the dynamic linker's list. The executable's dynamic section is at `dynamic`.
    fn libraries(&mut self, dynamic: u64, size: u64) -> Result<(), ListDefect> {
        // Some names are in the executable's own memory, which is not dumped.
        let files = Image::new(self.contents.iter().copied());
        let memory = CoreMemory { dumped: self.dumped.clone(), files };
        let abi = self.abi;
        let word = |address| memory.word(abi, address);
        let debug = self.debug(dynamic, size).ok_or(ListDefect::NotDumped)?;
        // The dynamic linker has not made the list yet.
        let Some(debug) = debug.filter(|debug| *debug != 0) else { return Ok(()) };
        let mut next = word(debug.wrapping_add(FIRST)).ok_or(ListDefect::NotDumped)?;
        let vdso = self.notes.auxv.get(AT_SYSINFO_EHDR).and_then(|start| self.segment(start));
        let vdso = vdso.copied();
        let (mut steps, mut known) = (0, BTreeSet::new());
        while next != 0 {
            let linked = Linked::read(next, word).ok_or(ListDefect::NotDumped)?;
            next = linked.next;
            steps += 1;
            if steps > MOST_LIBRARIES {
                return Err(ListDefect::ManyEntries(MOST_LIBRARIES));
            }
            if self.mappings.len() > MOST_MAPPINGS {
                return Err(ListDefect::ManySegments(MOST_MAPPINGS));
            }
            let is_vdso = vdso.is_some_and(|vdso| vdso.contains(linked.dynamic, 1));
            if linked.dynamic == dynamic || is_vdso {
                continue;
            }
            let name = text(&memory, linked.name).ok_or(ListDefect::NotDumped)?;
            if name.is_empty() {
                return Err(ListDefect::NoName);
            }
            if known.contains(&name) {
                return Err(ListDefect::Twice);
            }
            let path = Path::new(OsStr::from_bytes(&name));
            let root = self.places.sysroot.as_ref();
            let path = root.map_or(path.to_owned(), |root| below(root, path));
            if let Err(defect) = self.library(&name, &path, &linked) {
                let error = UnusableFile::new(path.as_os_str().as_bytes(), defect);
                self.problems.push(error.to_string());
            }
            known.insert(name);
        }
        Ok(())
    }

    /// The value of `DT_DEBUG` in the dynamic section of a size in bytes; `Some(None)` if there is no such entry. The
    /// file's own copy of the section does not have the value.
    fn debug(&self, dynamic: u64, size: u64) -> Option<Option<u64>> {
        let memory = CoreMemory { dumped: self.dumped.clone(), files: Image::default() };
        for number in 0..(size / ENTRY).min(MOST_ENTRIES) {
            let place = dynamic.wrapping_add(number * ENTRY);
            match memory.word(self.abi, place)? {
                0 => break,
                DT_DEBUG => return memory.word(self.abi, place.wrapping_add(8)).map(Some),
                _ => {}
            }
        }
        Some(None)
    }

    /// Adds a library, which is at `path`.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened, or is another file than the mapped one.
    fn library(&mut self, name: &[u8], path: &Path, linked: &Linked) -> Result<(), FileDefect> {
        let file = self.parsed(path)?;
        let found =
            segment(&file.elf, PT_DYNAMIC).map(|found| found.address.wrapping_add(linked.bias));
        if found != Some(linked.dynamic) {
            return Err(FileDefect::OtherDynamicSection);
        }
        let first = file.elf.segments().iter().find(|s| s.p_type == PT_LOAD && s.offset == 0);
        let first = first.map(|segment| segment.address.wrapping_add(linked.bias));
        check_build(file.bytes, first.map_or(&[], |first| self.dumped.rest(first)))?;
        self.add_segments(name, &file, linked.bias);
        Ok(())
    }

    fn parsed<'p>(&self, path: &'p Path) -> Result<OpenedFile<'p, 's>, FileDefect> {
        let bytes: &'s [u8] = self.files.open(path)?;
        Ok(OpenedFile { path, bytes, elf: Elf::parse(bytes)? })
    }

    /// Adds the segments of a file that is mapped `bias` bytes above its own addresses.
    fn add_segments(&mut self, name: &[u8], opened: &OpenedFile<'_, 's>, bias: u64) {
        let OpenedFile { path, bytes, elf } = opened;
        let file = self.modules.add_at(name.to_vec(), PathBuf::from(path), Ok(bytes));
        for segment in elf.segments().iter().filter(|segment| segment.p_type == PT_LOAD) {
            let start = segment.address.wrapping_add(bias);
            let end = start.saturating_add(segment.file_size);
            // Whole pages are mapped (Linux, `elf_map`), and the dump describes its memory in whole pages. Without this,
            // its range would start first, and hide the file.
            let before = segment.offset.min(start % PAGE);
            let (start, offset) = (start - before, segment.offset - before);
            self.add(file, &FileRange { start, end, offset, name: name.to_vec() });
            if let Some(mapping) = self.mappings.last_mut() {
                mapping.executable = segment.flags & PF_X != 0;
            }
        }
    }
}

impl Linked {
    fn read(address: u64, word: impl Fn(u64) -> Option<u64>) -> Option<Linked> {
        let field = |number: u64| word(address.wrapping_add(number * 8));
        Some(Linked { bias: field(0)?, name: field(1)?, dynamic: field(2)?, next: field(3)? })
    }
}

/// The bytes at an address before the first 0.
fn text(memory: &impl Memory, address: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    while text.len() < LONGEST_NAME {
        let mut byte = [0];
        if !memory.read(address.checked_add(text.len() as u64)?, &mut byte) {
            return None;
        }
        match byte {
            [0] => return Some(text),
            [byte] => text.push(byte),
        }
    }
    None
}

/// The first segment of a type.
fn segment<'e>(elf: &'e Elf<'_>, p_type: u32) -> Option<&'e Segment> {
    elf.segments().iter().find(|segment| segment.p_type == p_type)
}

/// The address of the program headers in a file's own addresses. Programs without a dynamic linker need no `PT_PHDR`: then
/// the kernel looks for the segment that loads them (Linux, `load_elf_binary`).
fn headers(elf: &Elf<'_>, bytes: &[u8]) -> Option<u64> {
    if let Some(headers) = segment(elf, PT_PHDR) {
        return Some(headers.address);
    }
    let header = FileHeader64::<Endianness>::parse(bytes).ok()?;
    let offset = header.e_phoff(header.endian().ok()?);
    let loads = |segment: &&Segment| {
        let end = segment.offset.saturating_add(segment.file_size);
        segment.p_type == PT_LOAD && segment.offset <= offset && offset < end
    };
    let found = elf.segments().iter().find(loads)?;
    Some(found.address.wrapping_add(offset - found.offset))
}
