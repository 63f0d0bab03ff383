//! The files that processes map, each opened once.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::maps::{FileKey, Line};
use super::memory::LiveMemory;
use crate::build_id::check_build;
use crate::error::{FileDefect, UnusableFile};
use crate::files::Files;
use crate::modules::{FileId, Mapping, Modules};

/// The largest size of an image in memory that is read as a file: the vDSO has a few pages.
const MOST_IMAGE: u64 = 1 << 20;
/// The number of bytes at the beginning of a file in which its build ID is looked for.
const BEGINNING: usize = 4096;

/// The files that were mapped by processes. Files without code are left out.
pub(crate) struct MappedFiles<'s> {
    files: &'s Files,
    known: BTreeMap<FileKey, FileId>,
}

/// A process whose mappings were read.
struct Mapped<'m> {
    pid: u32,
    memory: &'m LiveMemory,
    lines: &'m [Line],
}

impl<'s> MappedFiles<'s> {
    pub(crate) const fn new(files: &'s Files) -> MappedFiles<'s> {
        MappedFiles { files, known: BTreeMap::new() }
    }

    /// What is mapped according to `lines`, the list of a process's mappings, in their order. New files are opened, and
    /// added to `modules`.
    pub(crate) fn mappings(
        &mut self,
        modules: &mut Modules<'s>,
        pid: u32,
        memory: &LiveMemory,
        lines: &[Line],
    ) -> Vec<Mapping> {
        let process = Mapped { pid, memory, lines };
        let with_code = lines.iter().filter(|line| line.executable).map(|line| &line.file);
        let with_code: BTreeSet<&FileKey> = with_code.collect();
        let mapping = |line: &Line| {
            let file = match with_code.contains(&line.file) {
                true => self.file(modules, &process, line),
                false => None,
            };
            Mapping {
                start: line.start,
                end: line.end,
                executable: line.executable,
                file: file.map(|file| (file, line.offset)),
            }
        };
        lines.iter().map(mapping).collect()
    }

    /// The file of a mapping; `None` for anonymous memory.
    fn file(
        &mut self,
        modules: &mut Modules<'s>,
        process: &Mapped<'_>,
        line: &Line,
    ) -> Option<FileId> {
        if let Some(file) = self.known.get(&line.file) {
            return Some(*file);
        }
        let bytes = match &line.file {
            key if key.is_file() => {
                self.open(process, line).map_err(|defect| UnusableFile::new(&key.name, defect))
            }
            key if key.is_vdso() => Ok(self.image(process, line)?),
            _ => return None,
        };
        let name = line.file.name.clone();
        let file = match line.file.is_file() {
            true => modules.add_at(name, seen_by(process.pid, &line.file.path()), bytes),
            false => modules.add(name, bytes),
        };
        self.known.insert(line.file.clone(), file);
        Some(file)
    }

    /// The bytes of a file, unless it is another build than the mapped one.
    fn open(&self, process: &Mapped<'_>, line: &Line) -> Result<&'s [u8], FileDefect> {
        let bytes = self.open_as_seen_by(process.pid, line)?;
        let mut beginning = [0; BEGINNING];
        let first = process.lines.iter().find(|other| other.file == line.file && other.offset == 0);
        let read = first.map_or(0, |first| process.memory.read_some(first.start, &mut beginning));
        check_build(bytes, beginning.get(..read).unwrap_or_default())?;
        Ok(bytes)
    }

    /// Opens a file as the process sees it, whose root folder may be another one.
    fn open_as_seen_by(&self, pid: u32, line: &Line) -> io::Result<&'s [u8]> {
        let mapped = format!("/proc/{pid}/map_files/{:x}-{:x}", line.start, line.end);
        // Only privileged users may open files by their mapping.
        if let Ok(bytes) = self.files.open(Path::new(&mapped)) {
            return Ok(bytes);
        }
        Ok(self.files.open(&seen_by(pid, &line.file.path()))?)
    }

    /// The image of a file that is only in memory; `None` if it cannot be read.
    fn image(&self, process: &Mapped<'_>, line: &Line) -> Option<&'s [u8]> {
        let size = line.end.saturating_sub(line.start).min(MOST_IMAGE);
        let mut image = vec![0; usize::try_from(size).ok()?];
        let read = process.memory.read_some(line.start, &mut image);
        image.truncate(read);
        (read > 0).then(|| self.files.keep(image))
    }
}

/// A path as a process sees it, whose root folder may be another one.
pub(super) fn seen_by(pid: u32, path: &Path) -> PathBuf {
    let root = PathBuf::from(format!("/proc/{pid}/root"));
    root.join(path.strip_prefix("/").unwrap_or(path))
}
