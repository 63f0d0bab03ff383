//! A process that runs: stopped while its stacks are walked.

mod error;
pub(crate) mod mapped;
pub(crate) mod maps;
mod memory;
mod stopped;

use std::path::{Path, PathBuf};

use sframe_validator::Abi;
use sframe_validator::elf::Elf;

use crate::core_dump::Thread;
use crate::files::Files;
use crate::modules::{DEBUG_FOLDER, Modules};
pub use error::{StopError, ThreadRefusal};
use mapped::MappedFiles;
pub use memory::LiveMemory;
use stopped::Stopped;

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
    /// Stops all threads of a process, and opens the files that it maps. Separate debug files are looked for in
    /// `debug_dirs` before the usual folder.
    ///
    /// # Errors
    /// Returns an error if the process cannot be stopped or read.
    pub fn stop(
        pid: u32,
        files: &'s Files,
        debug_dirs: &[PathBuf],
    ) -> Result<Process<'s>, StopError> {
        let host = stopped::HOST.ok_or(StopError::UnsupportedHost)?;
        let mut problems = Vec::new();
        let stopped = Stopped::all(pid, &mut problems)?;
        // Only now it cannot execute another program.
        let exe = files.open(&PathBuf::from(format!("/proc/{pid}/exe")));
        let exe = exe.map_err(|error| StopError::Program(error.into()))?;
        let abi = Elf::parse(exe).map_err(|error| StopError::Program(error.into()))?.abi();
        if abi != Some(host) {
            return Err(StopError::NotFor(host));
        }
        let threads = stopped.threads(&mut problems);
        let memory = LiveMemory::open(pid)?;
        let lines = maps::read(pid)?;
        let mut modules = Modules::new();
        let usual = mapped::seen_by(pid, Path::new(DEBUG_FOLDER));
        let folders = debug_dirs.iter().cloned().chain([usual]);
        // A stopped process does not wait for a server.
        modules.search_debug_files(files, folders.collect(), None);
        let mappings = MappedFiles::new(files).mappings(&mut modules, pid, &memory, &lines);
        modules.map(mappings);
        Ok(Process { abi: host, threads, modules, memory, problems, _stopped: stopped })
    }
}
