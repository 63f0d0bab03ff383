//! Files that are either complete or absent: written under a temporary name, synced and renamed, then the folder is
//! synced.
//!
//! A temporary file is locked by its writer, and the system releases the lock when the process ends. So files of dead
//! writers can be distinguished from those of live ones, also across machines if the file system shares locks. A live
//! writer whose file is removed nevertheless fails when it renames the file, without doing harm.

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use tempfile::{NamedTempFile, TempPath};

use crate::error::{Error, Result};
use crate::layout::LINK;

/// The prefix and suffix of temporary names. No result has such a name.
const PREFIX: &str = ".writing-";
const SUFFIX: &str = ".tmp";
/// How often to create a temporary file again if a sweep removes it in the moment between its creation and its locking.
const TRIES: u32 = 10;

/// A file being written. Dropping it removes the file.
#[derive(Debug)]
pub(crate) struct Draft {
    // Declared before the lock, so that the file is removed while it is still locked.
    temporary: TempPath,
    file: BufWriter<Locked>,
}

/// A file that is locked until it is closed.
#[derive(Debug)]
struct Locked(Flock<File>);

impl Write for Locked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Draft {
    /// Creates a temporary file in `folder`.
    pub(crate) fn new(folder: &Path) -> Result<Draft> {
        for _ in 0..TRIES {
            let made = tempfile::Builder::new()
                .prefix(PREFIX)
                .suffix(SUFFIX)
                // Like any other new file; the umask still applies.
                .permissions(fs::Permissions::from_mode(0o666))
                .tempfile_in(folder)
                .map_err(|error| Error::io("write a file in", folder)(without_path(&error)))?;
            if let Some(draft) = Draft::lock(made)? {
                return Ok(draft);
            }
        }
        Err(Error::Busy { path: folder.to_owned() })
    }

    /// `None` if a sweep has removed the file before it was locked.
    fn lock(made: NamedTempFile) -> Result<Option<Draft>> {
        let (file, temporary) = made.into_parts();
        let io = |source| Error::Io { action: "lock", path: temporary.to_path_buf(), source };
        let file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(file) => file,
            Err((_, Errno::EWOULDBLOCK)) => return Ok(None),
            Err((_, errno)) => return Err(io(errno.into())),
        };
        if file.metadata().map_err(io)?.nlink() == 0 {
            return Ok(None);
        }
        Ok(Some(Draft { temporary, file: BufWriter::new(Locked(file)) }))
    }

    /// The metadata of the temporary file.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        self.file.get_ref().0.metadata()
    }

    /// Renames the file to `name`. If `name` exists, removes the file and returns `false`.
    pub(crate) fn publish(mut self, name: &Path) -> Result<bool> {
        self.sync()?;
        match self.temporary.persist_noclobber(name) {
            Ok(()) => sync_folder_of(name).map(|()| true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(Error::io("write", name)(error.error)),
        }
    }

    /// Renames the file to `name`, replacing an existing one.
    pub(crate) fn replace(mut self, name: &Path) -> Result<()> {
        self.sync()?;
        self.temporary.persist(name).map_err(|error| Error::io("write", name)(error.error))?;
        sync_folder_of(name)
    }

    fn sync(&mut self) -> Result<()> {
        let synced = self.file.flush().and_then(|()| self.file.get_ref().0.sync_all());
        synced.map_err(Error::io("write", &self.temporary))
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Creates a folder and its parents durably.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
    sync_folder_of(folder)
}

/// Syncs the folder that contains `name`.
fn sync_folder_of(name: &Path) -> Result<()> {
    match name.parent() {
        Some(folder) if folder != Path::new("") => sync_folder(folder),
        _ => sync_folder(Path::new(".")),
    }
}

/// Syncs a folder, so that the names in it survive a power failure.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|open| open.sync_all()).map_err(Error::io("sync", folder))
}

/// Creates a temporary folder in `folder` and locks it. Dropping it removes it with its contents; the lock shows
/// sweeping processes that its writer is alive.
#[cfg(feature = "tables")]
pub(crate) fn draft_folder(folder: &Path) -> Result<(tempfile::TempDir, Flock<File>)> {
    for _ in 0..TRIES {
        let made = tempfile::Builder::new()
            .prefix(PREFIX)
            .suffix(SUFFIX)
            .permissions(fs::Permissions::from_mode(0o777))
            .tempdir_in(folder)
            .map_err(|error| Error::io("make a folder in", folder)(without_path(&error)))?;
        // A sweep may remove the folder before it is locked.
        match lock_folder(made.path()) {
            Ok(Some(lock)) if made.path().exists() => return Ok((made, lock)),
            Err(error) if made.path().exists() => return Err(error),
            _ => {}
        }
    }
    Err(Error::Busy { path: folder.to_owned() })
}

/// The system's error without the random name that `tempfile` appends to its message. The wrapper of `tempfile` does not
/// give access to the wrapped error: its `source` is the source of that error.
fn without_path(error: &io::Error) -> io::Error {
    let message = error.to_string();
    io::Error::new(error.kind(), message.split(" at path ").next().unwrap_or_default().to_owned())
}

/// Syncs a folder and all folders in it; files are synced as they are written.
#[cfg(feature = "tables")]
pub(crate) fn sync_tree(folder: &Path) -> Result<()> {
    for path in names_in(folder)?.iter().filter(|path| path.is_dir()) {
        sync_tree(path)?;
    }
    sync_folder(folder)
}

/// Opens for reading without blocking, so that a named pipe does not wait for its writer.
fn open_at_once(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)
}

/// Opens a regular file for reading.
///
/// # Errors
/// The system's error; [`io::ErrorKind::InvalidInput`] if it is not a regular file.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let file = open_at_once(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

/// Opens a regular file of the store at `folder` for reading; `name` is its path relative to the store.
///
/// # Errors
/// The system's error; [`io::ErrorKind::NotFound`] also if one of the folders between is a link, and
/// [`io::ErrorKind::InvalidInput`] if the file is a link, or not a regular file.
pub(crate) fn open_own(folder: &Path, name: &str) -> io::Result<File> {
    let path = folder.join(name);
    let folders = Path::new(name).ancestors().skip(1).filter(|name| *name != Path::new(""));
    for between in folders {
        if is_link(&folder.join(between)) {
            return Err(io::ErrorKind::NotFound.into());
        }
    }
    if is_link(&path) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, LINK));
    }
    open_file(&path)
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink())
}

/// Locks a folder; `None` if it is locked already. Dropping the result unlocks it.
pub(crate) fn lock_folder(folder: &Path) -> Result<Option<Flock<File>>> {
    let open = File::open(folder).map_err(Error::io("open", folder))?;
    match Flock::lock(open, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, errno)) => Err(Error::io("lock", folder)(errno.into())),
    }
}

/// Locks a folder, waiting for other locks: they are held only briefly.
pub(crate) fn wait_for_folder(folder: &Path) -> Result<Flock<File>> {
    let open = File::open(folder).map_err(Error::io("open", folder))?;
    Flock::lock(open, FlockArg::LockExclusive)
        .map_err(|(_, errno)| Error::io("lock", folder)(errno.into()))
}

/// Removes the files of dead writers in a folder. Files that cannot be locked belong to live writers; files that
/// disappear meanwhile have been renamed.
pub(crate) fn sweep(folder: &Path) -> Result<()> {
    for path in names_in(folder)? {
        if !is_temporary(&path) {
            continue;
        }
        // The lock is held until the file is removed: a writer that has created the file but not locked it yet must
        // find it locked or gone, never lock it just before it disappears.
        let Some(_lock) = lock_abandoned(&path) else { continue };
        let removed =
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io("remove", &path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Locks a file whose writer is dead; `None` if it does not exist or is locked.
pub(crate) fn lock_abandoned(path: &Path) -> Option<Flock<File>> {
    Flock::lock(open_at_once(path).ok()?, FlockArg::LockExclusiveNonblock).ok()
}

/// Whether a name is that of a temporary file.
pub(crate) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let random = name.and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
    random.is_some_and(|name| {
        name.len() == 6 && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// The paths of the entries of a folder, in byte order; empty if the folder does not exist.
pub(crate) fn names_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", folder)(error)),
    };
    let paths: io::Result<Vec<PathBuf>> =
        entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = paths.map_err(Error::io("read", folder))?;
    paths.sort();
    Ok(paths)
}
