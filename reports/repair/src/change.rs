//! What a repair changes, and what it cannot keep.

use std::fmt;

use sframe_synthesis::CannotInsert;
use sframe_validator::unwind::CodeAddress;

/// A change to the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Sections that were appended to each other are one section.
    Merged {
        /// How many there were.
        sections: usize,
    },
    /// Start fields counted from themselves, although the header said that they count from the section.
    StartsAdjusted {
        /// The number of functions.
        functions: usize,
    },
    /// The functions are ordered by address.
    Sorted {
        /// The number of functions.
        functions: usize,
    },
    /// The functions of an object are marked as unsorted: a linker has yet to place them.
    MarkedUnsorted,
    /// A function that was described twice in the same way is described once.
    DuplicateRemoved {
        /// Where the function starts.
        start: CodeAddress,
    },
    /// A function without bytes, which hid another one with the same start, is removed.
    EmptyFunctionRemoved {
        /// Where both functions start.
        start: CodeAddress,
    },
    /// Functions that cannot be kept are removed; see [`Loss`].
    FunctionsRemoved {
        /// How many functions.
        functions: usize,
    },
    /// Rows that repeat the row before them, or that no PC reaches, are removed.
    RowsRemoved {
        /// How many rows.
        rows: usize,
    },
    /// Bytes that belong to no function or row are removed.
    UnusedBytesRemoved {
        /// How many bytes.
        bytes: u64,
    },
    /// Relocations apply to the start fields of their functions again.
    RelocationsMoved {
        /// How many relocations.
        relocations: usize,
    },
    /// Relocations that belong to no function are removed.
    RelocationsRemoved {
        /// How many relocations.
        relocations: usize,
    },
    /// PT_GNU_SFRAME has the size of the section.
    SegmentResized {
        /// Its size in the file before.
        from: u64,
        /// Its size now.
        to: u64,
    },
    /// The linked file, which had no PT_GNU_SFRAME, has one. The program headers are in a new segment.
    SegmentAdded,
    /// PT_GNU_SFRAME, which led to an empty section, is an unused program header (PT_NULL).
    SegmentRemoved {
        /// Its size in the file before.
        from: u64,
    },
}

/// What the repaired file does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// A function was described whose start is not in code. The linker probably dropped its code.
    OutsideCode {
        /// The start that the section gave it.
        start: CodeAddress,
        /// Its size in bytes.
        size: u32,
    },
    /// A function of an object had no relocation, or one that `ld -r` discarded, so that nothing says where it is.
    NoRelocation {
        /// The section offset of its entry in the input file.
        offset: u64,
        /// Its size in bytes.
        size: u32,
    },
    /// The content of an auxiliary header. No version defines one.
    AuxiliaryHeader {
        /// How many bytes.
        bytes: usize,
    },
    /// The linked file has no PT_GNU_SFRAME and does not get one, so readers of program headers do not find the section.
    NoSegment(CannotInsert),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Merged { sections } => write!(f, "merged {sections} sections into one"),
            Change::StartsAdjusted { functions } => {
                write!(f, "adjusted the start addresses of {}", Counted(functions, "function"))
            }
            Change::Sorted { functions } => {
                write!(f, "sorted {} by address", Counted(functions, "function"))
            }
            Change::MarkedUnsorted => f.write_str("cleared the flag for sorted functions"),
            Change::DuplicateRemoved { start } => {
                write!(f, "removed the second of two equal functions at {}", At(*start))
            }
            Change::EmptyFunctionRemoved { start } => {
                write!(
                    f,
                    "removed a function without bytes at {}, where another starts",
                    At(*start)
                )
            }
            Change::FunctionsRemoved { functions } => {
                write!(f, "removed {} that cannot be kept", Counted(functions, "function"))
            }
            Change::RowsRemoved { rows } => write!(f, "removed {}", Counted(rows, "redundant row")),
            Change::UnusedBytesRemoved { bytes } => {
                write!(f, "removed {}", Counted(bytes, "unused byte"))
            }
            Change::RelocationsMoved { relocations } => {
                write!(f, "moved {}", Counted(relocations, "relocation"))
            }
            Change::RelocationsRemoved { relocations } => {
                write!(f, "removed {} of no function", Counted(relocations, "relocation"))
            }
            Change::SegmentResized { from, to } => {
                write!(f, "changed the size of PT_GNU_SFRAME from {from:#x} to {to:#x}")
            }
            Change::SegmentAdded => f.write_str(
                "added PT_GNU_SFRAME; the program headers are in a new segment at the end",
            ),
            Change::SegmentRemoved { from } => {
                write!(f, "removed PT_GNU_SFRAME, which gave an empty section {from:#x} bytes")
            }
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::OutsideCode { start, size } => {
                write!(f, "a function of {size:#x} bytes at {}, where there is no code", At(*start))
            }
            Loss::NoRelocation { offset, size } => write!(
                f,
                "the function of {size:#x} bytes whose entry was at section offset {offset:#x}: no \
                 relocation says where it is"
            ),
            Loss::AuxiliaryHeader { bytes } => {
                write!(f, "{} of auxiliary header", Counted(bytes, "byte"))
            }
            Loss::NoSegment(reason) => write!(
                f,
                "kernels and C libraries do not find the section: the file has no PT_GNU_SFRAME program header, and \
                 cannot get one: {reason}; link with GNU ld or mold"
            ),
        }
    }
}

/// A place in code, for people.
pub(crate) struct At(pub(crate) CodeAddress);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.section {
            0 => write!(f, "{:#x}", self.0.address),
            section => write!(f, "{:#x} of section {section}", self.0.address),
        }
    }
}

/// A number of things, for people.
pub(crate) struct Counted<N>(pub(crate) N, pub(crate) &'static str);

impl<N: fmt::Display> fmt::Display for Counted<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0.to_string();
        let plural = if number == "1" { "" } else { "s" };
        write!(f, "{number} {}{plural}", self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::Change;

    #[test]
    fn changes_are_counted() {
        assert_eq!(Change::RowsRemoved { rows: 1 }.to_string(), "removed 1 redundant row");
        assert_eq!(Change::RowsRemoved { rows: 2 }.to_string(), "removed 2 redundant rows");
    }
}
