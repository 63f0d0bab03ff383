//! What a consumer does with a section, compared with the specification at every PC.

mod places;
mod specification;
mod tally;

use crate::answer::{Stop, StopKind};
use crate::consumer::{Consumer, Opening, Reader};
use crate::input::Input;
use crate::page::Page;
use crate::rows::Work;
use places::{Segment, segments};
use specification::Specification;
use tally::{Counts, Tally};

/// What a consumer makes of a whole section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It finds the specification's row at every PC.
    Accept,
    /// It does without the section: it does not use it, or finds no row in it.
    Ignore,
    /// It finds the specification's row at some PCs only, and no other row.
    Part,
    /// It finds another row at some PCs.
    Misread,
    /// It reports an error: about the section, or about a function that the specification cannot read either.
    Reject,
    /// It crashes, when it opens the section or at some PC.
    Crash,
    /// It reads memory outside the section, which decides; or the specification cannot read a part of the section, so that
    /// nothing is right or wrong there.
    Undecided,
}

/// A consumer's verdict on a section, with counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// The consumer's name.
    pub consumer: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Why the section is not used, or why that is undecided. There is one for each section that is ignored.
    pub reason: Option<String>,
    /// Functions.
    pub functions: Functions,
    /// Bytes of code.
    pub bytes: Bytes,
    /// The first function with each kind of fault. A function may have several kinds; it is counted by the worst one.
    pub examples: Vec<Example>,
}

impl Assessment {
    /// The assessment of a section when it cannot be decided what the consumer would see.
    #[must_use]
    pub fn undecided(consumer: &dyn Consumer, reason: &str) -> Assessment {
        Assessment {
            consumer: consumer.page().name.to_owned(),
            verdict: Verdict::Undecided,
            reason: Some(reason.to_owned()),
            functions: Functions::default(),
            bytes: Bytes::default(),
            examples: Vec::new(),
        }
    }
}

/// Counts of functions for which the specification has rows, or which it cannot read. Each is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// With the specification's row at every PC.
    pub found: u64,
    /// With another row at some PC.
    pub misread: u64,
    /// Without a row at any PC, because the search does not arrive there.
    pub unreachable: u64,
    /// Without a row at some PC, because of an error or a gap.
    pub lost: u64,
    /// At which the consumer stops using the whole section.
    pub drop_section: u64,
    /// At which the consumer crashes.
    pub crash: u64,
    /// Undecided.
    pub undecided: u64,
}

/// Counts of bytes of code, by what the consumer finds there. Code of functions that the specification cannot read is
/// undecided, unless the consumer crashes, reports an error, or drops the section there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// The specification's row.
    pub same: u64,
    /// Another row.
    pub other: u64,
    /// No row: the walk ends, or goes on without SFrame.
    pub none: u64,
    /// A crash.
    pub crash: u64,
    /// Undecided.
    pub undecided: u64,
    /// A row where the specification has none. These bytes are in no other count.
    pub beyond: u64,
}

/// What happens to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// See [`Functions::misread`].
    Misread,
    /// See [`Functions::unreachable`].
    Unreachable,
    /// See [`Functions::lost`].
    Lost,
    /// See [`Functions::drop_section`].
    DropSection,
    /// See [`Functions::crash`].
    Crash,
    /// See [`Functions::undecided`].
    Undecided,
    /// See [`Bytes::beyond`]. No function is counted for it.
    Beyond,
}

/// A function to which something happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// What happens.
    pub kind: Kind,
    /// The function's index in the table.
    pub function: u32,
    /// The address of its first byte.
    pub start: u64,
    /// The first PC at which it happens.
    pub pc: u64,
    /// The reason, or both rows.
    pub reason: String,
}

/// Compares a consumer's answers with the specification's at every PC.
///
/// The time is linear in the section's size, up to a logarithm. Where rows repeat, the PCs of one period stand for all. Beyond a
/// number of such PCs that is linear in the section's size, and where too many functions share rows, the answers are undecided.
#[must_use]
pub fn assess(input: &Input<'_>, consumer: &dyn Consumer) -> Assessment {
    Assessor::new(*input).assess(consumer)
}

/// The specification's rows of a section, which consumers are compared with.
#[derive(Debug)]
pub struct Assessor<'a> {
    input: Input<'a>,
    specification: Specification,
    /// The addresses at which the specification's row changes.
    places: Vec<u64>,
}

/// Repeated blocks beyond the limit are not compared.
const REPEATED: &str = "too many blocks repeat to compare them all";

impl<'a> Assessor<'a> {
    /// Reads a section.
    #[must_use]
    pub fn new(input: Input<'a>) -> Assessor<'a> {
        let specification = Specification::of(&input);
        let places = specification.places();
        Assessor { input, specification, places }
    }

    /// Assesses a consumer, as [`assess`] does.
    #[must_use]
    pub fn assess(&self, consumer: &dyn Consumer) -> Assessment {
        self.assess_by(consumer, |input| consumer.open(input))
    }

    /// Assesses a consumer of the section of a relocatable object, after relocation.
    #[must_use]
    pub fn assess_object(&self, consumer: &dyn Consumer) -> Assessment {
        self.assess_by(consumer, |input| consumer.open_object(input))
    }

    fn assess_by<'i>(
        &'i self,
        consumer: &dyn Consumer,
        open: impl FnOnce(&Input<'i>) -> Opening<'i>,
    ) -> Assessment {
        let page = consumer.page();
        if !page.machines.contains(&self.input.machine) {
            return self.unread(page.name, Verdict::Ignore, "it does not exist for this machine");
        }
        match open(&self.input) {
            Opening::Ignore(reason) => self.unread(page.name, Verdict::Ignore, reason),
            Opening::Reject(reason) => self.unread(page.name, Verdict::Reject, reason),
            Opening::Crash(reason) => self.unread(page.name, Verdict::Crash, reason),
            Opening::Undecided(reason) => self.unread(page.name, Verdict::Undecided, reason),
            Opening::Accept(reader) => self.compare(page, reader.as_ref()),
        }
    }

    /// A section that the consumer does not use.
    fn unread(&self, name: &str, verdict: Verdict, reason: &str) -> Assessment {
        let specification = &self.specification;
        let (count, covered) = (specification.functions().len() as u64, specification.covered());
        let (functions, bytes) = (Functions::default(), Bytes::default());
        let (functions, bytes) = match verdict {
            Verdict::Crash => {
                (Functions { crash: count, ..functions }, Bytes { crash: covered, ..bytes })
            }
            Verdict::Undecided => {
                (Functions { undecided: count, ..functions }, Bytes { undecided: covered, ..bytes })
            }
            _ => (Functions { unreachable: count, ..functions }, Bytes { none: covered, ..bytes }),
        };
        let (consumer, reason) = (name.to_owned(), Some(reason.to_owned()));
        Assessment { consumer, verdict, reason, functions, bytes, examples: Vec::new() }
    }

    fn compare(&self, page: &Page, reader: &dyn Reader) -> Assessment {
        let segments = segments(reader.places(), &self.places, self.ends_at(), self.work());
        let mut limit = self.specification.limit.or(segments.limit);
        let mut tally = Tally::new(self.input.machine, page);
        let (mut lookups, work) = (reader.lookups(), self.work());
        let mut expected = self.specification.lookups();
        for segment in segments.iter() {
            let period = lookups.period(segment.start);
            let period = least_common_multiple(expected.period(segment.start), period);
            let mut add = |pc, count, answer| match expected.at(pc) {
                None if self.specification.is_incomplete => tally.add_unknown(count, answer),
                at => tally.add(pc, count, at, answer),
            };
            if period > 1 && !work.take_all(period.min(segment.length)) {
                limit = limit.or(Some(REPEATED));
                add(segment.start, segment.length, Err(Stop::undecided(REPEATED)));
                continue;
            }
            let all = samples(&segment, period);
            all.for_each(|(pc, count)| add(pc, count, lookups.answer(pc)));
        }
        self.concluded(page, tally, limit)
    }

    /// Enough for a section in which no rows are shared.
    fn work(&self) -> Work {
        Work::of(self.input.bytes.len())
    }

    /// The first address that is not compared. Beyond the specification's last function, rows are of no interest, unless it is
    /// not known which function is the last one.
    fn ends_at(&self) -> Option<u64> {
        (!self.specification.is_incomplete).then(|| self.specification.end())
    }

    fn concluded(&self, page: &Page, tally: Tally, limit: Option<&str>) -> Assessment {
        let counts = tally.finish(&self.specification);
        let mut verdict = counts.verdict();
        let Counts { functions, bytes, examples, .. } = counts;
        let mut reason = (verdict == Verdict::Ignore).then(|| nothing_found(&examples));
        let unreadable = self.specification.unreadable.as_ref();
        let is_certain = match verdict {
            Verdict::Accept => unreadable.is_none(),
            Verdict::Part | Verdict::Ignore => !self.specification.is_incomplete,
            _ => true,
        };
        if !is_certain {
            verdict = Verdict::Undecided;
            reason = unreadable.cloned();
        }
        if let Some(limit) = limit
            && verdict != Verdict::Crash
        {
            verdict = Verdict::Undecided;
            reason = Some(limit.to_owned());
        }
        let consumer = page.name.to_owned();
        Assessment { consumer, verdict, reason, functions, bytes, examples }
    }
}

/// The PCs that stand for all of a segment, and for how many.
fn samples(segment: &Segment, period: u64) -> impl Iterator<Item = (u64, u64)> + use<> {
    let Segment { start, length } = *segment;
    let number = move |offset: u64| (length - 1 - offset) / period + 1;
    (0..period.min(length)).map(move |offset| (start + offset, number(offset)))
}

/// Periods are at most 256.
fn least_common_multiple(first: u64, second: u64) -> u64 {
    let (mut divisor, mut rest) = (first.max(1), second.max(1));
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    first.max(1) / divisor * second.max(1)
}

/// Why a section is ignored that the consumer opens.
fn nothing_found(examples: &[Example]) -> String {
    let first = examples.first().map_or("", |example| &*example.reason);
    format!("it opens the section and finds no row: {first}")
}

/// The kind of fault that an answer without a row is.
pub(crate) const fn kind_of(kind: StopKind) -> Kind {
    match kind {
        StopKind::Nothing => Kind::Unreachable,
        StopKind::Error | StopKind::EndsWalk => Kind::Lost,
        StopKind::DropsSection => Kind::DropSection,
        StopKind::Crash => Kind::Crash,
        StopKind::Undecided => Kind::Undecided,
    }
}
