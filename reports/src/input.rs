//! From what the user names to bytes: paths, directories, patterns, lists, archives, packages.

pub mod archive;
mod debug_file;
pub mod kind;
mod map;
#[cfg(feature = "packages")]
pub mod package;
mod section;
mod select;
mod walk;

pub use debug_file::DebugFile;
pub use map::FileBytes;
pub use section::{RawOptions, SectionSource, sframe_sections};
pub(crate) use select::plain_error;
pub use select::{Input, Selection, Special};
