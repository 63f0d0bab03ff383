//! A process that runs: stopped while its stacks are walked.

mod maps;
mod stopped;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use sframe_input::plain_error;
use sframe_validator::Abi;
use sframe_validator::elf::Elf;

use crate::build_id::{BuildId, build_id};
use crate::core_dump::Thread;
use crate::files::Files;
use crate::modules::{FileId, Mapping, Modules};
use crate::walk::Memory;
use maps::Line;
use maps::parse;
use stopped::Stopped;

/// The largest size of an image in memory that is read as a file: the vDSO has two or three pages.
const MOST_IMAGE: u64 = 1 << 20;
const PAGE: usize = 4096;

/// The memory of another process.
#[derive(Debug)]
pub struct LiveMemory {
    file: File,
}

impl LiveMemory {
    /// Opens the memory of a process.
    ///
    /// # Errors
    /// The reason, for people, why it cannot be opened.
    pub fn open(pid: u32) -> Result<LiveMemory, String> {
        let file = File::open(format!("/proc/{pid}/mem")).map_err(|error| plain_error(&error))?;
        Ok(LiveMemory { file })
    }
}

impl Memory for LiveMemory {
    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        self.file.read_exact_at(bytes, address).is_ok()
    }
}

/// A process whose threads are stopped. They continue when this value is dropped.
pub struct Process<'s> {
    /// The machine.
    pub abi: Abi,
    /// The threads, by their identifiers.
    pub threads: Vec<Thread>,
    /// The mapped files.
    pub modules: Modules<'s>,
    /// The memory.
    pub memory: LiveMemory,
    /// What could not be read, with reasons for people.
    pub problems: Vec<String>,
    _stopped: Stopped,
}

impl<'s> Process<'s> {
    /// Stops all threads of a process, and opens the files that it maps.
    ///
    /// # Errors
    /// The reason, for people, why the process cannot be stopped or read.
    pub fn stop(pid: u32, files: &'s Files) -> Result<Process<'s>, String> {
        let host = stopped::HOST.ok_or("processes of this machine are not supported")?;
        let exe = PathBuf::from(format!("/proc/{pid}/exe"));
        let image = files.open(&exe)?;
        let abi = Elf::parse(image).map_err(|error| error.to_string())?.abi();
        if abi != Some(host) {
            return Err(format!("it is not a program for {host}"));
        }
        let mut problems = Vec::new();
        let stopped = Stopped::all(pid, &mut problems)?;
        let threads = stopped.threads(&mut problems);
        let memory = LiveMemory::open(pid)?;
        let mut modules = Modules::new();
        let mut loader = Loader { pid, files, memory: &memory, known: BTreeMap::new() };
        loader.load(&mut modules)?;
        Ok(Process { abi: host, threads, modules, memory, problems, _stopped: stopped })
    }
}

/// Reads the mappings of a process, and opens new files.
pub struct Loader<'l, 's> {
    pid: u32,
    files: &'s Files,
    memory: &'l LiveMemory,
    /// By name and inode: a file can be replaced by another one of the same name.
    known: BTreeMap<(Vec<u8>, u64), FileId>,
}

impl<'l, 's> Loader<'l, 's> {
    /// A loader that has read nothing.
    #[must_use]
    pub const fn new(pid: u32, files: &'s Files, memory: &'l LiveMemory) -> Loader<'l, 's> {
        Loader { pid, files, memory, known: BTreeMap::new() }
    }

    /// Replaces the mappings of `modules` by the current ones. Files that were opened before are kept.
    ///
    /// # Errors
    /// The reason, for people, why the list of mappings cannot be read.
    pub fn load(&mut self, modules: &mut Modules<'s>) -> Result<(), String> {
        let text = fs::read(format!("/proc/{}/maps", self.pid));
        let lines: Vec<Line> = parse(&text.map_err(|error| plain_error(&error))?);
        let mut mappings = Vec::new();
        for line in &lines {
            let file = match line.name.first() {
                Some(b'/') => Some(self.file(modules, line, &lines)),
                Some(_) if line.name == b"[vdso]" => self.image(modules, line),
                _ => None,
            };
            mappings.push(Mapping {
                start: line.start,
                end: line.end,
                executable: line.executable,
                file: file.map(|file| (file, line.offset)),
            });
        }
        modules.map(mappings);
        Ok(())
    }

    fn file(&mut self, modules: &mut Modules<'s>, line: &Line, lines: &[Line]) -> FileId {
        let key = (line.name.clone(), line.inode);
        if let Some(file) = self.known.get(&key) {
            return *file;
        }
        let same = |other: &&Line| other.name == line.name && other.inode == line.inode;
        let first = lines.iter().filter(same).find(|other| other.offset == 0);
        let bytes = self.open(line).and_then(|bytes| self.checked(bytes, first));
        let file = modules.add(line.name.clone(), bytes);
        self.known.insert(key, file);
        file
    }

    /// Opens a file as the process sees it, whose root folder may be another one.
    fn open(&self, line: &Line) -> Result<&'s [u8], String> {
        let mapped = format!("/proc/{}/map_files/{:x}-{:x}", self.pid, line.start, line.end);
        // Only privileged users may open files by their mapping.
        if let Ok(bytes) = self.files.open(Path::new(&mapped)) {
            return Ok(bytes);
        }
        let path = line.path();
        let root = PathBuf::from(format!("/proc/{}/root", self.pid));
        let inside = root.join(path.strip_prefix("/").unwrap_or(&path));
        Ok(self.files.open(&inside)?)
    }

    /// The bytes of a file, if the mapped one has the same build ID.
    fn checked(&self, bytes: &'s [u8], first: Option<&Line>) -> Result<&'s [u8], String> {
        let mut page = [0; PAGE];
        let Some(first) = first.filter(|first| self.memory.read(first.start, &mut page)) else {
            return Ok(bytes);
        };
        debug_assert_eq!(first.offset, 0);
        match (build_id(&page), build_id(bytes)) {
            (Some(mapped), Some(found)) if mapped != found => {
                let (mapped, found) = (BuildId(mapped), BuildId(found));
                Err(format!("its build ID is {found}, but that of the mapped file is {mapped}"))
            }
            _ => Ok(bytes),
        }
    }

    /// The image of a file that is only in memory.
    fn image(&mut self, modules: &mut Modules<'s>, line: &Line) -> Option<FileId> {
        let key = (line.name.clone(), 0);
        if let Some(file) = self.known.get(&key) {
            return Some(*file);
        }
        let size = line.end.saturating_sub(line.start).min(MOST_IMAGE);
        let mut image = vec![0; usize::try_from(size).ok()?];
        if !self.memory.read(line.start, &mut image) {
            return None;
        }
        let file = modules.add(line.name.clone(), Ok(self.files.keep(image)));
        self.known.insert(key, file);
        Some(file)
    }
}
