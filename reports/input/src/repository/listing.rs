//! Turns what indexes list into the entries of a repository: each package once, and each problem 20 times.

use std::io;
use std::sync::mpsc::SyncSender;

use sframe_record::numbers::grouped;

use super::base::Base;
use super::problems::{Bearer, Problem, Problems};
use super::seen::{Novelty, Seen};
use super::{Entry, Listed};
use crate::plain_error;

/// The maximum number of packages in an index. Debian's largest has about 70,000.
const PACKAGES: u64 = 1_000_000;

/// The entries of a repository, which another thread receives.
pub(super) struct Listing<'l> {
    base: &'l Base,
    entries: &'l SyncSender<Entry>,
    seen: Seen,
    problems: Problems,
    /// The number of packages that the current index may still list.
    left: u64,
}

impl<'l> Listing<'l> {
    pub(super) fn new(base: &'l Base, entries: &'l SyncSender<Entry>) -> Listing<'l> {
        let (seen, problems) = (Seen::default(), Problems::default());
        Listing { base, entries, seen, problems, left: PACKAGES }
    }

    /// Begins with another index.
    pub(super) const fn next_index(&mut self) {
        self.left = PACKAGES;
    }

    /// Adds a package of an index, which may not be selected. Returns whether the next one is wanted.
    pub(super) fn package(&mut self, index: &str, listed: Result<Option<Listed>, Problem>) -> bool {
        let Some(left) = self.left.checked_sub(1) else {
            let most = grouped(PACKAGES);
            let why =
                format!("it lists more than {most} packages, the limit: others are not checked");
            self.unreadable(index, why);
            return false;
        };
        self.left = left;
        match listed.and_then(|listed| self.unseen(listed)) {
            Ok(None) => true,
            Ok(Some(listed)) => self.entries.send(Entry::Package(listed)).is_ok(),
            Err(problem) => {
                !self.problems.count(Bearer::Package, &problem.why)
                    || self.unreadable(index, problem.to_string())
            }
        }
    }

    /// The package, if it was not listed before.
    fn unseen(&mut self, listed: Option<Listed>) -> Result<Option<Listed>, Problem> {
        let Some(listed) = listed else { return Ok(None) };
        match self.seen.add(&listed.path, listed.size, &listed.checksum) {
            Novelty::New => Ok(Some(listed)),
            Novelty::Known => Ok(None),
            Novelty::Contradicts => Err(Problem {
                about: sframe_record::text::printable(&listed.path),
                why: "it is listed more than once, with different sizes or checksums".to_owned(),
            }),
        }
    }

    /// Adds the reason why an index, or a part of it, cannot be read. Returns whether the next entry is wanted.
    fn unreadable(&self, index: &str, why: String) -> bool {
        self.entries.send(Entry::Unreadable(self.base.address(index), why)).is_ok()
    }

    /// Adds an error that ended an index.
    pub(super) fn failed(&mut self, index: &str, error: &io::Error) {
        let why = plain_error(error);
        if self.problems.count(Bearer::Index, &why) {
            self.unreadable(index, why);
        }
    }

    /// Ends the list: adds the number of indexes and packages with problems that were not reported.
    pub(super) fn finish(self) {
        for why in self.problems.rest() {
            self.unreadable("", why);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn an_index_lists_a_million_packages() {
        let base = Base::new(".".as_ref()).expect("a folder");
        let (sender, entries) = sync_channel(2);
        let mut listing = Listing::new(&base, &sender);
        assert!((0..PACKAGES).all(|_| listing.package("Packages", Ok(None))));
        assert!(!listing.package("Packages", Ok(None)));
        listing.next_index();
        assert!(listing.package("Packages", Ok(None)));
        listing.finish();
        drop(sender);
        let why = entries.iter().map(|entry| match entry {
            Entry::Unreadable(_, why) => why,
            Entry::Package(_) => String::new(),
        });
        assert_eq!(
            why.collect::<Vec<_>>(),
            ["it lists more than 1,000,000 packages, the limit: others are not checked"]
        );
    }
}
