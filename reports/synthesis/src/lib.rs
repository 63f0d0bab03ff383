//! SFrame sections made from the call frame information (CFI) of an ELF file, in memory.
//!
//! Two kinds of sections are made ([`Encoding`]):
//!
//! - [`Encoding::Gnu`] predicts the section that GNU as and ld of a [`Release`] write: which functions they describe,
//!   with which rows, in which form, and the entries that the linker adds for its stubs. Their mistakes are included.
//! - [`Encoding::Smallest`] has the fewest bytes that say the same at every PC.
//!
//! [`forecast`] measures a section without writing it: its bytes by part, the functions and bytes of code that it
//! describes, those that it leaves out by cause, and the sizes with which people compare it. [`synthesize`] writes it;
//! [`synthesize_code`] writes the smallest section that machine code alone justifies.
//! [`Insertion`] adds a written section to the file, which may be an object, a program or a library, and [`assembly`]
//! writes it as assembler source. [`add_segment`] adds only the program header, for a section that a linked file has.
//!
//! [`account_of`] accounts for the bytes of an existing section in the same terms. [`diagnose`] finds what such a section
//! could save without loss, [`smallest_of`] writes it with the fewest bytes, and [`what_if`] estimates the effect of
//! changes to the format.
//!
//! ```
//! use sframe_oracle::cfi::Cfi;
//! use sframe_synthesis::{Encoding, Release, forecast};
//! use sframe_validator::Version;
//! use sframe_validator::elf::Elf;
//!
//! fn print(file: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
//!     let elf = Elf::parse(file)?;
//!     let cfi = Cfi::load_all(&elf)?;
//!     for encoding in [Encoding::Gnu(Release::V2_47_50), Encoding::Smallest(Version::V3)] {
//!         let forecast = forecast(&elf, &cfi, encoding)?;
//!         let size = forecast.section.map_or(0, |section| section.size);
//!         println!("{size} bytes, and .eh_frame has {}", forecast.sizes.eh_frame);
//!         for loss in &forecast.losses {
//!             println!("{} functions lost: {}", loss.functions, loss.cause.name());
//!         }
//!     }
//!     Ok(())
//! }
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/golden/2.47.50/x86_64");
//! # print(&std::fs::read(format!("{folder}/shared.so"))?)?;
//! # assert!(print(b"no ELF file").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What the prediction assumes
//!
//! All inputs of the link were assembled with SFrame by one release, and GNU ld of the same release linked them, without
//! `--gc-sections` ([`Forecaster::with_gc_sections`] is for links with it). The section of a link whose start files come from a C library without SFrame lacks their functions. Further differences
//! that the tests have found and explain:
//!
//! - `ld -r` of 2.40 and 2.44 keeps the size of its inputs, so the section ends with zeros that are not predicted. On
//!   s390x, the assembler pads the sections of objects, and `ld -r` does not.
//! - GNU ld drops CFI of functions without bytes of code, but keeps their SFrame.
//! - `.cfi_escape` of an instruction that has a directive leaves no trace in CFI, and costs the function.
//! - GNU as crashes on some CFI, for example 2.40 and 2.44 on a `.cfi_restore` before the first instruction. Such functions
//!   count as lost.
//!
//! Rows are stored in the order of the functions' CFI. A linker stores them in the order of its inputs, so the bytes
//! are in another order.
//!
//! # What "smallest" means
//!
//! `smallest.rs` lists each saving. Row blocks are not shared between functions: the specification does not say whether
//! they can be, and no producer shares them. [`Account::shareable`] counts the bytes. A row says what CFI says as far
//! as the version can express it: version 2 has no mark for signal frames, so signal frames become ordinary functions.

#![forbid(unsafe_code)]

mod account;
mod assembly;
mod code;
mod encode;
mod forecast;
mod forecaster;
mod gnu;
mod insert;
mod labels;
mod measure;
mod model;
mod pattern;
mod patterns;
mod place;
mod size;
mod smallest;
mod source;
mod stubs;
mod synthesis;
mod tally;

pub use account::{Account, Parts, account_of};
pub use assembly::{AssemblyError, assembly};
pub use code::{FromCode, synthesize_code};
pub use forecast::{Forecast, Sizes, forecast};
pub use forecaster::Forecaster;
pub use gnu::Release;
pub use insert::{CannotInsert, Insertion, add_segment};
pub use model::{Function, Loss};
pub use place::{Place, Written};
pub use size::what_if::{Change, WhatIf, what_if};
pub use size::{Diagnosis, Saving, Waste, diagnose, smallest_of};
pub use synthesis::{Encoding, Synthesis, SynthesisError, synthesize};
