//! Files that replace others once they are complete.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sframe_input::kind::{HEAD, Kind};
use sframe_input::plain_error;
use sframe_record::text::printable_path;
use tempfile::{Builder, NamedTempFile};

/// The magic number of an SFrame section in both byte orders (specification, 2.1).
const SFRAME: [[u8; 2]; 2] = [[0xe2, 0xde], [0xde, 0xe2]];

/// A file that is written beside its place, and takes it once it is complete. Devices and pipes are written directly.
#[derive(Debug)]
pub(super) struct OutputFile {
    path: PathBuf,
    temporary: Option<NamedTempFile>,
}

impl OutputFile {
    /// Starts the file at `path`, or at the place to which a symbolic link there leads. Returns it with what is written to.
    ///
    /// # Errors
    /// Returns an error with the path if it is `-`, or cannot be written to.
    pub(super) fn create(path: &Path) -> io::Result<(OutputFile, BufWriter<File>)> {
        if path.as_os_str() == "-" {
            return Err(io::Error::other(
                "- is not the name of a file here: use /dev/stdout for standard output, ./- for such a file",
            ));
        }
        let started = match fs::metadata(path) {
            Ok(known) if !known.is_file() => through(path),
            Ok(_) => fs::canonicalize(path).and_then(|path| beside(&path)),
            // A link that leads nowhere makes the file where it leads.
            Err(_) if path.is_symlink() => through(path),
            Err(_) => beside(path),
        };
        let (file, out) = started.map_err(|error| named(path, &error))?;
        Ok((file, BufWriter::new(out)))
    }

    /// Starts a report at `path`. It does not replace what could be checked: that is a slip on the command line.
    ///
    /// # Errors
    /// As [`OutputFile::create`], and if there is an ELF file, an archive, a package or a section at `path`.
    pub(super) fn report(path: &Path) -> io::Result<(OutputFile, BufWriter<File>)> {
        if fs::metadata(path).is_ok_and(|known| known.is_file()) && is_input(path) {
            let path = printable_path(path);
            return Err(io::Error::other(format!(
                "{path} is an ELF file, archive, package or section, which a report does not replace"
            )));
        }
        OutputFile::create(path)
    }

    /// Gives a file these permissions.
    ///
    /// # Errors
    /// Returns an error with the path if that fails.
    pub(super) fn set_mode(&self, mode: u32) -> io::Result<()> {
        let Some(temporary) = &self.temporary else { return Ok(()) };
        let set = temporary.as_file().set_permissions(Permissions::from_mode(mode));
        set.map_err(|error| named(&self.path, &error))
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// Returns an error with the path if that fails.
    pub(super) fn finish(self) -> io::Result<()> {
        let OutputFile { path, temporary } = self;
        let Some(temporary) = temporary else { return Ok(()) };
        temporary.persist(&path).map(drop).map_err(|error| named(&path, &error.error))
    }
}

/// A new file beside `path`.
fn beside(path: &Path) -> io::Result<(OutputFile, File)> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // As other programs create files; the umask applies.
    let mut builder = Builder::new();
    builder.prefix(".sframe-check").permissions(Permissions::from_mode(0o666));
    let temporary = builder.tempfile_in(folder)?;
    let out = temporary.reopen()?;
    Ok((OutputFile { path: path.to_owned(), temporary: Some(temporary) }, out))
}

fn through(path: &Path) -> io::Result<(OutputFile, File)> {
    let out = File::create(path)?;
    Ok((OutputFile { path: path.to_owned(), temporary: None }, out))
}

fn is_input(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD as u64).read_to_end(&mut head));
    read.is_ok()
        && (SFRAME.iter().any(|magic| head.starts_with(magic))
            || matches!(Kind::of(&head), Kind::Elf | Kind::Archive | Kind::Package(_)))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::other(format!("{}: {}", printable_path(path), plain_error(error)))
}
