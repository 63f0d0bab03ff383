//! Files that are whole or not there: written under a temporary name, synced, renamed, and the
//! folder synced.
//!
//! A temporary file is locked by whoever writes it, and the system drops the lock with the process:
//! so what a dead writer has left is told from what a live one needs, on one machine and, where the
//! file system hands locks on, on many. A live writer that loses its file all the same fails when it
//! renames, and spoils nothing.

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use tempfile::{NamedTempFile, TempPath};

use crate::error::{Error, Result};

/// How temporary names start and end. No result has such a name.
const PREFIX: &str = ".writing-";
const SUFFIX: &str = ".tmp";
/// How often a temporary file is tried anew that a sweep has taken for a dead writer's, in the
/// moment between its making and its locking.
const TRIES: u32 = 10;

/// A file in the making. Dropped, it leaves nothing.
#[derive(Debug)]
pub(crate) struct Draft {
    // Declared before the lock, so that on a drop the file goes while it is still locked.
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
    /// Starts a file in `folder`.
    pub(crate) fn new(folder: &Path) -> Result<Draft> {
        for _ in 0..TRIES {
            let made = tempfile::Builder::new()
                .prefix(PREFIX)
                .suffix(SUFFIX)
                // As any other file: the process's umask still takes away from it.
                .permissions(fs::Permissions::from_mode(0o666))
                .tempfile_in(folder)
                .map_err(Error::io("write a file in", folder))?;
            if let Some(draft) = Draft::lock(made)? {
                return Ok(draft);
            }
        }
        Err(Error::Busy { path: folder.to_owned() })
    }

    /// `None` where a sweep has been faster.
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

    /// What the system says of it.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        self.file.get_ref().0.metadata()
    }

    /// Gives it its name, unless that is taken: then it is gone, and the answer is `false`.
    pub(crate) fn publish(mut self, name: &Path) -> Result<bool> {
        self.sync()?;
        match self.temporary.persist_noclobber(name) {
            Ok(()) => sync_folder_of(name).map(|()| true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(Error::io("write", name)(error.error)),
        }
    }

    /// Gives it its name, in place of what has that name now.
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

/// Makes a folder and those above it, durably.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(Error::io("make", folder))?;
    sync_folder_of(folder)
}

/// Syncs the folder that a name stands in.
fn sync_folder_of(name: &Path) -> Result<()> {
    match name.parent() {
        Some(folder) if folder != Path::new("") => sync_folder(folder),
        _ => sync_folder(Path::new(".")),
    }
}

/// Syncs a folder: the names in it outlast a loss of power.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|open| open.sync_all()).map_err(Error::io("sync", folder))
}

/// Starts a folder in the making; dropped, it is gone with all that is in it.
pub(crate) fn draft_folder(folder: &Path) -> Result<tempfile::TempDir> {
    tempfile::Builder::new()
        .prefix(PREFIX)
        .suffix(SUFFIX)
        .permissions(fs::Permissions::from_mode(0o777))
        .tempdir_in(folder)
        .map_err(Error::io("make a folder in", folder))
}

/// Removes a folder and all that is in it, where it is there.
pub(crate) fn remove_tree(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io("remove", folder)(error))
        }
        _ => Ok(()),
    }
}

/// Syncs a folder and all folders in it; their files are synced as they are written.
pub(crate) fn sync_tree(folder: &Path) -> Result<()> {
    for path in names_in(folder)?.iter().filter(|path| path.is_dir()) {
        sync_tree(path)?;
    }
    sync_folder(folder)
}

/// Opens for reading without waiting, as opening a pipe would for its writer.
fn open_at_once(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)
}

/// Opens a regular file for reading.
///
/// # Errors
/// Those of opening, and [`io::ErrorKind::InvalidInput`] where it is no regular file.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let file = open_at_once(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"))
    }
}

/// Locks a folder against others who lock it; `None` where another does. Dropped, it is free.
pub(crate) fn lock_folder(folder: &Path) -> Result<Option<Flock<File>>> {
    let open = File::open(folder).map_err(Error::io("open", folder))?;
    match Flock::lock(open, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, errno)) => Err(Error::io("lock", folder)(errno.into())),
    }
}

/// Locks a folder, and waits for others who do: they hold it for moments.
pub(crate) fn wait_for_folder(folder: &Path) -> Result<Flock<File>> {
    let open = File::open(folder).map_err(Error::io("open", folder))?;
    Flock::lock(open, FlockArg::LockExclusive)
        .map_err(|(_, errno)| Error::io("lock", folder)(errno.into()))
}

/// Removes what dead writers have left in a folder. What cannot be locked is a live writer's, and
/// what is gone meanwhile has its name now.
pub(crate) fn sweep(folder: &Path) -> Result<()> {
    for path in names_in(folder)? {
        if is_temporary(&path) && is_abandoned(&path) {
            let removed =
                if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", &path)(error));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Whether the file is there, and nobody holds a lock on it.
pub(crate) fn is_abandoned(path: &Path) -> bool {
    open_at_once(path).is_ok_and(|open| Flock::lock(open, FlockArg::LockExclusiveNonblock).is_ok())
}

/// Whether a name is one of those that writers use until their file is whole.
pub(crate) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
}

/// The paths of what is in a folder, in the order of their bytes; nothing where there is no such
/// folder.
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
