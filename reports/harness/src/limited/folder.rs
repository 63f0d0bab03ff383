//! The folder that a program has for itself: how much is in it, and its removal.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Bytes that an entry takes at least: an empty file takes an inode, and a place in its folder.
const ENTRY: u64 = 4096;

/// A folder for one program, which is removed with all its contents when this value is dropped.
///
/// It can be removed however deep it is, and whatever permissions and names are in it.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A new folder below the one for temporary files.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new() -> io::Result<Folder> {
        let folder = tempfile::Builder::new().prefix("sframe-check-").tempdir()?;
        let folder = Folder(folder.keep());
        fs::create_dir(folder.work())?;
        Ok(folder)
    }

    /// The folder `path`, which another process has made.
    pub(super) fn at(path: &Path) -> Folder {
        Folder(path.to_owned())
    }

    /// Its path. The caller may put files here before the program runs.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The folder in it that is the program's current folder, and the place for its temporary files; empty at first.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    /// Bytes on disk. Counting ends once there are more than `limit`.
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
        // There is nothing else to try.
        let _ = remove(&self.0);
    }
}

/// Removes a folder, however deep it is, and whatever its permissions are. Inner folders are moved up first, so that no path
/// gets too long, and no call is recursive.
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
                // Moving a folder writes to it, for it names its parent.
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

/// Moves a folder into one that may have an entry of any name.
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
