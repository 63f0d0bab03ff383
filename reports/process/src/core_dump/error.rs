//! Why core dumps, or parts of them, cannot be read.

use core::fmt;

use object::read::Error as Malformed;

/// Why a file is not a core dump that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CoreDumpError {
    /// It is not an ELF file.
    NotElf,
    /// It is not a 64-bit ELF file, or does not have the whole header.
    NotElf64,
    /// It is an ELF file of another type.
    NotCore,
    /// It is of a machine for which SFrame is not defined.
    UnknownMachine,
    /// Its headers are damaged.
    Malformed(Malformed),
}

impl fmt::Display for CoreDumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CoreDumpError::NotElf => f.write_str("not an ELF file"),
            CoreDumpError::NotElf64 => f.write_str("not a 64-bit ELF file, or only its beginning"),
            CoreDumpError::NotCore => f.write_str("not a core dump"),
            CoreDumpError::UnknownMachine => f.write_str("a core dump of an unknown machine"),
            CoreDumpError::Malformed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CoreDumpError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CoreDumpError::Malformed(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Malformed> for CoreDumpError {
    fn from(error: Malformed) -> CoreDumpError {
        CoreDumpError::Malformed(error)
    }
}

/// What is wrong with the notes of a core dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotesDefect {
    Overlap,
    Truncated,
    Malformed(Malformed),
    /// A thread's registers are incomplete.
    Registers,
    /// The list of files is incomplete.
    Files,
    /// There are two lists of files.
    TwoLists,
}

impl fmt::Display for NotesDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the notes are damaged: ")?;
        match self {
            NotesDefect::Overlap => f.write_str("they overlap"),
            NotesDefect::Truncated => f.write_str("they are truncated"),
            NotesDefect::Malformed(error) => error.fmt(f),
            NotesDefect::Registers => f.write_str("a thread's registers are incomplete"),
            NotesDefect::Files => f.write_str("the list of files is incomplete"),
            NotesDefect::TwoLists => f.write_str("there are two lists of files"),
        }
    }
}

impl From<Malformed> for NotesDefect {
    fn from(error: Malformed) -> NotesDefect {
        NotesDefect::Malformed(error)
    }
}

/// What is wrong with the dynamic linker's list of libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListDefect {
    /// A part of it is in memory that was not dumped.
    NotDumped,
    /// It has more entries than this limit.
    ManyEntries(usize),
    /// Its libraries have more segments than this limit.
    ManySegments(usize),
    /// A library has no name.
    NoName,
    /// Two libraries have the same name.
    Twice,
}

impl fmt::Display for ListDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the list of shared libraries ")?;
        match self {
            ListDefect::NotDumped => f.write_str("cannot be read: its memory was not dumped"),
            ListDefect::ManyEntries(most) => {
                write!(f, "is damaged: it has more than {most} entries")
            }
            ListDefect::ManySegments(most) => {
                write!(f, "is damaged: it has more than {most} segments")
            }
            ListDefect::NoName => f.write_str("is damaged: a library has no name"),
            ListDefect::Twice => f.write_str("is damaged: it names a file twice"),
        }
    }
}
