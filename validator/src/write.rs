//! Writes sections and the ELF files around them, both valid and deliberately invalid ones.
//!
//! - [`StoredSection`] is a section as it is stored: header, functions and rows, in which every field can be set to any
//!   value. [`StoredSection::read`] takes bytes apart, and [`StoredSection::bytes`] puts them together again.
//! - [`SectionBuilder`] makes a stored section from functions and frames, in the narrowest encodings.
//! - `elf` writes ELF files (feature `write-elf`).
//!
//! ```
//! use sframe_validator::unwind::{Cfa, Frame, Recovery};
//! use sframe_validator::write::{FunctionBuilder, SectionBuilder};
//! use sframe_validator::{Abi, Placement, Section, Version};
//!
//! let frame = Frame {
//!     cfa: Cfa::RegisterOffset { register: Abi::Amd64.sp(), offset: 8 },
//!     ra: Recovery::AtCfa(-8),
//!     fp: Recovery::Unchanged,
//!     ra_signed: false,
//! };
//! let mut builder = SectionBuilder::new(Version::V3, Abi::Amd64);
//! builder.address(0x4000).function(FunctionBuilder::new(0x1000, 16).row(0, frame));
//! let bytes = builder.build()?.bytes;
//! let section = Section::parse(&bytes, Placement::at(0x4000))?;
//! assert_eq!(section.find(0x1008)?.expect("covered").1.frame, frame);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
#[cfg(feature = "write-elf")]
pub mod elf;
mod stored;

pub use builder::{BuildError, Built, FunctionBuilder, SectionBuilder};
pub use stored::{StoredFunction, StoredHeader, StoredRow, StoredSection};
