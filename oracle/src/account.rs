//! The account of a file: every byte of its code, and everything to report about it.
//!
//! [`account`] sweeps once over the code, as [`compare`](crate::compare) does, and gathers what it
//! sees: bytes by verdict, functions by who describes them, what was lost and why, what the version
//! cannot carry, and the differences.
//!
//! A producer that makes a mistake makes it in every function of that shape, so differences are
//! grouped: *one pattern* are those in the same fields, between the same kinds of values and the
//! same base registers, the same distance apart. `CFA = rsp+16` where CFI says `rsp+8` is one
//! pattern with `rsp+24` against `rsp+16`.
//!
//! ```no_run
//! use sframe_oracle::account::{Options, account};
//! use sframe_oracle::cfi::Cfi;
//! use sframe_validator::elf::Elf;
//!
//! let file = std::fs::read("/usr/bin/true")?;
//! let elf = Elf::parse(&file)?;
//! let cfi = Cfi::load_all(&elf)?;
//! // Without SFrame sections: what could a version 3 section describe?
//! let account = account(&elf, &[], &cfi, &Options::default());
//! for loss in &account.losses {
//!     println!("{}: {} functions, {} bytes", loss.cause.name(), loss.functions, loss.bytes);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod defects;
mod differences;
mod ledger;
mod message;
mod place;
mod tally;
mod undecided;

use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::finding::{Finding, Keep, Undecided};
use sframe_validator::rules::Rule;
use sframe_validator::section::CodeAddress;
use sframe_validator::unwind::Frame;

use crate::cfi::{Cfi, Fde, RowContext};
use crate::compare::{Fields, FunctionCounts, Sums, compare_file};
use crate::coverage::Cause;
use crate::witness::CodeRange;
use ledger::Ledger;

/// Functions named as examples of a cause.
pub const EXAMPLES: usize = 3;

/// How many findings to keep, and which rules to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many findings of each rule to keep; all of them are counted. Differences of one pattern
    /// are one finding, but with [`Keep::All`] every range of PCs that differs is one.
    pub keep: Keep,
    /// Apply lint-level rules as well.
    pub pedantic: bool,
}

impl Default for Options {
    /// No lints; the first three findings of each rule, differences by pattern.
    fn default() -> Options {
        Options { keep: Keep::First(3), pedantic: false }
    }
}

/// Everything to report about a file.
#[derive(Clone, Debug)]
pub struct Account<'c> {
    /// Bytes of code by verdict.
    pub sums: Sums,
    /// Functions by who describes them. Those without bytes are counted where SFrame has an entry
    /// without bytes at the same place (`both`), or none (`only_cfi`).
    pub functions: FunctionCounts,
    /// What CFI describes and SFrame does not, by cause, in the order of [`Cause::ALL`]. Without
    /// SFrame sections: what would keep it out of one of version 3. All functions together are
    /// those that [`FunctionCounts`] calls `only_cfi` and `partly`.
    pub losses: Vec<Loss>,
    /// What the version cannot carry.
    pub limits: Vec<Limit>,
    /// The differences that were kept, ordered by place: the first one of each pattern, or with
    /// [`Keep::All`] all of them.
    pub differences: Vec<Difference<'c>>,
    /// The findings that were kept: about the CFI itself first, then lost code and code that only
    /// SFrame has, by place.
    pub findings: Vec<Finding>,
    /// How often each rule was broken, kept or not, in the catalogue's order. A difference counts
    /// once in each function, however many ranges it has there.
    pub counts: Vec<(&'static Rule, u64)>,
    /// Each reason once, with functions and bytes.
    pub undecided: Vec<Undecided>,
}

/// Code that CFI alone describes, for one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The cause.
    pub cause: Cause,
    /// Number of functions.
    pub functions: u64,
    /// Bytes of them that SFrame does not describe.
    pub bytes: u64,
    /// The first functions: at most [`EXAMPLES`].
    pub examples: Vec<CodeRange>,
}

/// What CFI says and the section's version has no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// One field.
    pub field: Fields,
    /// Functions in which it is missing.
    pub functions: u64,
    /// Bytes of code for which it is missing.
    pub bytes: u64,
}

/// A range of PCs where SFrame and CFI differ.
#[derive(Clone, Debug)]
pub struct Difference<'c> {
    /// The rule that is broken, the row that breaks it, and both values in words.
    pub finding: Finding,
    /// The first PC.
    pub start: CodeAddress,
    /// The end, exclusive, in the same section.
    pub end: u64,
    /// What differs.
    pub fields: Fields,
    /// SFrame's frame.
    pub sframe: Frame,
    /// CFI's function and its frame.
    pub cfi: CfiFrame<'c>,
    /// What else shows the same pattern; `None` with [`Keep::All`], where a difference
    /// represents no other.
    pub similar: Option<Similar>,
    /// Another range of the same pattern is before it in the function: [`Account::counts`] counts
    /// the pattern once in each function.
    pub repeats: bool,
}

/// A function of CFI, and its frame at a PC.
#[derive(Clone, Copy, Debug)]
pub struct CfiFrame<'c> {
    /// The function.
    pub function: Fde<'c>,
    /// The frame.
    pub frame: Frame,
}

/// What differs in the same way elsewhere, without the difference at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Similar {
    /// Other functions.
    pub functions: u64,
    /// Other ranges, also of the same function.
    pub ranges: u64,
    /// Bytes of code in those ranges.
    pub bytes: u64,
}

/// Accounts for the code of `elf`: `sections` are its SFrame sections, `cfi` the sections of call
/// frame information that are about its code, the first one that describes a place counts.
///
/// The time is linear in the bytes of the file, and the memory in the differences and findings kept.
#[must_use]
pub fn account<'c>(
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    options: &Options,
) -> Account<'c> {
    let mut differences = Vec::new();
    let account = account_each(elf, sections, cfi, options, &mut |one| differences.push(one));
    Account { differences, ..account }
}

/// As [`account`], handing each difference to `found`, ordered by place, instead of keeping it: until its
/// turn comes, a difference is kept without its tables and words.
pub fn account_each<'c>(
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    options: &Options,
    found: &mut dyn FnMut(Difference<'c>),
) -> Account<'c> {
    let mut contexts: Vec<_> = cfi.iter().map(RowContext::new).collect();
    let mut ledger = Ledger::new(elf, sections, cfi, &mut contexts, options);
    let totals = compare_file(elf, sections, cfi, &mut ledger);
    ledger.finish(totals, found)
}
