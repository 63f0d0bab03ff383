//! Reads, checks and writes SFrame, the compact stack-trace section (`.sframe`) of ELF files.
//!
//! There are three layers, and each can be used without the later ones. No feature is on by default:
//!
//! 1. [`Section`] reads the bytes of a section of any version (1, 2, 3), machine and byte order. It borrows, allocates
//!    nothing, never panics, and yields functions and rows in the vocabulary of [`unwind`]. It needs neither the
//!    standard library nor an allocator.
//! 2. `elf` finds the sections of a file and applies their relocations (feature `elf`). `rules` is the catalogue of
//!    rules for a section and the file around it, and `check` applies them to a file or to the bytes of a section
//!    (feature `rules`).
//! 3. `write` writes sections (feature `alloc`) and ELF files around them (feature `write-elf`), both valid and
//!    deliberately invalid ones.
//!
//! ```
//! use sframe_validator::{Placement, Section};
//!
//! // One AMD64 function of 16 bytes at 0x1000: CFA = SP + 8 throughout (version 2, 50 bytes).
//! let bytes: &[u8] = &[
//!     0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0, // preamble, ABI, fixed offsets, auxiliary header length
//!     1, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, // 1 function, 1 row, 3 bytes of rows
//!     0, 0, 0, 0, 20, 0, 0, 0, // functions at 0, rows at 20 after the header
//!     0, 0x10, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, // the function
//!     0, 0x03, 8, // the row: at +0, one 1-byte word, base SP
//! ];
//! let section = Section::parse(bytes, Placement::at(0))?;
//! let (function, row) = section.find(0x1004)?.expect("the function covers it");
//! assert_eq!(function.size(), 16);
//! assert_eq!(row.frame.to_string(), "CFA=r7+8 RA=*(CFA-8) FP=unchanged");
//! # Ok::<(), sframe_validator::Error>(())
//! ```

#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod abi;
#[cfg(feature = "rules")]
pub mod check;
#[cfg(feature = "elf")]
pub mod elf;
#[cfg(feature = "rules")]
pub mod finding;
#[cfg(feature = "rules")]
pub mod page;
#[cfg(feature = "rules")]
pub mod rules;
pub mod section;
#[cfg(feature = "rules")]
mod subject;
pub mod text;
pub mod unwind;
#[cfg(feature = "alloc")]
pub mod write;

pub use abi::{Abi, Endian};
pub use section::{Error, ErrorKind, Placement, Section, Version};
