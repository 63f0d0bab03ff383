//! Reads the CFI of a file and of its separate debug file, or the file's ORC tables.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sframe_oracle::cfi::{Cfi, CfiSource};
use sframe_oracle::orc::{Orc, OrcError, OrcFunctions};
use sframe_validator::elf::Elf;
use sframe_validator::finding::{Undecided, UndecidedCause};

use super::not_comparable::TablesError;
use super::options::{Against, CheckOptions};
use sframe_input::{DebugFile, DebugFileError};

/// The CFI of a file and of its debug file, or the ORC tables that take its place. Nothing is read before the first request.
pub struct Tables<'t> {
    sources: &'t Sources<'t>,
    read: OnceLock<Result<Vec<Cfi<'t>>, TablesError>>,
}

/// What tables are read from.
struct Sources<'e> {
    elf: &'e Elf<'e>,
    against: Against,
    debug_file: Option<PathBuf>,
    debug_elf: Option<&'e Elf<'e>>,
    refused: Option<Undecided>,
    cfi: Vec<CfiSource<'e, 'e>>,
    orc: OnceLock<OrcTables>,
}

/// The functions of ORC tables, or why there are none. Entries that cannot be read are undecided.
struct OrcTables {
    functions: Result<Option<OrcFunctions>, OrcError>,
    undecided: Option<Undecided>,
}

/// Finds the CFI of `elf` and of its debug file, and hands it to `look`. If ORC is wanted, or a kernel or module has no CFI,
/// its ORC tables take the place of CFI.
pub fn with_tables<T>(
    path: &Path,
    elf: &Elf<'_>,
    options: &CheckOptions,
    look: impl FnOnce(&Tables<'_>) -> T,
) -> T {
    let (debug_file, refused) = match debug_file(path, elf, options) {
        Ok(found) => (found, None),
        Err(error) => {
            let (cause, reason) = (UndecidedCause::DebugFile, error.to_string());
            (None, Some(Undecided { section: None, cause, reason }))
        }
    };
    let debug_elf = debug_file.as_ref().and_then(|file| Elf::parse(&file.data).ok());
    let elves = [Some(elf), debug_elf.as_ref()].into_iter().flatten();
    let sources = Sources {
        elf,
        against: options.against,
        debug_file: debug_file.as_ref().map(|file| file.path.clone()),
        debug_elf: debug_elf.as_ref(),
        refused,
        cfi: elves.map(CfiSource::of).collect(),
        orc: OnceLock::new(),
    };
    look(&Tables { sources: &sources, read: OnceLock::new() })
}

impl<'t> Tables<'t> {
    /// The tables.
    ///
    /// # Errors
    /// Why they cannot be read.
    pub fn get(&self) -> Result<&[Cfi<'t>], TablesError> {
        let read = self.read.get_or_init(|| self.sources.read());
        read.as_deref().map_err(|error| *error)
    }

    /// The path of the separate debug file, or its package and name.
    pub fn debug_file(&self) -> Option<&Path> {
        self.sources.debug_file.as_deref()
    }

    /// The separate debug file.
    pub fn debug_elf(&self) -> Option<&'t Elf<'t>> {
        self.sources.debug_elf
    }

    /// What could not be read so far besides the tables, and why.
    pub fn undecided(&self) -> impl Iterator<Item = Undecided> {
        let of_orc = self.sources.orc.get().and_then(|orc| orc.undecided.clone());
        self.sources.refused.clone().into_iter().chain(of_orc)
    }
}

impl Sources<'_> {
    fn read(&self) -> Result<Vec<Cfi<'_>>, TablesError> {
        let loaded: Result<Vec<_>, _> = self.cfi.iter().map(CfiSource::load_all).collect();
        let cfi = loaded.map_err(TablesError::Cfi);
        let cfi = cfi.map(|cfi| cfi.into_iter().flatten().collect::<Vec<_>>());
        let has_none = || cfi.as_deref().is_ok_and(|cfi| !has_cfi(cfi));
        let is_orc_wanted = match self.against {
            Against::Orc => true,
            Against::Any => has_none(),
            Against::Cfi | Against::Code | Against::None => false,
        };
        if !is_orc_wanted {
            return cfi;
        }
        match &self.orc.get_or_init(|| OrcTables::of(self.elf)).functions {
            Ok(Some(functions)) => Ok(vec![functions.cfi()]),
            Ok(None) if self.against == Against::Orc => Ok(Vec::new()),
            Ok(None) => cfi,
            Err(error) => Err(TablesError::Orc(*error)),
        }
    }
}

impl OrcTables {
    fn of(elf: &Elf<'_>) -> OrcTables {
        let orc = match Orc::load(elf) {
            Ok(Some(orc)) => orc,
            Ok(None) => return OrcTables { functions: Ok(None), undecided: None },
            Err(error) => return OrcTables { functions: Err(error), undecided: None },
        };
        let undecided = doubt(&orc).map(|reason| Undecided {
            section: None,
            cause: UndecidedCause::Orc,
            reason,
        });
        OrcTables { functions: OrcFunctions::of(elf, &orc).map(Some), undecided }
    }
}

/// Why some entries of ORC tables say nothing, or all of them.
fn doubt(orc: &Orc) -> Option<String> {
    if orc.layouts().is_empty() && !orc.entries().is_empty() {
        return Some(
            "the layout of .orc_unwind is not known: newer than Linux 7.3, or damaged".into(),
        );
    }
    let first = orc.defects().first()?;
    Some(match orc.defects().len() {
        1 => first.to_string(),
        many => format!("{first}, and {} more entries that cannot be read", many - 1),
    })
}

/// Whether there is any CFI. Unreadable CFI is not absent: it has defects to report.
pub(super) fn has_cfi(cfi: &[Cfi<'_>]) -> bool {
    cfi.iter().any(|cfi| !cfi.is_empty() || !cfi.defects().is_empty())
}

/// The separate debug file of `elf`, from a folder or, if no folder contains it, from a package, or else from a server.
fn debug_file(
    path: &Path,
    elf: &Elf<'_>,
    options: &CheckOptions,
) -> Result<Option<DebugFile>, DebugFileError> {
    let CheckOptions { debug_dirs, debug_packages, debuginfod, .. } = options;
    let mut found = None;
    if !debug_dirs.is_empty() || debuginfod.is_some() {
        found = DebugFile::find(path, elf, debug_dirs)?;
    }
    if found.is_none()
        && let Some(packages) = debug_packages
    {
        found = packages.find(elf)?;
    }
    match (found, debuginfod) {
        (None, Some(servers)) => Ok(servers.find(elf)?),
        (found, _) => Ok(found),
    }
}
