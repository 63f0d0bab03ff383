//! A consumer's answers: to a section, and to a PC.

use std::fmt;

use sframe_validator::unwind::Frame;

use crate::consumer::Reader;

/// What a consumer does when it is given a section.
pub enum Opening<'a> {
    /// It uses the section.
    Accept(Box<dyn Reader + 'a>),
    /// It does without the section, and says nothing.
    Ignore(&'static str),
    /// It reports an error.
    Reject(&'static str),
    /// It crashes.
    Crash(&'static str),
    /// It reads memory outside the section, which decides.
    Undecided(&'static str),
}

impl fmt::Debug for Opening<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, reason) = match self {
            Opening::Accept(_) => return f.write_str("Accept"),
            Opening::Ignore(reason) => ("Ignore", reason),
            Opening::Reject(reason) => ("Reject", reason),
            Opening::Crash(reason) => ("Crash", reason),
            Opening::Undecided(reason) => ("Undecided", reason),
        };
        f.debug_tuple(name).field(reason).finish()
    }
}

/// The answer to a lookup.
pub type Answer = Result<Found, Stop>;

/// A row that a consumer has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The index of the function in the table.
    pub function: u32,
    /// The address at which the consumer believes that the function starts.
    pub start: u64,
    /// The row's meaning to the consumer.
    pub frame: Frame,
}

/// Why a consumer has no row for a PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The consequence.
    pub kind: StopKind,
    /// The reason.
    pub reason: &'static str,
}

/// What a consumer does without a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopKind {
    /// It finds no function or no row. [`Page::without_row`](crate::Page) says what it does then.
    Nothing,
    /// It finds an error in the function or the row, and goes on as without a row.
    Error,
    /// It ends the walk.
    EndsWalk,
    /// It no longer uses the whole section.
    DropsSection,
    /// It crashes.
    Crash,
    /// It reads memory outside the section, which decides.
    Undecided,
}

impl Stop {
    pub(crate) const fn nothing(reason: &'static str) -> Stop {
        Stop { kind: StopKind::Nothing, reason }
    }

    pub(crate) const fn error(reason: &'static str) -> Stop {
        Stop { kind: StopKind::Error, reason }
    }

    pub(crate) const fn ends_walk(reason: &'static str) -> Stop {
        Stop { kind: StopKind::EndsWalk, reason }
    }

    pub(crate) const fn drops_section(reason: &'static str) -> Stop {
        Stop { kind: StopKind::DropsSection, reason }
    }

    pub(crate) const fn crash(reason: &'static str) -> Stop {
        Stop { kind: StopKind::Crash, reason }
    }

    pub(crate) const fn undecided(reason: &'static str) -> Stop {
        Stop { kind: StopKind::Undecided, reason }
    }
}

impl<'a> From<Stop> for Opening<'a> {
    /// How a header ends the opening of a section.
    fn from(stop: Stop) -> Opening<'a> {
        match stop.kind {
            StopKind::Nothing | StopKind::EndsWalk | StopKind::DropsSection => {
                Opening::Ignore(stop.reason)
            }
            StopKind::Error => Opening::Reject(stop.reason),
            StopKind::Crash => Opening::Crash(stop.reason),
            StopKind::Undecided => Opening::Undecided(stop.reason),
        }
    }
}
