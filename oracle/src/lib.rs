//! The DWARF oracle: expresses call frame information in the vocabulary of SFrame rows, so that the two can be
//! compared.
//!
//! [`cfi`] reads `.eh_frame` and `.debug_frame` of linked files and relocatable objects. A [`witness`] is a source of
//! rows: SFrame or CFI. [`compare`] sweeps over code with any two witnesses, and accounts for every byte of a file's
//! code. [`coverage`] determines from a function's own CFI why SFrame does not describe it. [`diff`] compares SFrame
//! with SFrame. [`debug_file`] finds the separate file that may contain a stripped file's CFI.
//!
//! ```
//! use sframe_oracle::cfi::{Cfi, RowContext};
//! use sframe_validator::elf::Elf;
//!
//! fn print(file: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
//!     let elf = Elf::parse(file)?;
//!     for cfi in Cfi::load_all(&elf)? {
//!         let mut context = RowContext::new(&cfi);
//!         for function in cfi.functions() {
//!             for row in function.rows(&mut context) {
//!                 let row = row?;
//!                 println!("{:#x}..{:#x} {}", row.start, row.end, row.frame);
//!             }
//!         }
//!     }
//!     Ok(())
//! }
//! # assert!(print(b"no ELF file").is_err());
//! ```

#![forbid(unsafe_code)]

pub mod account;
pub mod cfi;
pub mod code;
pub mod compare;
pub mod coverage;
pub mod debug_file;
pub mod diff;
pub mod orc;
pub mod rules;
pub mod witness;
