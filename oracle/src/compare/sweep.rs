//! The sweep: one pass over the code, with SFrame's rows pushed and CFI's rows pulled.

use sframe_validator::elf::Elf;
use sframe_validator::section::{self, CodeAddress, RowBudget};
use sframe_validator::unwind::{Frame, Row};
use sframe_validator::{Section, Version};

use super::code::code_of;
use super::lookup::Lookup;
use super::range::{Content, Function, Ours, Range, Said, decide, describe, evidence};
use super::sframe::{Budget, places, walk};
use super::stream::{Marks, Stream};
use super::unplaced::Search;
use super::verdict::{FunctionCounts, Sums, Verdict};
use crate::cfi::{Cfi, CfiError, Fde, RowContext};

/// Where the sweep tells what it sees.
pub(crate) trait Sink<'c> {
    /// Whether it wants to know of code that nobody describes: there is some behind most functions.
    const NEITHER: bool = false;

    /// A range whose verdict is not [`Verdict::Equal`], in the order of addresses.
    fn range(&mut self, range: &Range<'c>);

    /// Takes up code of a function that no SFrame function is about, if its size is all that the
    /// sink wants to know of it. Else it gets a range.
    fn without_sframe(&mut self, _: &Fde<'c>, _bytes: u64) -> bool {
        false
    }

    /// What ends the rows of a function too early, once for each function whose rows were read.
    fn error(&mut self, _: &Fde<'c>, _: CfiError) {}
}

impl<'c, F: FnMut(&Range<'c>)> Sink<'c> for F {
    const NEITHER: bool = true;

    fn range(&mut self, range: &Range<'c>) {
        self(range);
    }
}

struct Sweep<'c, 'x, 's, 'p, S> {
    code: Vec<(CodeAddress, u64)>,
    /// The range of code that is next.
    next: usize,
    /// Everything before has been told.
    at: CodeAddress,
    /// The end of the code that is without a gap from there; 0 where there is none.
    room: u64,
    streams: Vec<Stream<'c, 'x>>,
    sums: Sums,
    counts: FunctionCounts,
    /// Of the SFrame function at hand: whether CFI says something about it, and nothing.
    met: bool,
    alone: bool,
    search: Search<'c, 'p>,
    pending: Option<Range<'c>>,
    sink: &'s mut S,
}

impl<'c, S: Sink<'c>> Sweep<'c, '_, '_, '_, S> {
    /// Whether the first stream has the function from `start` to `end`, which has rows, and says
    /// the same everywhere: then it is told. Where it does not, its rows are still to be told.
    fn agrees_all_over(
        &mut self,
        function: &section::Function<'_>,
        start: CodeAddress,
        end: u64,
        marks: Marks,
        budget: &mut RowBudget,
    ) -> bool {
        if start > self.at {
            self.fill(start, None);
        }
        let Some(stream) = self.streams.first_mut().filter(|_| start == self.at) else {
            return false;
        };
        if end > self.room || stream.locate(start, &mut self.counts, self.sink).is_err() {
            return false;
        }
        let agrees = stream.agrees_all_over(start, end, marks, function, budget);
        if agrees {
            flush(&mut self.pending, self.sink);
            self.met = true;
            self.sums.add(Verdict::Equal, end - start.address);
            self.at.address = end;
        }
        agrees
    }

    /// Tells everything up to `end` of `section`: from `start` on what `ours` says, before that
    /// that SFrame says nothing.
    #[inline(always)]
    fn push(&mut self, section: u32, start: u64, end: u64, ours: Option<Ours<'_>>) {
        if !self.agrees(section, start, end, ours) {
            self.push_any(section, start, end, ours);
        }
    }

    /// Whether the first stream says the same as a row that follows what was told last: then it
    /// is told as well.
    #[inline(always)]
    fn agrees(&mut self, section: u32, start: u64, end: u64, ours: Option<Ours<'_>>) -> bool {
        let Some((function, Some(row))) = ours else { return false };
        if self.continues(section, start, end)
            && function.content == Content::Rows
            && let Some(stream) = self.streams.first_mut()
            && stream.agrees(self.at, end, &row.frame, function.marks)
        {
            self.met = true;
            self.sums.add(Verdict::Equal, end - start);
            self.at.address = end;
            return true;
        }
        false
    }

    /// Whether a range follows what was told last, in the same piece of code, and nothing is
    /// pending.
    #[inline(always)]
    fn continues(&self, section: u32, start: u64, end: u64) -> bool {
        start == self.at.address
            && end <= self.room
            && section == self.at.section
            && self.pending.is_none()
    }

    #[inline(never)]
    fn push_any(&mut self, section: u32, start: u64, end: u64, ours: Option<Ours<'_>>) {
        let from = CodeAddress { section, address: start };
        let to = CodeAddress { section, address: end };
        if from > self.at {
            self.fill(from, None);
        }
        // Most functions start on both sides here.
        if let Some(stream) = self.streams.first_mut()
            && from == self.at
            && stream.locate(from, &mut self.counts, self.sink).is_ok()
        {
            stream.read();
            if self.agrees(section, start, end, ours) {
                return;
            }
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
        let code = self.code.get(self.next);
        self.room = code.filter(|(start, _)| *start <= self.at).map_or(0, |(_, end)| *end);
    }

    /// The first of the streams that has something about `place`, and up to where that holds: the
    /// file's .eh_frame counts before its .debug_frame.
    #[inline]
    fn speaker(&mut self, place: CodeAddress, end: u64) -> (Option<usize>, u64) {
        let mut until = end;
        for (number, stream) in self.streams.iter_mut().enumerate() {
            match stream.locate(place, &mut self.counts, self.sink) {
                Ok(limit) => return (Some(number), until.min(limit)),
                Err(limit) => until = until.min(limit),
            }
        }
        (None, until)
    }

    /// A piece of code that SFrame says one thing about.
    #[inline]
    fn range(&mut self, from: CodeAddress, end: u64, ours: Option<Ours<'_>>) {
        let silent = ours.is_none_or(|(ours, _)| ours.content == Content::Nothing);
        let mut place = from;
        while place.address < end {
            let (speaker, mut until) = self.speaker(place, end);
            let stream = speaker.and_then(|number| self.streams.get_mut(number));
            let truth = match stream.and_then(|stream| Some((stream.function()?, stream))) {
                None => Said::Nothing,
                Some((function, _)) if silent => Said::Something(function),
                Some((function, stream)) => match stream.row_at(place.address) {
                    Some(row) => {
                        until = until.min(row.end);
                        Said::Row(row, function)
                    }
                    None => Said::Unreadable(function),
                },
            };
            let mut judgement = decide(ours, truth);
            let sought = match truth {
                Said::Something(function) => self.search.may_be_about(function),
                _ => false,
            };
            if sought {
                judgement = Verdict::Undecided.into();
            }
            let verdict = judgement.verdict;
            let bytes = until - place.address;
            self.sums.add(verdict, bytes);
            let told = match truth {
                Said::Nothing => verdict == Verdict::Neither && !S::NEITHER,
                Said::Something(function) if ours.is_none() && !sought => {
                    self.sink.without_sframe(&function, bytes)
                }
                _ => verdict == Verdict::Equal,
            };
            if told {
                flush(&mut self.pending, self.sink);
            } else {
                let range = describe(place, until, judgement, ours, truth);
                match &mut self.pending {
                    Some(last) if last.continues(&range) => last.end = until,
                    pending => {
                        flush(pending, self.sink);
                        *pending = Some(range);
                    }
                }
            }
            match speaker.and_then(|number| self.streams.get_mut(number)) {
                Some(_) if sought => {}
                Some(stream) => {
                    stream.note(verdict == Verdict::OnlyCfi);
                    self.met = true;
                }
                None => self.alone = true,
            }
            place.address = until;
        }
    }

    /// Begins with an SFrame function.
    fn begin(&mut self) {
        (self.met, self.alone) = (false, false);
    }

    /// Ends with it.
    fn end(&mut self, ours: &Function) {
        if self.alone && !self.met && ours.content != Content::Nothing {
            self.counts.only_sframe += 1;
        }
    }

    /// Tells the rest of the code.
    fn finish(mut self) -> (Sums, FunctionCounts) {
        self.fill(CodeAddress { section: u32::MAX, address: u64::MAX }, None);
        flush(&mut self.pending, self.sink);
        for stream in &mut self.streams {
            stream.leave(&mut self.counts, self.sink);
        }
        (self.sums, self.counts)
    }
}

#[inline]
fn flush<'c>(pending: &mut Option<Range<'c>>, sink: &mut impl Sink<'c>) {
    if let Some(range) = &*pending {
        sink.range(range);
        *pending = None;
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
    mut sink: impl FnMut(&Range<'c>),
) -> Sums {
    sweep(elf, sections, cfi, &mut sink).0
}

/// [`compare`] for a sink that wants to know more; also counts functions.
pub(crate) fn sweep<'c>(
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    sink: &mut impl Sink<'c>,
) -> (Sums, FunctionCounts) {
    let mut contexts: Vec<_> = cfi.iter().map(RowContext::new).collect();
    let streams = cfi.iter().zip(&mut contexts).map(|(cfi, context)| Stream::new(cfi, context));
    let (places, unplaced) = places(sections);
    let version = sections.first().map_or(Version::V3, |section| section.header().version);
    let mut sweep = Sweep {
        code: code_of(elf),
        next: 0,
        at: CodeAddress::absolute(0),
        room: 0,
        streams: streams.collect(),
        sums: Sums { unplaced: unplaced.count(), ..Sums::default() },
        counts: FunctionCounts::default(),
        met: false,
        alone: false,
        search: Search::new(&places, &unplaced, version),
        pending: None,
        sink,
    };
    let mut budgets: Vec<_> = sections.iter().map(Section::row_budget).collect();
    let mut repeats = Budget::of(elf.data().len() as u64);
    // Needed for repeated blocks of version 1 only.
    let mut lookup = None;
    for (number, place) in places.iter().enumerate() {
        let behind = places.get(number + 1).map(|next| next.start);
        let cut = behind.filter(|next| next.section == place.start.section);
        let limit = cut.map_or(u64::MAX, |next| next.address);
        let at = usize::try_from(place.section).unwrap_or(usize::MAX);
        let (Some(section), Some(budget)) = (sections.get(at), budgets.get_mut(at)) else {
            continue;
        };
        let Some(abi) = section.abi().ok().or(elf.abi()) else { continue };
        let mut ours = Function {
            section: place.section,
            index: place.index,
            version: section.header().version,
            abi,
            marks: Marks::default(),
            content: Content::Rows,
        };
        let start = place.start.address;
        let end = start.saturating_add(place.size.into()).min(limit);
        sweep.begin();
        let function = section.entry(place.index).map(|entry| entry.function());
        if let Some(Ok(function)) = &function {
            ours.marks = Marks {
                signal: function.is_signal_frame(),
                key_b: function.attributes().info.pauth_key_b(),
            };
        }
        match function {
            Some(Ok(function)) if function.num_rows() == 0 => {
                let outermost = function.is_outermost();
                ours.content = if outermost { Content::Outermost } else { Content::Nothing };
                let row = Row { start, end, frame: Frame::OUTERMOST };
                sweep.push(place.start.section, start, end, Some((&ours, Some(&row))));
            }
            Some(Ok(function)) => {
                if !sweep.agrees_all_over(&function, place.start, end, ours.marks, budget) {
                    let evidence = |address, row: &Row| {
                        let place = CodeAddress { address, ..place.start };
                        evidence(lookup.get_or_insert_with(|| Lookup::new(cfi)), &ours, place, row)
                    };
                    walk(&function, limit, budget, &mut repeats, evidence, |start, end, row| {
                        sweep.push(place.start.section, start, end, Some((&ours, row)));
                    });
                }
            }
            _ => sweep.push(place.start.section, start, end, Some((&ours, None))),
        }
        sweep.end(&ours);
    }
    sweep.finish()
}
