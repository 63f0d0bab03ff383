//! Why sections cannot be measured.

use std::error::Error;
use std::fmt;

use sframe_synthesis::SynthesisError;
use sframe_validator::elf::ElfError;
use sframe_validator::section;

/// Why a section cannot be measured.
#[derive(Clone, Debug)]
pub(super) enum Unmeasurable {
    /// It has no bytes.
    Empty,
    /// Its bytes cannot be read.
    Elf(ElfError),
    /// Its header cannot be read.
    Section(section::Error),
    /// Another section follows at this offset.
    Appended(u64),
    /// The smallest section that says the same cannot be made.
    Smallest(SynthesisError),
}

impl fmt::Display for Unmeasurable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmeasurable::Empty => {
                f.write_str("the section has no bytes, as in a separate debug file")
            }
            Unmeasurable::Elf(error) => error.fmt(f),
            Unmeasurable::Section(error) => error.fmt(f),
            Unmeasurable::Appended(offset) => write!(
                f,
                "another section follows at offset {offset:#x}: a linker has appended sections instead of merging them, which `sframe-check repair` does"
            ),
            Unmeasurable::Smallest(error) => error.fmt(f),
        }
    }
}

impl Error for Unmeasurable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Unmeasurable::Elf(error) => Some(error),
            Unmeasurable::Section(error) => Some(error),
            Unmeasurable::Smallest(error) => Some(error),
            Unmeasurable::Empty | Unmeasurable::Appended(_) => None,
        }
    }
}

impl From<section::Error> for Unmeasurable {
    fn from(error: section::Error) -> Unmeasurable {
        Unmeasurable::Section(error)
    }
}

impl From<SynthesisError> for Unmeasurable {
    fn from(error: SynthesisError) -> Unmeasurable {
        Unmeasurable::Smallest(error)
    }
}
