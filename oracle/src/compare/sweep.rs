//! The sweep: one pass over the code, with SFrame's rows pushed and CFI's rows pulled.

use sframe_validator::elf::{Elf, ElfKind, PF_X, PT_LOAD};
use sframe_validator::section::CodeAddress;
use sframe_validator::unwind::{Frame, Row};
use sframe_validator::{Abi, Section, Version};

use super::sframe::{Budget, Piece, places, walk};
use super::verdict::{Side, Sums, Verdict, judge};
use crate::cfi::{Cfi, Fde, RowContext, Rows};

/// A range of PCs with one verdict. Neighbours that say the same are one range.
#[derive(Clone, Copy, Debug)]
pub struct Range<'c> {
    /// The ELF section in a relocatable object, else 0.
    pub section: u32,
    /// The first PC.
    pub start: u64,
    /// The first PC behind.
    pub end: u64,
    /// How the sides stand to each other.
    pub verdict: Verdict,
    /// SFrame: which of the sections compared, which function, what it says. `None` where it says
    /// nothing or cannot be read.
    pub sframe: Option<(u32, u32, Frame)>,
    /// CFI: the function, and what it says; no frame where it cannot be read.
    pub cfi: Option<(Fde<'c>, Option<Frame>)>,
}

impl Range<'_> {
    fn continues(&self, next: &Range<'_>) -> bool {
        let function =
            |range: &Range<'_>| range.cfi.map(|(f, frame)| (f.cfi().section(), f.offset(), frame));
        self.section == next.section
            && self.end == next.start
            && self.verdict == next.verdict
            && self.sframe == next.sframe
            && function(self) == function(next)
    }
}

/// The executable bytes of a file: loaded sections with code, or without section headers the
/// segments. Ordered, without overlaps.
fn code_of(elf: &Elf<'_>) -> Vec<(CodeAddress, u64)> {
    let relocatable = elf.kind() == ElfKind::Relocatable;
    let mut ranges: Vec<(CodeAddress, u64)> = elf
        .code_sections()
        .map(|section| {
            let number = if relocatable { section.index } else { 0 };
            let address = if relocatable { 0 } else { section.address };
            (CodeAddress { section: number, address }, address.saturating_add(section.size))
        })
        .collect();
    if elf.sections().is_empty() {
        let loaded = elf.segments().iter().filter(|s| s.p_type == PT_LOAD && s.flags & PF_X != 0);
        ranges.extend(loaded.map(|segment| {
            let end = segment.address.saturating_add(segment.memory_size);
            (CodeAddress::absolute(segment.address), end)
        }));
    }
    ranges.retain(|(start, end)| start.address < *end);
    ranges.sort();
    ranges.dedup_by(|next, last| {
        let joined = next.0.section == last.0.section && next.0.address <= last.1;
        if joined {
            last.1 = last.1.max(next.1);
        }
        joined
    });
    ranges
}

/// One CFI section, read by ascending place.
struct Stream<'c, 'x> {
    cfi: &'c Cfi<'c>,
    rows: Option<Rows<'c, 'x>>,
    /// Only until the first function.
    context: Option<&'x mut RowContext>,
    /// The function that is next by address.
    next: usize,
    function: Option<Fde<'c>>,
    /// Where the function ends, or the one behind it starts.
    limit: u64,
    /// Whether there is a row.
    row: bool,
    failed: bool,
}

/// What CFI says about a PC.
enum Said<'s, 'c> {
    Nothing,
    Row(&'s Row, Fde<'c>),
    Unreadable(Fde<'c>),
}

impl<'c, 'x> Stream<'c, 'x> {
    fn new(cfi: &'c Cfi<'c>, context: &'x mut RowContext) -> Stream<'c, 'x> {
        let context = Some(context);
        Stream {
            cfi,
            rows: None,
            context,
            next: 0,
            function: None,
            limit: 0,
            row: false,
            failed: false,
        }
    }

    /// What is said at `place`, and the first PC of its section where that may change. Places have
    /// to ascend.
    #[inline]
    fn at(&mut self, place: CodeAddress) -> (Said<'_, 'c>, u64) {
        loop {
            let inside = self.function.filter(|function| {
                function.start().section == place.section && place.address < self.limit
            });
            let Some(function) = inside else {
                if let Some(until) = self.enter(place) {
                    return (Said::Nothing, until);
                }
                continue;
            };
            if self.failed {
                return (Said::Unreadable(function), self.limit);
            }
            let Some(rows) = &mut self.rows else {
                return (Said::Unreadable(function), self.limit);
            };
            if self.row && place.address < rows.row().end {
                break;
            }
            self.row = matches!(rows.next_row(), Ok(Some(_)));
            self.failed = !self.row;
        }
        match (&self.rows, self.function) {
            (Some(rows), Some(function)) => {
                let end = rows.row().end.min(self.limit);
                (Said::Row(rows.row(), function), end)
            }
            _ => (Said::Nothing, u64::MAX),
        }
    }

    /// Goes to the function that has `place`; where there is none, the place up to which that
    /// holds.
    #[inline]
    fn enter(&mut self, place: CodeAddress) -> Option<u64> {
        self.function = None;
        loop {
            let Some(function) = self.cfi.nth_sorted(self.next) else { return Some(u64::MAX) };
            let start = function.start();
            if start > place {
                return Some(if start.section == place.section { start.address } else { u64::MAX });
            }
            self.next += 1;
            let end = start.address.saturating_add(function.size());
            if start.section < place.section || end <= place.address {
                continue;
            }
            // Of functions that overlap the last one to start is found.
            let mut following = self.next;
            let behind = loop {
                match self.cfi.nth_sorted(following) {
                    Some(next) if next.size() == 0 => following += 1,
                    next => break next.map(|next| next.start()),
                }
            };
            self.next = following;
            let cut = behind.filter(|next| next.section == start.section);
            self.limit = cut.map_or(end, |next| end.min(next.address));
            if self.limit <= place.address {
                continue;
            }
            self.function = Some(function);
            self.row = false;
            self.failed = false;
            match (&mut self.rows, self.context.take()) {
                (Some(rows), _) => rows.follow(&function),
                (none, Some(context)) => *none = Some(function.rows(context)),
                (None, None) => self.failed = true,
            }
            return None;
        }
    }
}

/// The SFrame function whose rows are told.
struct Function {
    section: u32,
    index: u32,
    version: Version,
    abi: Abi,
    signal: bool,
    key_b: bool,
}

/// What SFrame says about a range: a row of a function.
type Ours<'f> = (&'f Function, Piece<'f>);

struct Sweep<'c, 'x, F> {
    code: Vec<(CodeAddress, u64)>,
    /// The range of code that is next.
    next: usize,
    /// Everything before has been told.
    at: CodeAddress,
    streams: Vec<Stream<'c, 'x>>,
    sums: Sums,
    pending: Option<Range<'c>>,
    sink: F,
}

impl<'c, F: FnMut(&Range<'c>)> Sweep<'c, '_, F> {
    /// Tells everything up to `end` of `section`: from `start` on what `ours` says, before that
    /// that SFrame says nothing.
    #[inline]
    fn push(&mut self, section: u32, start: u64, end: u64, ours: Option<Ours<'_>>) {
        let from = CodeAddress { section, address: start };
        let to = CodeAddress { section, address: end };
        if from > self.at {
            self.fill(from, None);
        }
        if to > self.at {
            self.fill(to, ours);
        }
    }

    /// From where the sweep is up to `to`, in code.
    #[inline]
    fn fill(&mut self, to: CodeAddress, ours: Option<Ours<'_>>) {
        while let Some((start, end)) = self.code.get(self.next).copied() {
            let from = start.max(self.at);
            if from >= to {
                break;
            }
            let stop = if to.section == start.section { end.min(to.address) } else { end };
            if from.section == start.section && from.address < stop {
                self.range(from, stop, ours);
            }
            if stop < end {
                break;
            }
            self.next += 1;
        }
        self.at = self.at.max(to);
    }

    /// A piece of code that SFrame says one thing about.
    #[inline]
    fn range(&mut self, from: CodeAddress, end: u64, ours: Option<Ours<'_>>) {
        let mut place = from;
        while place.address < end {
            let mut until = end;
            let mut chosen = None;
            // The first section that says something counts: .eh_frame before .debug_frame.
            for stream in &mut self.streams {
                let (said, to) = stream.at(place);
                until = until.min(to);
                if !matches!(said, Said::Nothing) {
                    chosen = Some(said);
                    break;
                }
            }
            let truth = chosen.unwrap_or(Said::Nothing);
            let bytes = until - place.address;
            let verdict = decide(ours, &truth);
            self.sums.add(verdict, bytes);
            if verdict == Verdict::Equal {
                if self.pending.is_some() {
                    flush(&mut self.pending, &mut self.sink);
                }
            } else {
                let range = describe(place, until, verdict, ours, &truth);
                match &mut self.pending {
                    Some(last) if last.continues(&range) => last.end = until,
                    pending => {
                        flush(pending, &mut self.sink);
                        *pending = Some(range);
                    }
                }
            }
            place.address = until;
        }
    }
}

fn flush<'c>(pending: &mut Option<Range<'c>>, sink: &mut impl FnMut(&Range<'c>)) {
    if let Some(range) = pending.take() {
        sink(&range);
    }
}

#[inline]
fn decide(ours: Option<Ours<'_>>, truth: &Said<'_, '_>) -> Verdict {
    match (ours, truth) {
        (None, Said::Nothing) => Verdict::Neither,
        (None, Said::Row(..) | Said::Unreadable(_)) => Verdict::OnlyCfi,
        (Some((_, None)), _) | (Some(_), Said::Unreadable(_)) => Verdict::Undecided,
        (Some(_), Said::Nothing) => Verdict::OnlySframe,
        (Some((ours, Some(row))), Said::Row(truth, function)) => {
            let cie = function.cie();
            let sframe = Side { frame: &row.frame, signal: ours.signal, key_b: ours.key_b };
            let cfi = Side { frame: &truth.frame, signal: cie.signal, key_b: cie.pauth_key_b };
            judge(sframe, cfi, ours.version, ours.abi)
        }
    }
}

#[cold]
fn describe<'c>(
    place: CodeAddress,
    end: u64,
    verdict: Verdict,
    ours: Option<Ours<'_>>,
    truth: &Said<'_, 'c>,
) -> Range<'c> {
    // Where SFrame has no row, CFI's rows do not matter: all of the function is lost alike.
    let rows = ours.is_some_and(|(_, row)| row.is_some());
    Range {
        section: place.section,
        start: place.address,
        end,
        verdict,
        sframe: ours.and_then(|(o, row)| Some((o.section, o.index, row?.frame))),
        cfi: match truth {
            Said::Nothing => None,
            Said::Row(row, function) => Some((*function, rows.then_some(row.frame))),
            Said::Unreadable(function) => Some((*function, None)),
        },
    }
}

/// Sweeps over the code of `elf` with the functions of `sections` and `cfi`, all of which have to
/// be the file's own. `sink` gets every range that is not [`Verdict::Equal`], in the order of
/// addresses.
///
/// The time is linear in the bytes of the file, whatever its tables promise.
pub fn compare<'c>(
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    sink: impl FnMut(&Range<'c>),
) -> Sums {
    let code = code_of(elf);
    let mut contexts: Vec<_> = cfi.iter().map(RowContext::new).collect();
    let streams = cfi.iter().zip(&mut contexts).map(|(cfi, context)| Stream::new(cfi, context));
    let mut sweep = Sweep {
        code,
        next: 0,
        at: CodeAddress::absolute(0),
        streams: streams.collect(),
        sums: Sums::default(),
        pending: None,
        sink,
    };
    let (places, unplaced) = places(sections);
    sweep.sums.unplaced = unplaced;
    let mut budgets: Vec<_> = sections.iter().map(Section::row_budget).collect();
    let mut repeats = Budget::of(elf.data().len() as u64);
    for (number, place) in places.iter().enumerate() {
        let behind = places.get(number + 1).map(|next| next.start);
        let cut = behind.filter(|next| next.section == place.start.section);
        let limit = cut.map_or(u64::MAX, |next| next.address);
        let at = usize::try_from(place.section).unwrap_or(usize::MAX);
        let (Some(section), Some(budget)) = (sections.get(at), budgets.get_mut(at)) else {
            continue;
        };
        let version = section.header().version;
        let Some(abi) = section.abi().ok().or(elf.abi()) else { continue };
        let end = place.start.address.saturating_add(place.size.into()).min(limit);
        let mut ours = Function {
            section: place.section,
            index: place.index,
            version,
            abi,
            signal: false,
            key_b: false,
        };
        match section.entry(place.index).map(|entry| entry.function()) {
            Some(Ok(function)) => {
                ours.signal = function.is_signal_frame();
                ours.key_b = function.attributes().info.pauth_key_b();
                walk(&function, limit, budget, &mut repeats, |start, end, row| {
                    sweep.push(place.start.section, start, end, Some((&ours, row)));
                });
            }
            _ => sweep.push(place.start.section, place.start.address, end, Some((&ours, None))),
        }
    }
    sweep.fill(CodeAddress { section: u32::MAX, address: u64::MAX }, None);
    flush(&mut sweep.pending, &mut sweep.sink);
    sweep.sums
}
