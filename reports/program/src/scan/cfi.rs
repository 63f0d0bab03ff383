//! Reads the CFI of a file and of its separate debug file, or the file's ORC tables.

use std::path::{Path, PathBuf};

use sframe_oracle::cfi::{Cfi, CfiSource};
use sframe_oracle::orc::{Orc, OrcFunctions};
use sframe_validator::elf::Elf;
use sframe_validator::finding::Undecided;

use super::options::{Against, CheckOptions};
use sframe_input::DebugFile;

/// What was found besides the tables.
pub(crate) struct Found<'d> {
    /// The path of the separate debug file, or its package and name.
    pub(crate) path: Option<PathBuf>,
    pub(crate) elf: Option<&'d Elf<'d>>,
    /// What cannot be read, and why.
    pub(crate) undecided: Vec<Undecided>,
}

/// Reads the CFI of `elf` and of its debug file, and hands it to `look`, or else the reason why it cannot be read. If ORC is
/// wanted, or a kernel or module has no CFI, its ORC tables take the place of CFI.
pub(crate) fn with_cfi<T>(
    path: &Path,
    elf: &Elf<'_>,
    options: &CheckOptions,
    look: impl FnOnce(Result<&[Cfi<'_>], &str>, Found<'_>) -> T,
) -> T {
    let mut undecided = Vec::new();
    let debug_file = debug_file(path, elf, options).unwrap_or_else(|reason| {
        undecided.push(Undecided { section: None, reason });
        None
    });
    let debug_elf = debug_file.as_ref().and_then(|file| Elf::parse(&file.data).ok());
    let sources: Vec<CfiSource<'_, '_>> =
        [Some(elf), debug_elf.as_ref()].into_iter().flatten().map(CfiSource::of).collect();
    let mut tables = load(&sources);
    let orc = match options.against {
        Against::Orc => orc_functions(elf, &mut undecided),
        Against::Any if tables.as_deref().is_ok_and(|cfi| !has_cfi(cfi)) => {
            orc_functions(elf, &mut undecided).or_else(|reason| {
                undecided.push(Undecided { section: None, reason });
                Ok(None)
            })
        }
        _ => Ok(None),
    };
    match &orc {
        Ok(Some(functions)) => tables = Ok(vec![functions.cfi()]),
        Ok(None) if options.against == Against::Orc => tables = Ok(Vec::new()),
        Ok(None) => {}
        Err(reason) => tables = Err(reason.clone()),
    }
    let path = debug_file.as_ref().map(|file| file.path.clone());
    look(
        tables.as_deref().map_err(String::as_str),
        Found { path, elf: debug_elf.as_ref(), undecided },
    )
}

/// Whether there is any CFI. Unreadable CFI is not absent: it has defects to report.
pub(super) fn has_cfi(cfi: &[Cfi<'_>]) -> bool {
    cfi.iter().any(|cfi| !cfi.is_empty() || !cfi.defects().is_empty())
}

fn load<'c>(sources: &'c [CfiSource<'_, '_>]) -> Result<Vec<Cfi<'c>>, String> {
    let loaded: Result<Vec<_>, _> = sources.iter().map(CfiSource::load_all).collect();
    Ok(loaded.map_err(|error| error.to_string())?.into_iter().flatten().collect())
}

/// The functions of a file's ORC tables; `None` if it has none. Entries that cannot be read are `undecided`.
fn orc_functions(
    elf: &Elf<'_>,
    undecided: &mut Vec<Undecided>,
) -> Result<Option<OrcFunctions>, String> {
    let Some(orc) = Orc::load(elf).map_err(|error| error.to_string())? else { return Ok(None) };
    if let Some(first) = orc.defects().first() {
        let reason = match orc.defects().len() {
            1 => first.to_string(),
            many => format!("{first}, and {} more entries that cannot be read", many - 1),
        };
        undecided.push(Undecided { section: None, reason });
    }
    OrcFunctions::of(elf, &orc).map(Some).map_err(|error| error.to_string())
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
