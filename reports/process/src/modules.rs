//! The files that a process maps, and the rows at a runtime address.

mod cfi;
mod code;
mod debug;
mod module;
mod sframe;
mod stubs;

use std::path::PathBuf;
use std::sync::Arc;

use sframe_input::Debuginfod;

use crate::error::UnusableFile;
use crate::files::Files;
use crate::statement::{Silence, Statement, Witness};
use debug::DebugFiles;
pub use debug::UnusedDebugFile;
use module::Module;
pub use module::Symbolic;

/// Where distributions install separate debug files.
pub(crate) const DEBUG_FOLDER: &str = "/usr/lib/debug";

/// The number of a file in [`Modules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(usize);

impl FileId {
    /// The number of the file: files are numbered in the order in which they were added, from 0 on.
    #[must_use]
    pub const fn number(self) -> usize {
        self.0
    }
}

/// A range of a process's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The first address.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
    /// Whether code in it can be executed.
    pub executable: bool,
    /// The file mapped there, and the offset in it of the mapping's first byte; `None` for anonymous memory.
    pub file: Option<(FileId, u64)>,
}

/// A runtime address in a mapped file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The address in the file, as its symbols and sections state it.
    pub address: u64,
    /// The difference between the runtime address and the file's.
    pub bias: u64,
}

/// The files that a process maps, each read once, when an address in it is looked up first.
///
/// ```no_run
/// use std::path::Path;
///
/// use sframe_process::{Files, Mapping, Modules, UnusableFile, Witness};
///
/// let files = Files::default();
/// let mut modules = Modules::new();
/// let bytes = files.open(Path::new("/bin/true")).map(|file| &**file);
/// let bytes = bytes.map_err(|error| UnusableFile::new(b"/bin/true", error));
/// let program = modules.add(b"/bin/true".to_vec(), bytes);
/// modules.map(vec![Mapping { start: 0x5000_1000, end: 0x5000_4000, executable: true, file: Some((program, 0x1000)) }]);
/// println!("{:?}", modules.statement(Witness::Cfi, 0x5000_1234));
/// ```
#[derive(Default)]
pub struct Modules<'s> {
    modules: Vec<Module<'s>>,
    /// By address, without overlaps.
    mappings: Vec<Mapping>,
    debug: Option<DebugFiles<'s>>,
}

impl<'s> Modules<'s> {
    /// No files and no mappings.
    #[must_use]
    pub fn new() -> Modules<'s> {
        Modules::default()
    }

    /// Reads also the separate debug files of the files that are [added with their path](Modules::add_at): by build-id
    /// below `folders`, by the name in `.gnu_debuglink`, and then by build-id from `servers`. They have symbols and CFI. `files`
    /// keeps their bytes.
    pub fn search_debug_files(
        &mut self,
        files: &'s Files,
        folders: Vec<PathBuf>,
        servers: Option<Arc<Debuginfod>>,
    ) {
        self.debug = Some(DebugFiles::new(files, folders, servers));
    }

    /// Why separate debug files are not used, of the files that were read so far.
    pub fn refused_debug_files(&self) -> impl Iterator<Item = &UnusedDebugFile> {
        self.modules.iter().filter_map(Module::refused)
    }

    /// Adds a file: its name, and its bytes or why it cannot be used.
    pub fn add(&mut self, name: Vec<u8>, bytes: Result<&'s [u8], UnusableFile>) -> FileId {
        self.push(Module::new(name, None, bytes))
    }

    /// Adds a file that was opened at `path`.
    pub fn add_at(
        &mut self,
        name: Vec<u8>,
        path: PathBuf,
        bytes: Result<&'s [u8], UnusableFile>,
    ) -> FileId {
        self.push(Module::new(name, Some(path), bytes))
    }

    fn push(&mut self, module: Module<'s>) -> FileId {
        self.modules.push(module);
        FileId(self.modules.len() - 1)
    }

    /// All files, in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = FileId> {
        (0..self.modules.len()).map(FileId)
    }

    /// Replaces all mappings. Files remain, so that those that are still mapped are not read again.
    ///
    /// Where mappings overlap, which is possible only in a damaged core dump, the one that starts first is used.
    pub fn map(&mut self, mut mappings: Vec<Mapping>) {
        mappings.sort_by_key(|mapping| mapping.start);
        let mut free = 0;
        mappings.retain_mut(|mapping| {
            mapping.file = mapping.file.map(|(file, offset)| {
                (file, offset.wrapping_add(free.max(mapping.start).wrapping_sub(mapping.start)))
            });
            mapping.start = mapping.start.max(free);
            let keep = mapping.start < mapping.end;
            if keep {
                free = mapping.end;
            }
            keep
        });
        self.mappings = mappings;
    }

    /// The mappings, by address.
    #[must_use]
    pub fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    /// The mapping that contains an address.
    #[must_use]
    pub fn mapping(&self, address: u64) -> Option<&Mapping> {
        let after = self.mappings.partition_point(|mapping| mapping.start <= address);
        let mapping = self.mappings.get(after.checked_sub(1)?)?;
        (address < mapping.end).then_some(mapping)
    }

    /// The name of a file, as it was added.
    #[must_use]
    pub fn name(&self, file: FileId) -> &[u8] {
        self.modules.get(file.0).map_or(&[], |module| module.name())
    }

    /// The bytes of a file; `None` if they cannot be read.
    #[must_use]
    pub fn bytes(&self, file: FileId) -> Option<&'s [u8]> {
        self.modules.get(file.0)?.bytes()
    }

    /// The place in a file that is mapped at a runtime address.
    ///
    /// # Errors
    /// Why there is no such place: [`Silence::Unmapped`], [`Silence::NoFile`] or [`Silence::File`].
    pub fn place(&mut self, address: u64) -> Result<Place, Silence> {
        let mapping = *self.mapping(address).ok_or(Silence::Unmapped)?;
        let (file, offset) = mapping.file.ok_or(Silence::NoFile)?;
        let module = self.modules.get_mut(file.0).ok_or(Silence::NoFile)?;
        module.read(self.debug.as_ref())?;
        let bias = module.bias(&mapping, offset)?;
        Ok(Place { file, address: address.wrapping_sub(bias), bias })
    }

    /// The statement of a witness about a runtime address, in runtime addresses, with everything that a stack walk needs.
    ///
    /// The address is looked up as it is. For a return address, the row of the call is one byte before it.
    pub fn whole_statement(&mut self, witness: Witness, address: u64) -> Statement {
        let mut statement = self.statement(witness, address);
        if let (Witness::Cfi, Ok(row), Ok(place)) = (witness, &statement.row, self.place(address))
            && let Some(module) = self.modules.get_mut(place.file.0)
        {
            statement.further = module.further_rules(place.address, &row.frame);
        }
        statement
    }

    /// The statement without its further rules, which take more time to look up.
    pub fn statement(&mut self, witness: Witness, address: u64) -> Statement {
        if self.mapping(address).is_some_and(|mapping| !mapping.executable) {
            return Statement::nothing(Silence::NotExecutable);
        }
        let place = match self.place(address) {
            Ok(place) => place,
            Err(silence) => return Statement::nothing(silence),
        };
        let Some(module) = self.modules.get_mut(place.file.0) else {
            return Statement::nothing(Silence::NoFile);
        };
        module.statement(witness, place.address).moved(place.bias)
    }

    /// The symbol that covers a runtime address, or the nearest one before it without a size.
    pub fn symbol(&mut self, address: u64) -> Option<Symbolic<'s>> {
        let place = self.place(address).ok()?;
        self.modules.get_mut(place.file.0)?.symbol(place.address)
    }

    /// Whether a function symbol starts at a runtime address.
    pub fn starts_function(&mut self, address: u64) -> bool {
        let Ok(place) = self.place(address) else { return false };
        let module = self.modules.get_mut(place.file.0);
        module.is_some_and(|module| module.starts_function(place.address))
    }
}

#[cfg(test)]
mod tests;
