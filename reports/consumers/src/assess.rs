//! What a consumer does with a section, compared with the specification at every PC.

mod specification;
mod tally;

use sframe_validator::Abi;

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
    /// It does without the section.
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
    /// Why the section is not used, or why that is undecided.
    pub reason: Option<String>,
    /// Functions.
    pub functions: Functions,
    /// Bytes of code.
    pub bytes: Bytes,
    /// The first function of each kind with a fault.
    pub examples: Vec<Example>,
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
    let page = consumer.page();
    let specification = Specification::of(input);
    let unread = |verdict, reason: &str| {
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
        let consumer = page.name.to_owned();
        let reason = Some(reason.to_owned());
        Assessment { consumer, verdict, reason, functions, bytes, examples: Vec::new() }
    };
    if !page.machines.contains(&input.machine) {
        return unread(Verdict::Ignore, "it does not exist for this machine");
    }
    match consumer.open(input) {
        Opening::Ignore(reason) => unread(Verdict::Ignore, reason),
        Opening::Reject(reason) => unread(Verdict::Reject, reason),
        Opening::Crash(reason) => unread(Verdict::Crash, reason),
        Opening::Undecided(reason) => unread(Verdict::Undecided, reason),
        Opening::Accept(reader) => {
            compare(input.machine, page.name, &specification, reader.as_ref())
        }
    }
}

fn compare(
    machine: Abi,
    name: &str,
    specification: &Specification,
    reader: &dyn Reader,
) -> Assessment {
    let mut places = specification.boundaries();
    // Beyond the specification's last function, only the first gap is of interest.
    let end = places.last().copied().unwrap_or(0);
    places.extend(reader.boundaries().into_iter().filter(|place| *place < end));
    places.sort_unstable();
    places.dedup();
    let answers = reader.answers(&places);
    let ends = places.iter().skip(1).copied();
    let mut tally = Tally::new(machine);
    for ((start, end), answer) in places.iter().copied().zip(ends).zip(answers) {
        tally.add(start, end, specification.row(start), answer);
    }
    let (functions, bytes, examples) = tally.finish(specification);
    let mut verdict = verdict(&functions, &bytes);
    let mut reason = None;
    if specification.is_limited && verdict != Verdict::Crash {
        verdict = Verdict::Undecided;
        reason = Some("too many functions share rows, or too many blocks repeat".to_owned());
    }
    Assessment { consumer: name.to_owned(), verdict, reason, functions, bytes, examples }
}

/// The worst that happens at any PC.
fn verdict(functions: &Functions, bytes: &Bytes) -> Verdict {
    if bytes.crash > 0 {
        Verdict::Crash
    } else if bytes.other > 0 || bytes.beyond > 0 {
        Verdict::Misread
    } else if bytes.undecided > 0 {
        Verdict::Undecided
    } else if bytes.none > 0 || functions.drop_section > 0 {
        Verdict::Part
    } else {
        Verdict::Accept
    }
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
