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
    /// The addresses at which the answer may change. Between two of them, it is the same everywhere. Repeated blocks
    /// beyond a limit that is linear in the section's size are left out.
    fn boundaries(&self) -> Vec<u64>;

    /// Gives the answers at addresses in ascending order, without any subtraction.
    fn answers(&self, addresses: &[u64], give: &mut dyn FnMut(Answer));

    /// The answer at one address.
    fn lookup(&self, pc: u64) -> Answer {
        let mut found = Err(NO_FUNCTION);
        self.answers(&[pc], &mut |answer| found = answer);
        found
    }
}

impl Objects {
    /// Whether they include an object, which is a module of the kernel or not.
    #[must_use]
    pub const fn include(self, is_module: bool) -> bool {
        match self {
            Objects::None => false,
            Objects::Inputs => true,
            Objects::Modules => is_module,
        }
    }
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
