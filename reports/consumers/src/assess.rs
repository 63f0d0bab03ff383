//! What a consumer does with a section, compared with the specification at every PC.

mod specification;
mod tally;

use crate::answer::StopKind;
use crate::consumer::{Consumer, Opening, Reader};
use crate::input::Input;
use specification::Specification;
use tally::Tally;

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
    /// It reports an error.
    Reject,
    /// It crashes, when it opens the section or at some PC.
    Crash,
    /// It reads memory outside the section, which decides.
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

/// Counts of functions for which the specification has rows. Each is counted once.
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

/// Counts of bytes of code, by what the consumer finds there.
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
/// The time is linear in the section's size, up to a logarithm. Beyond a number of repeated blocks that is linear in
/// that size, and where too many functions share rows, the answers are undecided.
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
    boundaries: Vec<u64>,
}

impl<'a> Assessor<'a> {
    /// Reads a section.
    #[must_use]
    pub fn new(input: Input<'a>) -> Assessor<'a> {
        let specification = Specification::of(&input);
        let boundaries = specification.boundaries();
        Assessor { input, specification, boundaries }
    }

    /// The same as [`assess`].
    #[must_use]
    pub fn assess(&self, consumer: &dyn Consumer) -> Assessment {
        let page = consumer.page();
        if !page.machines.contains(&self.input.machine) {
            return self.unread(page.name, Verdict::Ignore, "it does not exist for this machine");
        }
        self.assess_opening(page.name, consumer.open(&self.input))
    }

    /// The same for the section of a relocatable object, after relocation.
    #[must_use]
    pub fn assess_object(&self, consumer: &dyn Consumer) -> Assessment {
        let page = consumer.page();
        if !page.machines.contains(&self.input.machine) {
            return self.unread(page.name, Verdict::Ignore, "it does not exist for this machine");
        }
        self.assess_opening(page.name, consumer.open_object(&self.input))
    }

    fn assess_opening(&self, name: &str, opening: Opening<'_>) -> Assessment {
        match opening {
            Opening::Ignore(reason) => self.unread(name, Verdict::Ignore, reason),
            Opening::Reject(reason) => self.unread(name, Verdict::Reject, reason),
            Opening::Crash(reason) => self.unread(name, Verdict::Crash, reason),
            Opening::Undecided(reason) => self.unread(name, Verdict::Undecided, reason),
            Opening::Accept(reader) => self.compare(name, reader.as_ref()),
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

    fn compare(&self, name: &str, reader: &dyn Reader) -> Assessment {
        let places = self.places(reader);
        let mut tally = Tally::new(self.input.machine);
        let mut ranges = places.iter().copied().zip(places.iter().skip(1).copied());
        reader.answers(&places, &mut |answer| {
            if let Some((start, end)) = ranges.next() {
                tally.add(start, end, self.specification.row(start), answer);
            }
        });
        let (functions, bytes, examples) = tally.finish(&self.specification);
        let mut verdict = verdict(&functions, &bytes);
        let mut reason = (verdict == Verdict::Ignore).then(|| nothing_found(&examples));
        if let Some(limit) = self.specification.limit
            && verdict != Verdict::Crash
        {
            verdict = Verdict::Undecided;
            reason = Some(limit.to_owned());
        }
        Assessment { consumer: name.to_owned(), verdict, reason, functions, bytes, examples }
    }

    /// The addresses at which an answer may change, the specification's or the consumer's.
    fn places(&self, reader: &dyn Reader) -> Vec<u64> {
        let mut places = reader.boundaries();
        // Beyond the specification's last function, only the first gap is of interest.
        let end = self.boundaries.last().copied().unwrap_or(0);
        places.retain(|place| *place < end);
        places.extend(&self.boundaries);
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// The worst that happens at any PC.
fn verdict(functions: &Functions, bytes: &Bytes) -> Verdict {
    if bytes.crash > 0 {
        Verdict::Crash
    } else if bytes.other > 0 || bytes.beyond > 0 {
        Verdict::Misread
    } else if bytes.undecided > 0 {
        Verdict::Undecided
    } else if bytes.none > 0 && bytes.same == 0 {
        Verdict::Ignore
    } else if bytes.none > 0 || functions.drop_section > 0 {
        Verdict::Part
    } else {
        Verdict::Accept
    }
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
