//! Files that replace others once they are complete.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sframe_input::plain_error;
use tempfile::{Builder, NamedTempFile};

/// A file that is written beside its place, and takes it once it is complete.
#[derive(Debug)]
pub(super) struct OutputFile {
    temporary: NamedTempFile,
    path: PathBuf,
}

impl OutputFile {
    /// Starts the file at `path`. Returns it with what is written to.
    ///
    /// # Errors
    /// Returns an error with the path if its folder cannot be written to.
    pub(super) fn create(path: &Path) -> io::Result<(OutputFile, BufWriter<File>)> {
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let named = |error: io::Error| {
            io::Error::other(format!("{}: {}", path.display(), plain_error(&error)))
        };
        // As other programs create files; the umask applies.
        let mut builder = Builder::new();
        builder.prefix(".sframe-check").permissions(Permissions::from_mode(0o666));
        let temporary = builder.tempfile_in(folder).map_err(named)?;
        let out = temporary.reopen().map_err(named)?;
        Ok((OutputFile { temporary, path: path.to_owned() }, BufWriter::new(out)))
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// Returns an error with the path if that fails.
    pub(super) fn finish(self) -> io::Result<()> {
        let OutputFile { temporary, path } = self;
        let name = path.display().to_string();
        let named = |error: io::Error| io::Error::other(format!("{name}: {}", plain_error(&error)));
        temporary.persist(&path).map(drop).map_err(|error| named(error.error))
    }
}
