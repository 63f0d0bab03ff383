//! The one place where input files are opened: whatever lies there, nothing waits for it.
//!
//! A named pipe waits for its other end, and opening a device may do something. So what is there is looked at first, it is
//! opened without waiting, and what was opened is looked at again, for it may have been swapped in between.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;
use nix::sys::statvfs::fstatvfs;

use crate::Special;

/// What is at a path, where that can be opened.
#[derive(Debug)]
pub enum Opened {
    /// A regular file. Where it is not on a disk, reading it fails where it would have to wait.
    File(File),
    /// A folder.
    Folder,
    /// Nothing with bytes of its own, by kind; links are followed.
    Special(Special),
}

/// Opens what is at `path`, if it is a regular file.
///
/// # Errors
/// What the system says.
pub fn open(path: &Path) -> io::Result<Opened> {
    match kind(&fs::metadata(path)?) {
        Kind::File => opened(path),
        Kind::Folder => Ok(Opened::Folder),
        Kind::Special(special) => Ok(Opened::Special(special)),
    }
}

/// The regular file at `path`.
///
/// # Errors
/// What the system says, or that there is something else.
pub fn open_file(path: &Path) -> io::Result<File> {
    let kind = match open(path)? {
        Opened::File(file) => return Ok(file),
        Opened::Folder => "folder",
        Opened::Special(special) => special.name(),
    };
    Err(io::Error::other(format!("it is not a regular file: {kind}")))
}

/// Opens without waiting what is at `path` now.
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

/// Whether a file that says it is empty is one of those that the kernel makes up as they are read: they say so too. Reading
/// them may take what another program waits for (`/proc/kmsg`), and none has a program in it. Their file systems have no
/// blocks; df leaves them out for that.
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

    /// A pipe that nobody writes to. `opened` is what is left to do where it was swapped in after the first look.
    #[test]
    fn a_named_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        mkfifo(&pipe, Mode::S_IRUSR).expect("a pipe");
        assert_eq!(special(open(&pipe)), Some(Special::Fifo));
        assert_eq!(special(opened(&pipe)), Some(Special::Fifo));
        let why = open_file(&pipe).expect_err("no file").to_string();
        assert_eq!(why, "it is not a regular file: named pipe");
    }

    #[test]
    fn what_is_no_file_is_told_apart() {
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

    /// Files of procfs say that they are empty (proc(5)). Reading /proc/kmsg waits for the kernel's next message, and
    /// takes it from who logs them.
    #[test]
    fn what_the_kernel_makes_up_is_not_read() {
        assert_eq!(special(open(Path::new("/proc/self/status"))), Some(Special::Kernel));
        // Not everybody may open it.
        if let Ok(kmsg) = open(Path::new("/proc/kmsg")) {
            assert_eq!(special(Ok(kmsg)), Some(Special::Kernel));
        }
    }
}
