//! Core dumps: the threads, the memory and the mapped files of a process that has ended.

mod error;
mod headers;
mod memory;
mod notes;
mod unlisted;

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sframe_input::Debuginfod;
use sframe_validator::Abi;
use sframe_validator::elf::{Elf, PF_X, Segment};

use crate::auxv::{AT_ENTRY, AT_SYSINFO_EHDR};
use crate::build_id::check_build;
use crate::error::{FileDefect, UnusableFile};
use crate::files::Files;
use crate::memory::Image;
use crate::modules::{DEBUG_FOLDER, FileId, Mapping, Modules};
use crate::walk::Cursor;
pub use error::CoreDumpError;
use headers::Headers;
pub use memory::CoreMemory;
use notes::{FileRange, Notes};

/// The smallest size of pages on the machines of core dumps.
const PAGE: u64 = 0x1000;
/// The largest number of mapped files that are opened.
const MOST_FILES: usize = 1 << 14;

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its identifier.
    pub id: u32,
    /// The signal that it received; 0 if there was none.
    pub signal: u16,
    /// Its innermost frame.
    pub frame: Cursor,
}

/// Where the files of a process are.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The file that was executed, wherever the core dump states that it was.
    pub exe: Option<PathBuf>,
    /// The folder below which all other files are.
    pub sysroot: Option<PathBuf>,
    /// Folders in which separate debug files are looked for before the usual one.
    pub debug_dirs: Vec<PathBuf>,
    /// Servers that are asked for debug files that are in no folder.
    pub debuginfod: Option<Arc<Debuginfod>>,
}

/// A core dump.
pub struct CoreDump<'s> {
    /// The machine.
    pub abi: Abi,
    /// The threads; the first one is that which received the signal.
    pub threads: Vec<Thread>,
    /// The number of bits of virtual addresses, if the dump states which bits have pointer-authentication codes.
    pub address_bits: Option<u32>,
    /// The mapped files.
    pub modules: Modules<'s>,
    /// The memory.
    pub memory: CoreMemory<'s>,
    /// What could not be read, with reasons for people.
    pub problems: Vec<String>,
}

impl<'s> CoreDump<'s> {
    /// Reads a core dump, and opens the files that were mapped.
    ///
    /// # Errors
    /// Returns an error if the file is not a core dump, or is one of an unknown machine.
    pub fn read(
        data: &'s [u8],
        files: &'s Files,
        places: &Places,
    ) -> Result<CoreDump<'s>, CoreDumpError> {
        let Headers { abi, loads, notes } = Headers::read(data)?;
        let mut problems = Vec::new();
        let notes = Notes::read(data, &notes, abi, &mut problems);
        let dumped = dumped(data, &loads, &mut problems);
        let mut loader = Loader {
            abi,
            loads,
            files,
            places,
            notes: &notes,
            dumped: &dumped,
            modules: modules(files, places),
            mappings: Vec::new(),
            contents: Vec::new(),
            problems,
        };
        loader.load();
        let Loader { mut modules, mappings, contents, mut problems, .. } = loader;
        modules.map(mappings);
        if notes.threads.is_empty() {
            problems.push("no thread's registers are readable".to_owned());
        }
        let memory = CoreMemory { dumped, files: Image::new(contents) };
        let Notes { mut threads, address_bits, .. } = notes;
        // Linux notes the signal for every thread, but only the first one received it.
        threads.iter_mut().skip(1).for_each(|thread| thread.signal = 0);
        Ok(CoreDump { abi, threads, address_bits, modules, memory, problems })
    }
}

/// The memory that the dump contains.
fn dumped<'s>(data: &'s [u8], loads: &[Segment], problems: &mut Vec<String>) -> Image<'s> {
    let mut missing = 0_u64;
    let bytes = loads.iter().map(|segment| {
        let bytes = headers::content(data, segment);
        missing += u64::from((bytes.len() as u64) < segment.file_size);
        (segment.address, bytes)
    });
    let image = Image::new(bytes);
    if missing > 0 {
        let segments = if missing == 1 { "segment is" } else { "segments are" };
        problems.push(format!("the core dump is truncated: {missing} {segments} incomplete"));
    }
    image
}

/// Finds and opens mapped files.
struct Loader<'l, 's> {
    abi: Abi,
    /// The segments of memory, by address.
    loads: Vec<Segment>,
    files: &'s Files,
    places: &'l Places,
    notes: &'l Notes,
    dumped: &'l Image<'s>,
    modules: Modules<'s>,
    mappings: Vec<Mapping>,
    /// What was mapped, by address.
    contents: Vec<(u64, &'s [u8])>,
    problems: Vec<String>,
}

impl<'s> Loader<'_, 's> {
    fn load(&mut self) {
        if self.notes.files.is_empty() {
            self.unlisted_files();
        } else {
            self.noted_files();
        }
        self.vdso();
        self.anonymous();
    }

    /// The files of the note `NT_FILE`.
    fn noted_files(&mut self) {
        let notes = self.notes;
        let entry = notes.auxv.get(AT_ENTRY);
        let contains =
            |range: &&FileRange| entry.is_some_and(|at| range.start <= at && at < range.end);
        let executable = notes.files.iter().find(contains).map(|range| &range.name);
        // The beginning of each file that is mapped.
        let mut first: BTreeMap<&[u8], &FileRange> = BTreeMap::new();
        for range in &notes.files {
            let known = first.entry(&range.name).or_insert(range);
            if range.offset < known.offset {
                *known = range;
            }
        }
        if first.len() > MOST_FILES {
            let number = first.len();
            self.problems.push(format!("of {number} mapped files, {MOST_FILES} are read"));
        }
        let mut known: BTreeMap<&[u8], FileId> = BTreeMap::new();
        for (name, range) in first.into_iter().take(MOST_FILES) {
            let is_executable = executable.is_some_and(|found| found == name);
            let path = match &self.places.exe {
                Some(exe) if is_executable => exe.clone(),
                _ => self.path(range),
            };
            let name_of = path.as_os_str().as_bytes();
            let bytes =
                self.open(range, &path).map_err(|defect| UnusableFile::new(name_of, defect));
            known.insert(name, self.modules.add_at(name.to_vec(), path, bytes));
        }
        for range in &notes.files {
            if let Some(file) = known.get(range.name.as_slice()) {
                self.add(*file, range);
            }
        }
    }

    fn add(&mut self, file: FileId, range: &FileRange) {
        let executable = self.is_executable(range.start);
        let mapping = Mapping {
            start: range.start,
            end: range.end,
            executable,
            file: Some((file, range.offset)),
        };
        self.mappings.push(mapping);
        let Some(bytes) = self.modules.bytes(file) else { return };
        let rest = usize::try_from(range.offset).ok().and_then(|start| bytes.get(start..));
        let rest = rest.unwrap_or_default();
        let size = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        self.contents.push((range.start, rest.get(..size).unwrap_or(rest)));
    }

    /// Where the file of a range is, unless it is the executable and was named.
    fn path(&self, range: &FileRange) -> PathBuf {
        match &self.places.sysroot {
            Some(root) => below(root, &range.path()),
            None => range.path(),
        }
    }

    /// Opens the file of a range, which is its first one, and compares its build ID with that in the dump.
    fn open(&self, range: &FileRange, path: &Path) -> Result<&'s [u8], FileDefect> {
        let bytes = self.files.open(path)?;
        // The ELF header and the notes are in the first page, which Linux dumps unless it is asked not to.
        let beginning = if range.offset == 0 { self.dumped.rest(range.start) } else { &[] };
        check_build(bytes, beginning)?;
        Ok(bytes)
    }

    /// The vDSO, which is only in memory.
    fn vdso(&mut self) {
        let Some(start) = self.notes.auxv.get(AT_SYSINFO_EHDR) else { return };
        let bytes = self.dumped.rest(start);
        let Some(segment) = self.segment(start).copied() else { return };
        if !Elf::is_elf(bytes) {
            return;
        }
        let size = usize::try_from(segment.memory_size).unwrap_or(usize::MAX);
        let bytes = bytes.get(..size).unwrap_or(bytes);
        let file = self.modules.add(b"[vdso]".to_vec(), Ok(bytes));
        let end = segment.address.saturating_add(segment.memory_size);
        let mapping = Mapping { start, end, executable: true, file: Some((file, 0)) };
        self.mappings.push(mapping);
    }

    /// The other memory of the dump.
    fn anonymous(&mut self) {
        let mut known: Vec<u64> = self.mappings.iter().map(|mapping| mapping.start).collect();
        known.sort_unstable();
        for segment in &self.loads {
            if known.binary_search(&segment.address).is_err() {
                self.mappings.push(Mapping {
                    start: segment.address,
                    end: segment.address.saturating_add(segment.memory_size),
                    executable: segment.flags & PF_X != 0,
                    file: None,
                });
            }
        }
    }

    fn segment(&self, address: u64) -> Option<&Segment> {
        let after = self.loads.partition_point(|segment| segment.address <= address);
        let segment = self.loads.get(after.checked_sub(1)?)?;
        segment.contains(address, 1).then_some(segment)
    }

    /// Whether the memory at an address is executable; if the dump does not state it, it may be.
    fn is_executable(&self, address: u64) -> bool {
        self.segment(address).is_none_or(|segment| segment.flags & PF_X != 0)
    }
}

/// An empty list of files, which knows where to look for their debug files.
fn modules<'s>(files: &'s Files, places: &Places) -> Modules<'s> {
    let folder = Path::new(DEBUG_FOLDER);
    let folder = places.sysroot.as_ref().map_or(folder.to_owned(), |root| below(root, folder));
    let mut modules = Modules::new();
    let folders = places.debug_dirs.iter().cloned().chain([folder]);
    modules.search_debug_files(files, folders.collect(), places.debuginfod.clone());
    modules
}

/// An absolute path in another root folder. Components that lead upwards are left out.
fn below(root: &Path, path: &Path) -> PathBuf {
    let normal = |part: &std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
    root.join(path.components().filter(normal).collect::<PathBuf>())
}
