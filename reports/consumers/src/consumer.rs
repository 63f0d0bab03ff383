//! A consumer, and a section that it has opened.

use std::fmt;

use crate::answer::{Answer, Stop, StopKind};
use crate::input::Input;
use crate::page::Page;

/// No function covers the PC.
pub(crate) const NO_FUNCTION: Stop = Stop::nothing("no function covers it");

/// A program that reads SFrame sections.
pub trait Consumer: Sync {
    /// What is known about it.
    fn page(&self) -> &'static Page;

    /// What it does with a section. The machine is not tested: see [`Page::machines`].
    fn open<'a>(&self, input: &Input<'a>) -> Opening<'a>;

    /// Which relocatable objects it reads.
    fn objects(&self) -> Objects {
        Objects::None
    }

    /// What it does with the section of a relocatable object, after relocation.
    fn open_object<'a>(&self, input: &Input<'a>) -> Opening<'a> {
        self.open(input)
    }
}

/// Relocatable objects that a consumer reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objects {
    /// None: it sees what a linker has made of them.
    None,
    /// Inputs of a link.
    Inputs,
    /// Modules of the Linux kernel.
    Modules,
}

/// A section that a consumer has accepted.
pub trait Reader {
    /// Where answers change.
    fn places(&self) -> Places;

    /// Looks up any number of PCs.
    fn lookups(&self) -> Box<dyn Lookups + '_>;

    /// The answer at one PC.
    fn lookup(&self, pc: u64) -> Answer {
        self.lookups().answer(pc)
    }
}

/// The addresses at which a consumer's answer may change.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The addresses at which functions and rows begin and end, in any order. Between two places, answers change with the period
    /// of [`Lookups::period`] only.
    pub list: Vec<u64>,
    /// Other addresses, where nothing begins or ends, such as the ends of the text.
    pub others: Vec<u64>,
    /// Whether the consumer keeps 32 bits of an address, so that answers change 4 GiB after an address, too.
    pub wraps: bool,
    /// Whether all rows were read. Of functions that share rows, too many may have to be read.
    pub is_complete: bool,
}

/// Looks up PCs, without any subtraction. Lookups are fast if a PC is in the same function as the one before.
pub trait Lookups {
    /// The answer at a PC.
    fn answer(&mut self, pc: u64) -> Answer;

    /// The number of PCs after which the answer at a PC repeats, up to the next of the [`Places`]; 1 if it stays the same.
    fn period(&mut self, pc: u64) -> u64;
}

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

impl fmt::Debug for dyn Consumer {
    /// Writes the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.page().name)
    }
}
