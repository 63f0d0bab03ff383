//! What is found at a path: a file, an image, something special, or nothing that can be read.

use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;

/// Something that was named, or found in a folder that was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A regular file.
    File(PathBuf),
    /// A folder that is a container image (OCI Image Layout).
    Image(PathBuf),
    /// Something that holds no bytes of its own, by path and kind.
    Special(PathBuf, Special),
    /// A path that leads nowhere, and why.
    Unreadable(PathBuf, String),
}

impl Input {
    /// Bytes of memory that it takes.
    #[must_use]
    pub fn held(&self) -> usize {
        let (Input::File(path)
        | Input::Image(path)
        | Input::Special(path, _)
        | Input::Unreadable(path, _)) = self;
        size_of::<Input>() + path.as_os_str().len()
    }
}

/// What is not a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Special {
    /// A symbolic link to what is checked under its own or another name.
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
    /// A file that the kernel makes up as it is read, as most of `/proc`.
    Kernel,
}

impl Special {
    /// The words used for several of them.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Special::Link => "symbolic links to files seen elsewhere",
            Special::DanglingLink => "symbolic links to nothing",
            Special::LinkOut => "symbolic links out of the folder (--follow-links)",
            Special::StoredLink => "links in packages",
            Special::Fifo => "named pipes",
            Special::Socket => "sockets",
            Special::Device => "devices",
            Special::Kernel => "files of the kernel",
        }
    }

    /// The word for it in records and stores, which does not change.
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

    /// What a file of this kind is, if it is neither a regular file nor a folder.
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

    /// The one that has this word. Reports and stores of version 0.1.0 have the
    /// [words for people](Special::name) instead.
    #[must_use]
    pub fn of_id(id: &str) -> Option<Special> {
        Special::ALL.into_iter().find(|special| [special.id(), special.name()].contains(&id))
    }

    /// The words used for one.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Special::Link => "symbolic link to a file seen elsewhere",
            Special::DanglingLink => "symbolic link to nothing",
            Special::LinkOut => "symbolic link out of the folder (--follow-links)",
            Special::StoredLink => "link in a package",
            Special::Fifo => "named pipe",
            Special::Socket => "socket",
            Special::Device => "device",
            Special::Kernel => "file of the kernel",
        }
    }
}

/// What the system says about an error, without the number in brackets that the standard library adds.
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
