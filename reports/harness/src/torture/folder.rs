//! The folder that a reader has for one case: what is in it, and that nothing of it stays.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What an entry takes at least, in bytes: a file without contents takes an inode and a place in a folder.
const ENTRY: u64 = 4096;

/// A folder that is removed with all that is in it.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// An empty folder below the system's one for temporary files.
    pub(super) fn new() -> io::Result<Folder> {
        let folder = tempfile::Builder::new().prefix("sframe-check-").tempdir()?;
        let folder = Folder(folder.keep());
        fs::create_dir(folder.work())?;
        Ok(folder)
    }

    /// The folder of that name, which another process has made.
    pub(super) fn at(path: &Path) -> Folder {
        Folder(path.to_owned())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Where the reader works, and has its temporary files.
    pub(super) fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    /// Bytes on disk, as far as they are counted: no further than a file beyond `limit`.
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
        // Nobody can do more about it.
        let _ = remove(&self.0);
    }
}

/// Removes a folder, however deep it is, whatever its permissions are: folders in folders are moved up, so that no path
/// gets long, and no call goes deep.
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
                // A folder that is moved is written to, for it names its parent.
                allow(&innermost)?;
                move_to(&innermost, folder, &mut moved)?;
            }
            fs::remove_dir(inner)?;
        }
    }
}

/// Removes the files in a folder; the folders in it are left.
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

/// Moves a folder to one that may have an entry of every name.
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
