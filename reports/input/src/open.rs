//! The only module that opens input files. Opening never blocks, whatever the path leads to.
//!
//! Opening a named pipe blocks until its other end is opened, and opening a device may have side effects. Therefore the
//! type is checked first, the file is opened without blocking, and the type of the opened file is checked again,
//! because it may have been replaced in between.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;
use nix::sys::statvfs::fstatvfs;

use crate::Special;

/// The result of opening a path.
#[derive(Debug)]
pub enum Opened {
    /// A regular file. If it is not on a disk, reads that would block fail.
    File(File),
    /// A folder.
    Folder,
    /// A special file, by kind; links are followed.
    Special(Special),
}

/// Opens `path` if it leads to a regular file; otherwise returns the kind of file that it leads to.
///
/// # Errors
/// Returns the system's error.
pub fn open(path: &Path) -> io::Result<Opened> {
    match kind(&fs::metadata(path)?) {
        Kind::File => opened(path),
        Kind::Folder => Ok(Opened::Folder),
        Kind::Special(special) => Ok(Opened::Special(special)),
    }
}

/// Opens the regular file at `path`.
///
/// # Errors
/// Returns the system's error, or an error if `path` is not a regular file.
pub fn open_file(path: &Path) -> io::Result<File> {
    let kind = match open(path)? {
        Opened::File(file) => return Ok(file),
        Opened::Folder => "folder",
        Opened::Special(special) => special.name(),
    };
    Err(io::Error::other(format!("it is not a regular file: {kind}")))
}

/// Opens `path` without blocking and checks the type of the opened file.
fn opened(path: &Path) -> io::Result<Opened> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let file = File::options().read(true).custom_flags(flags.bits()).open(path)?;
    let metadata = file.metadata()?;
    Ok(match kind(&metadata) {
        Kind::File if metadata.len() == 0 && is_made_up(&file) => Opened::Special(Special::Kernel),
        Kind::File => Opened::File(file),
        Kind::Folder => Opened::Folder,
        Kind::Special(special) => Opened::Special(special),
    })
}

/// Whether an apparently empty file is one whose content the kernel generates: these report size 0. Reading them may
/// consume data that another program waits for (`/proc/kmsg`), and none contains a program. Their file systems have no
/// blocks, which is also why df does not list them.
fn is_made_up(file: &File) -> bool {
    fstatvfs(file).is_ok_and(|system| system.blocks() == 0)
}

enum Kind {
    File,
    Folder,
    Special(Special),
}

fn kind(metadata: &Metadata) -> Kind {
    match Special::of(metadata.file_type()) {
        Some(special) => Kind::Special(special),
        None if metadata.is_dir() => Kind::Folder,
        None => Kind::File,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;
    use std::os::unix::net::UnixListener;

    fn special(opened: io::Result<Opened>) -> Option<Special> {
        match opened.expect("it can be opened") {
            Opened::Special(special) => Some(special),
            Opened::File(_) | Opened::Folder => None,
        }
    }

    /// A pipe without a writer. Calling `opened` directly simulates a file that was replaced by a pipe after the first
    /// check.
    #[test]
    fn opening_a_named_pipe_does_not_block() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        mkfifo(&pipe, Mode::S_IRUSR).expect("a pipe");
        assert_eq!(special(open(&pipe)), Some(Special::Fifo));
        assert_eq!(special(opened(&pipe)), Some(Special::Fifo));
        let why = open_file(&pipe).expect_err("no file").to_string();
        assert_eq!(why, "it is not a regular file: named pipe");
    }

    #[test]
    fn special_files_are_distinguished() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("socket");
        let _listener = UnixListener::bind(&socket).expect("a socket");
        assert_eq!(special(open(&socket)), Some(Special::Socket));
        assert_eq!(special(open(Path::new("/dev/null"))), Some(Special::Device));
        assert!(matches!(open(folder.path()), Ok(Opened::Folder)));
        let empty = folder.path().join("empty");
        fs::write(&empty, "").expect("writable");
        assert!(matches!(open(&empty), Ok(Opened::File(_))));
    }

    /// Files in procfs report size 0 (proc(5)). Reading /proc/kmsg blocks until the next kernel message, and takes it
    /// away from the system logger.
    #[test]
    fn generated_files_of_the_kernel_are_not_read() {
        assert_eq!(special(open(Path::new("/proc/self/status"))), Some(Special::Kernel));
        // Opening it may need privileges.
        if let Ok(kmsg) = open(Path::new("/proc/kmsg")) {
            assert_eq!(special(Ok(kmsg)), Some(Special::Kernel));
        }
    }
}
