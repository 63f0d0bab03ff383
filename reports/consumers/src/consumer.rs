//! A consumer, and a section that it has opened.

use std::fmt;

use crate::answer::{Answer, Opening};
use crate::input::Input;
use crate::page::Page;

/// A program that reads SFrame sections.
pub trait Consumer: Sync {
    /// What is known about it.
    fn page(&self) -> &'static Page;

    /// What it does with a section. The machine is not tested: see [`Page::machines`].
    fn open<'a>(&self, input: &Input<'a>) -> Opening<'a>;
}

/// A section that a consumer has accepted.
pub trait Reader {
    /// The addresses at which the answer may change. Between two of them, it is the same everywhere. Repeated blocks
    /// beyond a limit that is linear in the section's size are left out.
    fn boundaries(&self) -> Vec<u64>;

    /// The answers at addresses in ascending order, without any subtraction.
    fn answers(&self, addresses: &[u64]) -> Vec<Answer>;

    /// The answer at one address.
    fn lookup(&self, pc: u64) -> Answer {
        let mut answers = self.answers(&[pc]);
        answers.pop().unwrap_or(Err(crate::table::NO_FUNCTION))
    }
}

impl fmt::Debug for dyn Consumer {
    /// Writes the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.page().name)
    }
}
