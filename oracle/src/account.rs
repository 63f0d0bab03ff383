//! The account of a file: every byte of its code, and everything to report about it.
//!
//! [`account`] sweeps over the code once, like [`compare`](crate::compare), and collects bytes by verdict, functions by
//! who describes them, losses and their causes, properties that the version cannot express, and the differences.
//!
//! A producer that makes a mistake makes it in every function of that shape, so differences are grouped. Differences
//! have *one pattern* if they are in the same fields, between the same kinds of values with the same base registers, at
//! the same distance. `CFA = rsp+16` where CFI has `rsp+8` has the same pattern as `rsp+24` and `rsp+16`. Differences are
//! reported as one if they also break the same rule, in the same ELF section, and the code proves the same witness wrong.
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
mod group;
mod ledger;
mod message;
mod pattern;
mod place;
mod recognise;
mod tally;
mod two_sections;
mod undecided;
mod without_entry;

use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::finding::{Finding, Keep, Undecided};
use sframe_validator::rules::Rule;
use sframe_validator::unwind::{CodeAddress, Frame};

use crate::cfi::{Cfi, Fde, RowContext};
use crate::code::Program;
use crate::compare::{Fields, FunctionCounts, Proofs, Ruling, Sums, Tables, Totals, compare_file};
use crate::coverage::Cause;
use crate::witness::CodeRange;
use group::Judge;
use ledger::Ledger;

pub use recognise::{Differing, Recognise};

/// The number of example functions for a cause.
pub const EXAMPLES: usize = 3;

/// How many findings to keep, and which rules to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many findings of each rule to keep; all of them are counted. Differences with one pattern are one finding,
    /// except with [`Keep::All`], where each range of PCs that differs is one.
    pub keep: Keep,
    /// Whether to apply lint-level rules as well.
    pub pedantic: bool,
    /// What is compared with what.
    pub witnesses: Witnesses,
    /// How many of the functions without any entry to keep. With 0, they are not looked for, because that requires
    /// reading all symbols.
    pub functions_without_entry: usize,
}

/// What is compared with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Witnesses {
    /// SFrame with CFI.
    #[default]
    Cfi,
    /// SFrame with the machine code. CFI only shows where functions start and where exceptions are caught.
    Code,
    /// SFrame with CFI, and both with the machine code.
    All,
}

impl Default for Options {
    /// No lints; the first three findings of each rule, differences by pattern.
    fn default() -> Options {
        Options {
            keep: Keep::First(3),
            pedantic: false,
            witnesses: Witnesses::Cfi,
            functions_without_entry: 0,
        }
    }
}

/// Everything to report about a file.
#[derive(Clone, Debug)]
pub struct Account<'c> {
    /// Bytes of code by verdict.
    pub sums: Sums,
    /// Functions by who describes them. Functions without bytes are counted as `both` if SFrame has an entry without
    /// bytes at the same place, otherwise as `only_cfi`.
    pub functions: FunctionCounts,
    /// Functions that CFI describes and SFrame does not, by cause, in the order of [`Cause::ALL`]. Without SFrame
    /// sections: the causes why version 3 could not describe them. The total is the number of functions that
    /// [`FunctionCounts`] calls `only_cfi` and `partly`.
    pub losses: Vec<Loss>,
    /// Functions without any entry, if they were looked for.
    pub without_entry: Option<WithoutEntry>,
    /// Properties that the version cannot express.
    pub limits: Vec<Limit>,
    /// The differences that were kept, ordered by place: the first one of each pattern, or all with [`Keep::All`].
    pub differences: Vec<Difference<'c>>,
    /// The findings that were kept: first those about the CFI itself, then those about lost code and code that only
    /// SFrame describes, by place.
    pub findings: Vec<Finding>,
    /// How often each rule was broken, including findings not kept, in the catalogue's order. A difference counts once
    /// per function, however many ranges it has there.
    pub counts: Vec<(&'static Rule, u64)>,
    /// How many of them are cases of a known defect, by rule and defect.
    pub known: Vec<(&'static Rule, &'static str, u64)>,
    /// What the machine code proves, if it was asked: bytes by the rows of each witness.
    pub proofs: Option<Proofs>,
    /// Each reason once, with functions and bytes.
    pub undecided: Vec<Undecided>,
}

/// Code that only CFI describes, for one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The cause.
    pub cause: Cause,
    /// The number of functions.
    pub functions: u64,
    /// The number of their bytes that SFrame does not describe.
    pub bytes: u64,
    /// The first functions: at most [`EXAMPLES`].
    pub examples: Vec<CodeRange>,
}

/// Functions that have no entry in SFrame nor in CFI: the named code of which nothing describes any byte.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct WithoutEntry {
    /// The number of functions.
    pub functions: u64,
    /// The number of bytes of their code. Bytes of several functions count once.
    pub bytes: u64,
    /// The largest of them, at most [`Options::functions_without_entry`]: the largest first, and those of one size by
    /// place.
    pub largest: Vec<CodeRange>,
}

/// A property that CFI states and the section's version cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// A single field.
    pub field: Fields,
    /// The number of functions in which it is missing.
    pub functions: u64,
    /// The number of bytes of code for which it is missing.
    pub bytes: u64,
}

/// A range of PCs where SFrame and CFI differ, or where the code proves one or both of them wrong.
#[derive(Clone, Debug)]
pub struct Difference<'c> {
    /// The finding: the broken rule, the row that breaks it, and both values in words.
    pub finding: Finding,
    /// The first PC.
    pub start: CodeAddress,
    /// The end, exclusive, in the same section.
    pub end: u64,
    /// The range in which both rows are valid. This is a part of it if the code decides about the parts in different ways.
    pub whole: (u64, u64),
    /// The fields that differ.
    pub fields: Fields,
    /// SFrame's frame, if it has one.
    pub sframe: Option<Frame>,
    /// CFI's function and its frame, if CFI describes the code and was compared.
    pub cfi: Option<CfiFrame<'c>>,
    /// Who is wrong at each PC of the range, as far as the code proves it. `None` if it was not asked: a file with very many
    /// differences has only some of them decided.
    pub ruling: Option<Ruling>,
    /// The known defect that it is a case of, and so are all differences that it represents.
    pub known: Option<&'static str>,
    /// Whether this is no difference between SFrame and CFI: the code alone refutes the row.
    pub is_of_code: bool,
    /// Other occurrences of the same pattern; `None` with [`Keep::All`], where a difference represents no others.
    pub similar: Option<Similar>,
    /// An earlier range in this function has the same pattern: [`Account::counts`] counts a pattern once per function.
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

/// Occurrences of the same pattern other than this difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Similar {
    /// The number of other functions.
    pub functions: u64,
    /// The number of other ranges, including those in the same function.
    pub ranges: u64,
    /// The number of bytes of code in those ranges.
    pub bytes: u64,
}

/// Accounts for the code of `elf`. `sections` are its SFrame sections, and `cfi` its sections of call frame
/// information, of which the first that describes a place is used.
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
    let account =
        account_each(elf, sections, cfi, options, &mut (), &mut |one| differences.push(one));
    Account { differences, ..account }
}

/// As [`account`], handing each difference to `found`, ordered by place, instead of keeping it: until its
/// turn comes, a difference is kept without its tables and words. `recogniser` names the known defects.
pub fn account_each<'c>(
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    options: &Options,
    recogniser: &mut dyn Recognise<'c>,
    found: &mut dyn FnMut(Difference<'c>),
) -> Account<'c> {
    let compared = if options.witnesses == Witnesses::Code { &[] } else { cfi };
    let mut contexts: Vec<_> = compared.iter().map(RowContext::new).collect();
    let judge = Judge::new(elf, sections, cfi, recogniser);
    let tables = Tables { elf, sections, cfi: compared };
    let mut ledger = Ledger::new(judge, tables, &mut contexts, options);
    let totals = match options.witnesses {
        Witnesses::Code => Totals::default(),
        Witnesses::Cfi | Witnesses::All => {
            let wanted = ledger.wanted();
            compare_file(Tables { elf, sections, cfi }, wanted, &mut |event| ledger.add(event))
        }
    };
    if options.witnesses != Witnesses::Cfi {
        match Program::of(elf, sections, cfi) {
            Some(code) => ledger.prove(&code, elf, compared),
            None => ledger.cannot_prove(),
        }
    }
    ledger.finish(totals, found)
}
