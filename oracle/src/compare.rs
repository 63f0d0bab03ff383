//! Sweeps over any two witnesses, and compares SFrame with CFI for every byte of code.
//!
//! [`sweep`] merges the rows of two [witnesses](crate::witness). [`compare`] sweeps over the executable bytes of a file
//! with SFrame and CFI, and assigns one [`Verdict`] to each range of PCs. The sums ([`Sums`]) add up to exactly the
//! number of executable bytes. [`look_up`] answers for single PCs.
//!
//! Each witness is read as an unwinder reads it. Where functions overlap, the one that starts last is found, and no
//! other after its end. If several rows have the same start, the last one is valid. A repeated block is valid again in
//! each block. Empty functions and rows have no PCs, so they describe nothing.
//!
//! An entry without rows makes a statement only in version 3 with FDE type DEFAULT, where it marks an outermost frame
//! (V3 1.2): every reader ends the stack there. It agrees with CFI whose return address is undefined, and differs from
//! any other CFI, even if GNU as writes it for code that it cannot describe. Other entries without rows describe
//! nothing.
//!
//! ```no_run
//! use sframe_oracle::cfi::Cfi;
//! use sframe_oracle::compare::{Verdict, compare};
//! use sframe_validator::Section;
//! use sframe_validator::elf::Elf;
//!
//! let file = std::fs::read("/usr/bin/true")?;
//! let elf = Elf::parse(&file)?;
//! let contents: Vec<_> = elf.sframe_contents().collect();
//! let mut sections = Vec::new();
//! for sframe in &contents {
//!     sections.push(Section::parse(sframe.data?, sframe.placement()?.with_abi(elf.abi()))?);
//! }
//! let cfi = Cfi::load_all(&elf)?;
//! let totals = compare(&elf, &sections, &cfi, |range| {
//!     if let Verdict::Different(fields) = range.verdict {
//!         println!("{:#x}..{:#x} {fields}", range.start, range.end);
//!     }
//! });
//! println!("{} of {} bytes agree", totals.bytes.equal, totals.bytes.total());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agreement;
mod call_sites;
mod code;
mod confirm;
mod divide;
mod entry;
mod event;
mod file;
mod judge;
mod look_up;
mod parallel;
mod piece;
mod proof;
mod range;
mod ruling;
mod sweep;
mod tables;
mod unplaced;
mod verdict;

pub use call_sites::{AfterCall, CallSite, SiteSums, call_sites};
pub(crate) use code::code_of;
pub use confirm::CfiConfirms;
pub use entry::function_as_described;
pub(crate) use event::{Event, Wanted};
pub use judge::{Judgement, Side, judge};
pub use look_up::look_up;
pub use parallel::compare;
pub(crate) use parallel::compare_file;
pub use piece::Stated;
pub use proof::{
    Contradiction, ProofSums, Proofs, Refutation, UnprovenSum, UnprovenSums, WrongRule, WrongRules,
    prove, wrong_rules,
};
pub use range::Range;
pub use ruling::{Arbiter, Reason, RuledRange, Ruling, Wrong};
pub use sweep::{Observer, sweep};
pub(crate) use tables::Tables;
pub use verdict::{Fields, FunctionCounts, Sums, Totals, Verdict};
