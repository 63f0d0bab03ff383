//! SFrame against CFI, for every byte of code.
//!
//! [`compare`] sweeps once over the executable bytes of a file, with the rows of both sides beside
//! each other, and gives each range of PCs one [`Verdict`]. The sums ([`Sums`]) add up to the
//! executable bytes, exactly.
//!
//! Each side is read as an unwinder reads it: where functions overlap, the one that starts last
//! is found, and nothing behind its end; of rows at one start the last one holds; a repeated block
//! holds again in each block. Empty functions and rows have no PCs and so no say.
//!
//! An entry without rows is a claim only in version 3 and FDE type DEFAULT, where it marks an
//! outermost frame (V3 1.2): every reader ends the stack there. It agrees with a CFI that says that
//! the return address is undefined, and differs from any other, also where GNU as writes it for
//! code that it cannot describe. Other entries without rows have no say.
//!
//! ```no_run
//! use sframe_oracle::cfi::Cfi;
//! use sframe_oracle::compare::{Verdict, compare};
//! use sframe_validator::elf::Elf;
//! use sframe_validator::{Placement, Section};
//!
//! let file = std::fs::read("/usr/bin/true")?;
//! let elf = Elf::parse(&file)?;
//! let mut sections = Vec::new();
//! for header in elf.sframe_sections() {
//!     let placement = Placement::at(header.address).with_abi(elf.abi());
//!     sections.push(Section::parse(elf.section_data(header)?, placement)?);
//! }
//! let cfi = Cfi::load_all(&elf)?;
//! let sums = compare(&elf, &sections, &cfi, |range| {
//!     if let Verdict::Different(fields) = range.verdict {
//!         println!("{:#x}..{:#x} {fields}", range.start, range.end);
//!     }
//! });
//! println!("{} of {} bytes agree", sums.equal, sums.total());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agreement;
mod code;
mod confirm;
mod lookup;
mod range;
pub(crate) mod reading;
pub(crate) mod sframe;
mod stream;
mod sweep;
mod unplaced;
mod verdict;

pub use confirm::CfiConfirms;
pub use range::Range;
pub use sweep::compare;
pub(crate) use sweep::{Sink, sweep};
pub use verdict::{Fields, FunctionCounts, Judgement, Side, Sums, Verdict, judge};
