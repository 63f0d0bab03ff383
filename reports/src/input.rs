//! From what the user names to bytes: paths, directories, patterns, lists, archives.

pub mod archive;
mod map;
mod section;

pub use map::FileBytes;
pub use section::{RawOptions, SectionSource, sframe_sections};
