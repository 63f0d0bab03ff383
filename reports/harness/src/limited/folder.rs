//! The private folder of a program: its size, and its removal.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

/// The minimum number of bytes counted for an entry: even an empty file takes an inode and an entry in its folder.
const ENTRY: u64 = 4096;
/// The maximum size in bytes of a file that is read. A program may leave one that is large, but takes no space.
const LARGEST: u64 = 256 << 20;

/// A folder for one program, removed with all its contents when this value is dropped.
///
/// Removal works for any depth of nesting, any permissions and any names.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Creates a folder in the system's temporary folder.
    ///
    /// # Errors
    /// Returns an error if it cannot be created.
    pub fn new() -> io::Result<Folder> {
        let folder = tempfile::Builder::new().prefix("sframe-check-").tempdir()?;
        let folder = Folder(folder.keep());
        fs::create_dir(folder.work())?;
        Ok(folder)
    }

    /// The folder at `path`, which another process has created.
    pub(super) fn at(path: &Path) -> Folder {
        Folder(path.to_owned())
    }

    /// The path of the folder. The caller may put files here before the program runs.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The subfolder that is the program's current folder and the location of its temporary files; empty at first.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    /// Reads a file that the program has left in its [work folder](Folder::work).
    ///
    /// # Errors
    /// Returns the system's error, or an error if it is a link, not a regular file, or larger than 256 MiB.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let flags = OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW | OFlag::O_NOCTTY;
        let path = self.work().join(name);
        let file = File::options().read(true).custom_flags(flags.bits()).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes)?;
        match bytes.len() as u64 > LARGEST {
            true => Err(io::Error::other(format!("it has more than {LARGEST} bytes"))),
            false => Ok(bytes),
        }
    }

    /// The size on disk in bytes. Counting stops once it exceeds `limit`.
    pub(super) fn size(&self, limit: u64) -> u64 {
        let (mut sum, mut left) = (0_u64, vec![self.0.clone()]);
        while let Some(folder) = left.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let Ok(metadata) = entry.metadata() else { continue };
                // stat(2): blocks of 512 bytes. Links are not followed.
                sum = sum.saturating_add(metadata.blocks().saturating_mul(512).max(ENTRY));
                if sum > limit {
                    return sum;
                }
                if metadata.is_dir() {
                    left.push(entry.path());
                }
            }
        }
        sum
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // An error cannot be handled here.
        let _ = remove(&self.0);
    }
}

/// Removes a folder with any depth of nesting and any permissions. Inner folders are moved up first, so that no path
/// becomes too long and no recursion is needed.
fn remove(folder: &Path) -> io::Result<()> {
    allow(folder)?;
    let mut moved = 0;
    loop {
        let inner = remove_files(folder)?;
        if inner.is_empty() {
            return fs::remove_dir(folder);
        }
        for inner in inner {
            allow(&inner)?;
            for innermost in remove_files(&inner)? {
                // Moving a folder writes to the folder, because it contains a reference to its parent.
                allow(&innermost)?;
                move_to(&innermost, folder, &mut moved)?;
            }
            fs::remove_dir(inner)?;
        }
    }
}

/// Removes the files in a folder, and returns the folders in it.
fn remove_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => folders.push(entry.path()),
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(folders)
}

/// Moves a folder into another one, which may already contain entries with any names.
fn move_to(inner: &Path, folder: &Path, moved: &mut u64) -> io::Result<()> {
    loop {
        *moved += 1;
        match fs::rename(inner, folder.join(format!("moved-{moved}"))) {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory
                ) => {}
            result => return result,
        }
    }
}

fn allow(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))
}
