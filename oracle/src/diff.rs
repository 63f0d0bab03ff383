//! SFrame against SFrame: two assemblers' sections of one source, yesterday's build and today's,
//! version 2 and version 3.
//!
//! [`diff`] lays the rows of two [`Set`]s of sections over each other, PC by PC where the code
//! stands at the same addresses, or function by function, paired by their symbols
//! ([`Matching`]). Both are read as an unwinder reads them, as in [`compare`](crate::compare).
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

mod lay;
mod pair;

use sframe_validator::elf::{Elf, SymbolTable};
use sframe_validator::section::CodeAddress;
use sframe_validator::text::Text;
use sframe_validator::unwind::{Frame, Recovery};
use sframe_validator::{Section, Version};

use crate::compare::Fields;
use crate::compare::reading::Evidence;
use crate::compare::sframe::{Budget, Place, places, walk};
use lay::{Piece, lay};
use pair::{Group, by_address, by_symbol};

/// One side: the SFrame sections of a file.
#[derive(Clone, Copy, Debug)]
pub struct Set<'s> {
    /// The sections.
    pub sections: &'s [Section<'s>],
    /// The file: its size bounds the work on blocks that repeat.
    pub elf: &'s Elf<'s>,
    /// The file's symbols, for [`Matching::Symbol`].
    pub symbols: &'s SymbolTable<'s>,
}

/// How the code of the two sides is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// By address: both describe the same code.
    Address,
    /// By the symbol at a function's start. Functions that share a name are paired in the order of
    /// their addresses. A linker's stubs, which have no symbols, are matched section by section;
    /// other functions without a symbol are counted, and not compared.
    Symbol,
}

/// What became of a range of PCs from one side to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Other values of these.
    Different(Fields),
    /// The same, as far as the older version can say it; these it cannot.
    Limited(Fields),
    /// Only the first side describes it.
    OnlyFirst,
    /// Only the second side describes it.
    OnlySecond,
    /// One side cannot be read there.
    Undecided,
}

/// A function of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionPlace {
    /// Which of the side's sections has it.
    pub section: u32,
    /// Its place in the section's table.
    pub index: u32,
    /// Where it starts.
    pub start: CodeAddress,
    /// Bytes of code.
    pub size: u32,
}

/// A range of PCs at which the sides do not say the same.
#[derive(Clone, Copy, Debug)]
pub struct Range<'s> {
    /// The symbol that the functions were matched by, or the section of stubs; empty where that was
    /// by address.
    pub name: Text<'s>,
    /// The ELF section of the code, in relocatable objects matched by address; else 0.
    pub section: u32,
    /// The first PC: an address, or matched by symbol, bytes from the start of the functions or of
    /// the stubs' sections.
    pub start: u64,
    /// The first PC behind.
    pub end: u64,
    /// The addresses that the PCs count from on either side; 0 where they are addresses.
    pub bases: (u64, u64),
    /// What became of it.
    pub change: Change,
    /// The first side's function; with its frame where both sides say something.
    pub first: Option<(FunctionPlace, Option<Frame>)>,
    /// The second side's.
    pub second: Option<(FunctionPlace, Option<Frame>)>,
}

/// The sums of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Totals {
    /// Bytes of code of which both sides say the same.
    pub equal: u64,
    /// Bytes of [`Change::Different`].
    pub different: u64,
    /// Bytes of [`Change::Limited`].
    pub limited: u64,
    /// Bytes of [`Change::OnlyFirst`].
    pub only_first: u64,
    /// Bytes of [`Change::OnlySecond`].
    pub only_second: u64,
    /// Bytes of [`Change::Undecided`].
    pub undecided: u64,
    /// Functions that were matched with one or more of the other side.
    pub matched: u64,
    /// Functions of the first side alone.
    pub functions_only_first: u64,
    /// Functions of the second side alone.
    pub functions_only_second: u64,
    /// Functions of the first side without a symbol, matched by symbol: not compared.
    pub unnamed_first: u64,
    /// The same of the second side.
    pub unnamed_second: u64,
    /// Functions of either side whose start is not known: not compared.
    pub unplaced: u64,
}

/// Compares two sides; `sink` gets every range at which they do not say the same, function by
/// function in the order of the first side, then what the second one has besides.
///
/// The time is that of sorting the functions, and linear in the rows.
pub fn diff<'s>(
    first: &Set<'s>,
    second: &Set<'s>,
    matching: Matching,
    mut sink: impl FnMut(&Range<'s>),
) -> Totals {
    let (a, unplaced_a) = places(first.sections);
    let (b, unplaced_b) = places(second.sections);
    let mut totals = Totals {
        unplaced: unplaced_a.count().saturating_add(unplaced_b.count()),
        ..Totals::default()
    };
    let mut readers = (Reader::new(first), Reader::new(second));
    let groups = match matching {
        Matching::Address => by_address(&a, &b),
        Matching::Symbol => by_symbol(&a, &b, first, second, &mut totals),
    };
    for group in groups {
        compare_group(&group, &mut readers, &mut totals, &mut sink);
    }
    totals
}

fn compare_group<'s>(
    group: &Group<'_, 's>,
    readers: &mut (Reader<'_, 's>, Reader<'_, 's>),
    totals: &mut Totals,
    sink: &mut impl FnMut(&Range<'s>),
) {
    let functions = (group.first.len() as u64, group.second.len() as u64);
    match functions {
        (only, 0) => totals.functions_only_first += only,
        (0, only) => totals.functions_only_second += only,
        (matched, _) => totals.matched += matched,
    }
    let first = readers.0.pieces(group.first, group.bases.0);
    let second = readers.1.pieces(group.second, group.bases.1);
    let any = group.first.first().or(group.second.first());
    let section = any.filter(|_| group.name.is_empty()).map_or(0, |place| place.start.section);
    let mut pending: Option<Range<'s>> = None;
    lay(&first, &second, |start, end, a, b| {
        let bytes = end - start;
        let Some(change) = judge(a, b) else {
            totals.equal = totals.equal.saturating_add(bytes);
            return;
        };
        totals.add(change, bytes);
        // Where the other side says nothing, this one's rows do not matter.
        let both = a.is_some() && b.is_some();
        let said = |piece: Option<&Piece>| {
            piece.map(|piece| (piece.function, piece.frame.filter(|_| both)))
        };
        let (first, second) = (said(a), said(b));
        match &mut pending {
            Some(last)
                if last.end == start
                    && last.change == change
                    && (last.first, last.second) == (first, second) =>
            {
                last.end = end;
            }
            pending => {
                if let Some(range) = pending.take() {
                    sink(&range);
                }
                let Group { name, bases, .. } = *group;
                *pending = Some(Range { name, section, start, end, bases, change, first, second });
            }
        }
    });
    if let Some(range) = pending {
        sink(&range);
    }
}

impl Totals {
    fn add(&mut self, change: Change, bytes: u64) {
        let sum = match change {
            Change::Different(_) => &mut self.different,
            Change::Limited(_) => &mut self.limited,
            Change::OnlyFirst => &mut self.only_first,
            Change::OnlySecond => &mut self.only_second,
            Change::Undecided => &mut self.undecided,
        };
        *sum = sum.saturating_add(bytes);
    }
}

/// Reads the functions of one side.
struct Reader<'r, 's> {
    set: &'r Set<'s>,
    rows: Vec<sframe_validator::section::RowBudget>,
    repeats: Budget,
}

impl<'r, 's> Reader<'r, 's> {
    fn new(set: &'r Set<'s>) -> Reader<'r, 's> {
        let rows = set.sections.iter().map(Section::row_budget).collect();
        Reader { set, rows, repeats: Budget::of(set.elf.data().len() as u64) }
    }

    /// What functions that follow each other say, without overlaps, counted from `base`: of two that
    /// do overlap, the one that starts last holds.
    fn pieces(&mut self, functions: &[Place], base: u64) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (number, function) in functions.iter().enumerate() {
            let next = functions.get(number + 1).map_or(u64::MAX, |next| next.start.address);
            self.read(function, next, base, &mut pieces);
        }
        pieces
    }

    fn read(&mut self, place: &Place, limit: u64, base: u64, pieces: &mut Vec<Piece>) {
        let at = usize::try_from(place.section).unwrap_or(usize::MAX);
        let (Some(section), Some(rows)) = (self.set.sections.get(at), self.rows.get_mut(at)) else {
            return;
        };
        let (Ok(abi), version) = (section.abi(), section.header().version) else { return };
        let start = place.start.address;
        let of = |from: u64, to: u64, frame: Option<Frame>, signal, key_b| Piece {
            start: from - base,
            end: to - base,
            function: FunctionPlace {
                section: place.section,
                index: place.index,
                start: place.start,
                size: place.size,
            },
            frame,
            signal,
            key_b,
            version,
            abi,
        };
        let end = start.saturating_add(place.size.into()).min(limit);
        match section.entry(place.index).map(|entry| entry.function()) {
            // An entry without rows, since version 3 (V3 1.2).
            Some(Ok(function)) if function.is_outermost() => {
                pieces.push(of(start, end, Some(Frame::OUTERMOST), false, false));
            }
            Some(Ok(function)) => {
                let signal = function.is_signal_frame();
                let key_b = function.attributes().info.pauth_key_b();
                let nothing = |_, _: &_| Evidence::NONE;
                walk(&function, limit, rows, &mut self.repeats, nothing, |from, to, row| {
                    pieces.push(of(from, to, row.map(|row| row.frame), signal, key_b));
                });
            }
            _ => pieces.push(of(start, end, None, false, false)),
        }
    }
}

/// What becomes of a range from one piece to the other; `None` where that is nothing.
fn judge(first: Option<&Piece>, second: Option<&Piece>) -> Option<Change> {
    let (a, b) = match (first, second) {
        (Some(a), Some(b)) => (a, b),
        (Some(_), None) => return Some(Change::OnlyFirst),
        (None, Some(_)) => return Some(Change::OnlySecond),
        (None, None) => return None,
    };
    let (Some(ours), Some(theirs)) = (a.frame, b.frame) else { return Some(Change::Undecided) };
    if a.abi != b.abi {
        return Some(Change::Undecided);
    }
    let (mut fields, mut limits) = (Fields::default(), Fields::default());
    let mut add = |field: Fields, without: Version| match without {
        Version::V3 => fields = fields.with(field),
        Version::V1 | Version::V2 => limits = limits.with(field),
    };
    if a.signal != b.signal {
        add(Fields::SIGNAL, if a.signal { b.version } else { a.version });
    }
    match (ours.ra == Recovery::Undefined, theirs.ra == Recovery::Undefined) {
        // An outermost frame has no caller: nothing else matters.
        (true, true) => {}
        (true, false) => add(Fields::UNDEFINED_RA, b.version),
        (false, true) => add(Fields::UNDEFINED_RA, a.version),
        (false, false) => {
            let differs = [
                (ours.cfa != theirs.cfa, Fields::CFA),
                (ours.ra != theirs.ra, Fields::RA),
                (ours.fp != theirs.fp, Fields::FP),
                (signing(a, &ours) != signing(b, &theirs), Fields::RA_SIGNING),
            ];
            for (_, field) in differs.into_iter().filter(|(differs, _)| *differs) {
                fields = fields.with(field);
            }
        }
    }
    match (fields.is_empty(), limits.is_empty()) {
        (true, true) => None,
        (true, false) => Some(Change::Limited(limits)),
        (false, _) => Some(Change::Different(fields)),
    }
}

/// Whether the return address is signed, and then whether with the B key (AArch64).
fn signing(piece: &Piece, frame: &Frame) -> Option<bool> {
    (piece.abi.is_aarch64() && frame.ra_signed).then_some(piece.key_b)
}
