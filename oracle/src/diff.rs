//! Compares what two files say about their frames: output of two assemblers, compilers or linkers, two builds, or two versions.
//!
//! [`diff`] merges the rows of two [`Set`]s, either PC by PC, if the code has the same addresses, or function by
//! function, paired by their symbols ([`Matching`]). The rows are those of SFrame, of call frame information, or what
//! the machine code proves ([`Source`]). They are read as an unwinder reads them, with the same [`sweep`].
//!
//! ```
//! use sframe_oracle::diff::{Change, Matching, Set, diff};
//!
//! fn print(old: &Set<'_>, new: &Set<'_>) {
//!     let totals = diff(old, new, Matching::Symbol, |range| {
//!         if let Change::Different(fields) = range.change {
//!             println!("{}: {fields}", range.name);
//!         }
//!     });
//!     println!("{} bytes are the same", totals.equal);
//! }
//! ```

mod any;
mod list;
mod pair;
mod source;

use core::ops::ControlFlow;

use sframe_validator::elf::{Elf, SymbolTable};
use sframe_validator::text::Text;
use sframe_validator::unwind::{CodeAddress, Row};

use crate::compare::{Fields, Observer, Verdict, judge, sweep};
use crate::witness::{Says, Statement, Witness};
use any::{AnyWitness, Memory};
use pair::{Group, by_address, by_symbol};

pub use source::{CodeReader, CodeRows, Function, Source};

/// What a file says about its frames.
#[derive(Clone, Copy, Debug)]
pub struct Set<'s> {
    /// Where its rows come from.
    pub source: Source<'s>,
    /// The file; its size bounds the work on repeated blocks.
    pub elf: &'s Elf<'s>,
    /// The file's symbols, for [`Matching::Symbol`].
    pub symbols: &'s SymbolTable<'s>,
}

/// How the code of the two sets is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Matching {
    /// By address: both describe the same code.
    Address,
    /// By the symbols at a function's start: one that both functions have is enough. Functions that share a name are paired in
    /// the order of their addresses. A linker's stubs, which have no symbols, are matched section by section; other functions without a symbol are
    /// counted, but not compared.
    Symbol,
}

/// The change of a range of PCs from one set to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// These fields differ.
    Different(Fields),
    /// The sets agree as far as the older version can express; it cannot express these fields.
    Limited(Fields),
    /// Only the first set describes it.
    OnlyFirst,
    /// Only the second set describes it.
    OnlySecond,
    /// One set cannot be read there.
    Undecided,
}

/// The base address of PCs in each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Bases {
    /// In the first file.
    pub first: u64,
    /// In the second file.
    pub second: u64,
}

/// A range of PCs for which the sets differ.
#[derive(Clone, Copy, Debug)]
pub struct Range<'s> {
    /// The symbol by which the functions were matched, one of those that both have, or the section of stubs; empty if they were matched by address.
    pub name: Text<'s>,
    /// The ELF section of the code, in relocatable objects matched by address; otherwise 0.
    pub section: u32,
    /// The first PC: an address or, if matched by symbol, the offset in bytes from the start of the functions or of the
    /// stubs' sections.
    pub start: u64,
    /// The end, exclusive.
    pub end: u64,
    /// The base addresses of the PCs in each file; 0 if the PCs are addresses.
    pub bases: Bases,
    /// The result of comparing the sets.
    pub change: Change,
    /// The functions that were matched: those that contain the range or, if the range is after the end of the shorter one, both of
    /// them.
    pub functions: [Option<Function>; 2],
    /// The first set's statement; with the frame if both sets have one.
    pub first: Option<Statement<Function>>,
    /// The second set's statement; with the frame if both sets have one.
    pub second: Option<Statement<Function>>,
}

/// The sums of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Totals {
    /// Bytes of code for which both sets agree.
    pub equal: u64,
    /// Bytes with [`Change::Different`].
    pub different: u64,
    /// Bytes with [`Change::Limited`].
    pub limited: u64,
    /// Bytes with [`Change::OnlyFirst`].
    pub only_first: u64,
    /// Bytes with [`Change::OnlySecond`].
    pub only_second: u64,
    /// Bytes with [`Change::Undecided`].
    pub undecided: u64,
    /// Functions of the first set that were matched with at least one of the second.
    pub matched: u64,
    /// Functions only in the first set.
    pub functions_only_first: u64,
    /// Functions only in the second set.
    pub functions_only_second: u64,
    /// Functions of the first set without a symbol, which are not compared when matching by symbol.
    pub unnamed_first: u64,
    /// Functions of the second set without a symbol, which are not compared when matching by symbol.
    pub unnamed_second: u64,
    /// Functions of either set whose start address cannot be read; they are not compared.
    pub unplaced: u64,
}

/// Compares two sets. `sink` receives every range for which they differ, function by function in the order of the first
/// set, then the rest of the second.
///
/// The time is that of sorting the functions, plus linear time in the number of rows.
pub fn diff<'s>(
    first: &Set<'s>,
    second: &Set<'s>,
    matching: Matching,
    mut sink: impl FnMut(&Range<'s>),
) -> Totals {
    let ((a, a_unplaced), (b, b_unplaced)) = (first.source.functions(), second.source.functions());
    let unplaced = a_unplaced.saturating_add(b_unplaced);
    let mut totals = Totals { unplaced, ..Totals::default() };
    let groups = match matching {
        Matching::Address => by_address(&a, &b),
        Matching::Symbol => by_symbol(&a, &b, first, second, &mut totals),
    };
    let mut memory = (Memory::of(first), Memory::of(second));
    for group in groups {
        totals.count(&group);
        let origins = (
            group.origin(group.first, group.bases.first),
            group.origin(group.second, group.bases.second),
        );
        let mut witnesses =
            (memory.0.witness(group.first, origins.0), memory.1.witness(group.second, origins.1));
        let mut differences =
            Differences { group: &group, totals: &mut totals, pending: None, sink: &mut sink };
        sweep(&[group.code()], &mut witnesses.0, &mut witnesses.1, &mut differences);
        differences.flush();
    }
    totals
}

impl Totals {
    /// Counts the functions of a group.
    fn count(&mut self, group: &Group<'_, '_>) {
        match (group.first.len() as u64, group.second.len() as u64) {
            (only, 0) => self.functions_only_first += only,
            (0, only) => self.functions_only_second += only,
            (matched, _) => self.matched += matched,
        }
    }

    fn add(&mut self, change: Option<Change>, bytes: u64) {
        let sum = match change {
            None => &mut self.equal,
            Some(Change::Different(_)) => &mut self.different,
            Some(Change::Limited(_)) => &mut self.limited,
            Some(Change::OnlyFirst) => &mut self.only_first,
            Some(Change::OnlySecond) => &mut self.only_second,
            Some(Change::Undecided) => &mut self.undecided,
        };
        *sum = sum.saturating_add(bytes);
    }
}

/// The differences of a group of functions.
struct Differences<'g, 'p, 's, F> {
    group: &'g Group<'p, 's>,
    totals: &'g mut Totals,
    /// The last range, which the next one may extend.
    pending: Option<Range<'s>>,
    sink: &'g mut F,
}

impl<'s, F: FnMut(&Range<'s>)> Differences<'_, '_, 's, F> {
    fn flush(&mut self) {
        if let Some(range) = self.pending.take() {
            (self.sink)(&range);
        }
    }

    fn report(&mut self, range: Range<'s>) {
        match &mut self.pending {
            Some(last)
                if last.end == range.start
                    && last.change == range.change
                    && (last.first, last.second) == (range.first, range.second) =>
            {
                last.end = range.end;
            }
            _ => {
                self.flush();
                self.pending = Some(range);
            }
        }
    }
}

impl<'a, 'b, 's, F: FnMut(&Range<'s>)> Observer<AnyWitness<'a, 's>, AnyWitness<'b, 's>>
    for Differences<'_, '_, 's, F>
{
    fn piece(
        &mut self,
        place: CodeAddress,
        end: u64,
        first: &mut AnyWitness<'a, 's>,
        second: &mut AnyWitness<'b, 's>,
    ) -> ControlFlow<()> {
        let (a, b) = (first.says(), second.says());
        if !a.anything() && !b.anything() {
            return ControlFlow::Continue(());
        }
        let change = change((first, &a), (second, &b));
        self.totals.add(change, end - place.address);
        if let Some(change) = change {
            let (first, second) = (statement(&a, &b), statement(&b, &a));
            let [in_first, in_second] = self.group.functions();
            self.report(Range {
                name: self.group.name,
                section: place.section,
                start: place.address,
                end,
                bases: self.group.bases,
                change,
                functions: [
                    first.map(|of| of.function).or(in_first),
                    second.map(|of| of.function).or(in_second),
                ],
                first,
                second,
            });
        }
        ControlFlow::Continue(())
    }
}

/// A set's statement about a range. If the other set describes nothing there, this one's frame does not matter.
fn statement(
    says: &Says<'_, Function, Row>,
    other: &Says<'_, Function, Row>,
) -> Option<Statement<Function>> {
    match says {
        Says::Nothing | Says::NoRows(_) => None,
        Says::Unread(function) | Says::Unreadable(function) => {
            Some(Statement { function: *function, frame: None })
        }
        Says::Row(function, row) => {
            let frame = other.anything().then_some(row.frame);
            Some(Statement { function: *function, frame })
        }
    }
}

/// The change in a range that at least one set describes; `None` if they agree.
fn change(
    (first, a): (&AnyWitness<'_, '_>, &Says<'_, Function, Row>),
    (second, b): (&AnyWitness<'_, '_>, &Says<'_, Function, Row>),
) -> Option<Change> {
    match (a.anything(), b.anything()) {
        (true, false) => return Some(Change::OnlyFirst),
        (false, true) => return Some(Change::OnlySecond),
        _ => {}
    }
    let (Says::Row(_, a), Says::Row(_, b)) = (a, b) else { return Some(Change::Undecided) };
    let abi = first.abi().filter(|abi| second.abi() == Some(*abi));
    let sides = first.side(&a.frame).zip(second.side(&b.frame));
    let (Some(abi), Some((a, b))) = (abi, sides) else { return Some(Change::Undecided) };
    match judge(a, b, abi).verdict {
        Verdict::Equal => None,
        Verdict::Limited(fields) => Some(Change::Limited(fields)),
        Verdict::Different(fields) => Some(Change::Different(fields)),
        _ => Some(Change::Undecided),
    }
}
