//! A consumer's answers to lookups.

use sframe_validator::unwind::Frame;

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
