//! Reads the CFI of a file and of its separate debug file.

use std::path::{Path, PathBuf};

use sframe_oracle::cfi::{Cfi, CfiSource};
use sframe_validator::elf::Elf;
use sframe_validator::finding::Undecided;

use super::options::CheckOptions;
use sframe_input::DebugFile;

/// The result of looking for a separate debug file.
pub(crate) struct DebugResult<'d> {
    /// Its path, or its package and name.
    pub(crate) path: Option<PathBuf>,
    pub(crate) elf: Option<&'d Elf<'d>>,
    /// Why it cannot be used.
    pub(crate) refused: Option<Undecided>,
}

/// Reads the CFI of `elf` and of its debug file, and hands it to `look`, or else the reason why it cannot be read.
pub(crate) fn with_cfi<T>(
    path: &Path,
    elf: &Elf<'_>,
    options: &CheckOptions,
    look: impl FnOnce(Result<&[Cfi<'_>], &str>, DebugResult<'_>) -> T,
) -> T {
    let (debug_file, refused) = match debug_file(path, elf, options) {
        Ok(found) => (found, None),
        Err(reason) => (None, Some(Undecided { section: None, reason })),
    };
    let debug_elf = debug_file.as_ref().and_then(|file| Elf::parse(&file.data).ok());
    let cfi: Vec<CfiSource<'_, '_>> =
        [Some(elf), debug_elf.as_ref()].into_iter().flatten().map(CfiSource::of).collect();
    let cfi = load(&cfi);
    let path = debug_file.as_ref().map(|file| file.path.clone());
    look(
        cfi.as_deref().map_err(String::as_str),
        DebugResult { path, elf: debug_elf.as_ref(), refused },
    )
}

fn load<'c>(sources: &'c [CfiSource<'_, '_>]) -> Result<Vec<Cfi<'c>>, String> {
    let loaded: Result<Vec<_>, _> = sources.iter().map(CfiSource::load_all).collect();
    Ok(loaded.map_err(|error| error.to_string())?.into_iter().flatten().collect())
}

/// The separate debug file of `elf`, from a folder or, if no folder contains it, from a package.
fn debug_file(
    path: &Path,
    elf: &Elf<'_>,
    options: &CheckOptions,
) -> Result<Option<DebugFile>, String> {
    let found = match options.debug_dirs.as_slice() {
        [] => None,
        folders => DebugFile::find(path, elf, folders)?,
    };
    if found.is_none()
        && let Some(packages) = &options.debug_packages
    {
        return packages.find(elf);
    }
    Ok(found)
}
