//! Finds and opens inputs: files, directories, glob patterns, lists, archives, packages, container images and
//! repositories.

#![deny(unsafe_code)]

mod ahead;
pub mod archive;
mod checksum;
mod debug_file;
mod debug_package;
mod debuginfod;
mod found;
mod identity;
pub mod kind;
pub mod list;
mod map;
mod members;
mod open;
pub mod package;
pub mod pattern;
mod read;
pub mod repository;
mod section;
mod select;
mod stdin;
mod walk;

pub use ahead::{Tally, ahead};
pub use debug_file::{DebugBytes, DebugFile, DebugFileError};
pub use debug_package::DebugPackages;
pub use debuginfod::{CacheObstacle, Debuginfod, DebuginfodError, Unfit};
pub use found::{Input, Special, plain_error};
pub use map::{FileBytes, Stamp, has_large_holes};
pub use members::{ExceededLimit, MemberCount, NAME};
pub use open::{Opened, open, open_file};
pub use pattern::Pattern;
pub use read::{open_named, read_named, read_up_to};
pub use section::{RawOptions, SectionSource};
pub use select::Selection;
pub use stdin::Spooled;
pub use walk::is_pattern;
