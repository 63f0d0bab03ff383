//! Why a file is not repaired.

use std::fmt;

use sframe_validator::elf::ElfError;
use sframe_validator::unwind::CodeAddress;

/// Why a file is not repaired. Nothing is changed then.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepairError {
    /// The file cannot be read.
    Elf(ElfError),
    /// The file is a 32-bit one, or is for a machine for which SFrame is not defined.
    UnsupportedFile,
    /// The file has no SFrame section.
    NoSection,
    /// The file has several SFrame sections.
    SeveralSections,
    /// Functions describe code that BOLT has replaced. The section says nothing about the new code.
    Stale {
        /// How many functions.
        functions: u64,
    },
    /// The section has no bytes in the file, and no program header leads to other bytes.
    EmptySection,
    /// The section shares bytes with another part of the file.
    SharedBytes,
    /// There is no readable header at this section offset.
    UnreadableHeader {
        /// The section offset.
        offset: u64,
    },
    /// The functions or rows after the header at this section offset cannot be read, or overlap.
    UnreadableContent {
        /// The section offset of the header.
        offset: u64,
    },
    /// After the content, there are bytes that are neither zero nor a header.
    UnknownBytes {
        /// The section offset of these bytes.
        offset: u64,
    },
    /// Sections of different versions, machines, byte orders or fixed offsets were appended to each other.
    MixedSections {
        /// The section offset of the first header that differs.
        offset: u64,
    },
    /// Nothing decides from where start fields count: the functions at this section offset have no CFI or symbols, or
    /// both readings agree with them.
    UndecidedStarts {
        /// The section offset of the header.
        offset: u64,
    },
    /// Neither reading of the start fields agrees with CFI or symbols.
    WrongStarts {
        /// The section offset of the header.
        offset: u64,
    },
    /// The relocations do not apply to start fields, and CFI and symbols do not confirm which function each belongs to.
    UndecidedRelocations,
    /// The relocations are in a form other than one table with addends.
    UnsupportedRelocations,
    /// Nothing says where any of the functions is: a stripped object, for example.
    NothingLeft,
    /// Dynamic relocations apply to the section, which must not move.
    DynamicRelocations,
    /// Two functions with the same start have different sizes or rows.
    ConflictingFunctions {
        /// Where both start.
        start: CodeAddress,
    },
    /// The merged section does not fit in the place of the old one, or an address does not fit in its field.
    NoRoom,
    /// The result breaks a rule that the input does not break.
    NewFinding {
        /// The name of the rule.
        rule: &'static str,
        /// The message of the finding.
        message: String,
    },
    /// The result agrees with CFI for fewer bytes of code than the sections that were merged.
    NewDifference {
        /// The bytes of code at which the input's sections and CFI differ.
        before: u64,
        /// The bytes of code at which the result and CFI differ.
        after: u64,
    },
}

impl std::error::Error for RepairError {}

impl From<ElfError> for RepairError {
    fn from(error: ElfError) -> RepairError {
        RepairError::Elf(error)
    }
}

impl fmt::Display for RepairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RepairError::Elf(error) => error.fmt(f),
            RepairError::UnsupportedFile => {
                f.write_str("the file is not a 64-bit ELF file for a machine that SFrame supports")
            }
            RepairError::NoSection => f.write_str("the file has no SFrame section"),
            RepairError::SeveralSections => f.write_str("the file has several SFrame sections"),
            RepairError::Stale { functions: 1 } => {
                f.write_str("a function describes code that BOLT has replaced")
            }
            RepairError::Stale { functions } => {
                write!(f, "{functions} functions describe code that BOLT has replaced")
            }
            RepairError::EmptySection => f.write_str("the SFrame section has no bytes"),
            RepairError::SharedBytes => {
                f.write_str("the SFrame section shares bytes with another part of the file")
            }
            RepairError::UnreadableHeader { offset } => {
                write!(f, "there is no readable header at section offset {offset:#x}")
            }
            RepairError::UnreadableContent { offset } => write!(
                f,
                "functions or rows after the header at section offset {offset:#x} overlap, or \
                 cannot be read"
            ),
            RepairError::UnknownBytes { offset } => {
                write!(f, "the bytes at section offset {offset:#x} are neither zero nor a header")
            }
            RepairError::MixedSections { offset } => write!(
                f,
                "the header at section offset {offset:#x} has another version, machine, byte order \
                 or fixed offset than the first one"
            ),
            RepairError::UndecidedStarts { offset } => write!(
                f,
                "neither CFI nor symbols decide from where the start fields after section offset \
                 {offset:#x} count"
            ),
            RepairError::WrongStarts { offset } => write!(
                f,
                "the start fields after section offset {offset:#x} do not lead to functions that CFI \
                 or symbols know"
            ),
            RepairError::UndecidedRelocations => f.write_str(
                "CFI and symbols do not confirm which function each relocation belongs to",
            ),
            RepairError::UnsupportedRelocations => {
                f.write_str("the section's relocations are not in one table with addends")
            }
            RepairError::NothingLeft => f.write_str(
                "none of the functions can be kept: nothing says where in code they are",
            ),
            RepairError::DynamicRelocations => {
                f.write_str("dynamic relocations apply to the section, so it cannot be rewritten")
            }
            RepairError::ConflictingFunctions { start } => write!(
                f,
                "two functions at {:#x} have different sizes or rows, and nothing decides which is \
                 right",
                start.address
            ),
            RepairError::NoRoom => f.write_str("the result does not fit in the section's place"),
            RepairError::NewFinding { rule, message } => {
                write!(f, "the result breaks a rule that the file did not break: {rule}: {message}")
            }
            RepairError::NewDifference { before, after } => write!(
                f,
                "the result and CFI differ at {after} bytes of code, and the file's own sections at \
                 {before}"
            ),
        }
    }
}
