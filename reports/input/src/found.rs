//! What a path leads to: a file, an image, a special file, or an error.

use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::stdin::Spooled;

/// A path that the user named, or that was found in a folder that the user named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A regular file.
    File(PathBuf),
    /// A folder that is a container image (OCI Image Layout).
    Image(PathBuf),
    /// Content that has no path: what to call it, and a file.
    Content(PathBuf, Spooled),
    /// Something without content, such as a device or a skipped link: its path and kind.
    Special(PathBuf, Special),
    /// A path that cannot be read, and the reason.
    Unreadable(PathBuf, String),
}

impl Input {
    /// The path, or what content without one is called.
    #[must_use]
    pub fn path(&self) -> &Path {
        let (Input::File(path)
        | Input::Image(path)
        | Input::Content(path, _)
        | Input::Special(path, _)
        | Input::Unreadable(path, _)) = self;
        path
    }

    /// The number of bytes of memory that it takes.
    #[must_use]
    pub fn held(&self) -> usize {
        size_of::<Input>() + self.path().as_os_str().len()
    }
}

/// Anything that is not a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Special {
    /// A symbolic link to a file that is checked under another path.
    Link,
    /// A symbolic link to nothing, or to itself.
    DanglingLink,
    /// A symbolic link that leads out of the folders that were named, and is not followed.
    LinkOut,
    /// Another name of a member of a package, or a symbolic link in one.
    StoredLink,
    /// A named pipe: opening it would block.
    Fifo,
    /// A socket.
    Socket,
    /// A block or character device.
    Device,
    /// A file whose content the kernel generates when it is read, such as most of `/proc`.
    Kernel,
}

impl Special {
    /// The plural phrase for messages.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Special::Link => "symbolic links to files seen elsewhere",
            Special::DanglingLink => "symbolic links to nothing",
            Special::LinkOut => "symbolic links out of the folder",
            Special::StoredLink => "links in packages",
            Special::Fifo => "named pipes",
            Special::Socket => "sockets",
            Special::Device => "devices",
            Special::Kernel => "files of the kernel",
        }
    }

    /// The identifier in records and stores, which never changes.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Special::Link => "link",
            Special::DanglingLink => "dangling-link",
            Special::LinkOut => "link-out",
            Special::StoredLink => "stored-link",
            Special::Fifo => "fifo",
            Special::Socket => "socket",
            Special::Device => "device",
            Special::Kernel => "kernel-file",
        }
    }

    const ALL: [Special; 8] = [
        Special::Link,
        Special::DanglingLink,
        Special::LinkOut,
        Special::StoredLink,
        Special::Fifo,
        Special::Socket,
        Special::Device,
        Special::Kernel,
    ];

    /// The kind of special file; `None` for regular files and folders.
    pub(crate) fn of(kind: FileType) -> Option<Special> {
        if kind.is_file() || kind.is_dir() {
            None
        } else if kind.is_fifo() {
            Some(Special::Fifo)
        } else if kind.is_socket() {
            Some(Special::Socket)
        } else {
            Some(Special::Device)
        }
    }

    /// The kind with this identifier. Reports and stores of version 0.1.0 contain the [phrases for
    /// people](Special::name) instead, one with the name of an option.
    #[must_use]
    pub fn of_id(id: &str) -> Option<Special> {
        let id = id.trim_end_matches(" (--follow-links)");
        Special::ALL.into_iter().find(|special| [special.id(), special.name()].contains(&id))
    }

    /// The singular phrase for messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Special::Link => "symbolic link to a file seen elsewhere",
            Special::DanglingLink => "symbolic link to nothing",
            Special::LinkOut => "symbolic link out of the folder",
            Special::StoredLink => "link in a package",
            Special::Fifo => "named pipe",
            Special::Socket => "socket",
            Special::Device => "device",
            Special::Kernel => "file of the kernel",
        }
    }
}

/// The system's message for an error, without the error number that the standard library appends.
#[must_use]
pub fn plain_error(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

pub(super) fn classify(path: PathBuf, kind: FileType) -> Input {
    match Special::of(kind) {
        Some(special) => Input::Special(path, special),
        None => Input::File(path),
    }
}
