//! What one worker does with a package: its members are checked as they are unpacked.

use std::fs::File;
use std::ops::ControlFlow;

use super::check::{Checker, Found, Verdict};
use crate::report::{FileName, FileReport, Outcome};
use sframe_input::package::{self, Content, Member, Visitor};
use sframe_input::repository::Listed;

/// Checks all that is in the package called `name`: one report for each member, in stored order; one
/// for the package itself where it is not read to its end.
pub(super) fn check(checker: &Checker<'_>, name: &FileName, file: &File, found: Found<'_>) {
    let limits = &checker.options.limits;
    members(checker, name, found, |visitor| package::visit(file, limits, visitor));
}

/// Checks all that is in the container image called `name`, in the same way.
pub(super) fn check_image(checker: &Checker<'_>, name: &FileName, found: Found<'_>) {
    let limits = &checker.options.limits;
    members(checker, name, found, |visitor| package::visit_image(&name.path, limits, visitor));
}

/// Checks all that is in a package of a repository, in the same way.
pub(super) fn check_listed(checker: &Checker<'_>, listed: &Listed, found: Found<'_>) {
    let limits = &checker.options.limits;
    let name = FileName::file(listed.address());
    members(checker, &name, found, |visitor| listed.visit(limits, visitor));
}

fn members(
    checker: &Checker<'_>,
    name: &FileName,
    found: Found<'_>,
    visit: impl FnOnce(&mut dyn Visitor) -> Result<(), String>,
) {
    let read = visit(&mut Checking { found, name, checker });
    if let Err(reason) = read {
        found(FileReport::new(name.clone(), Outcome::Unreadable(reason)));
    }
}

/// Checks members as they are unpacked.
struct Checking<'c> {
    found: Found<'c>,
    name: &'c FileName,
    checker: &'c Checker<'c>,
}

impl Visitor for Checking<'_> {
    fn found(&mut self, member: Member<'_>) -> ControlFlow<()> {
        let checker = self.checker;
        let name = FileName { inside: member.name.map(<[u8]>::to_vec), ..self.name.clone() };
        let mut found =
            |report| (self.found)(FileReport { package: member.package.cloned(), ..report });
        let verdict = match member.content {
            Content::Archive(mut members) => {
                checker.archive(&name, &mut members, None, &mut found);
                None
            }
            Content::Elf(data) => Some(checker.bytes(&name, data, None)),
            Content::Other => Some(Outcome::NotElf.into()),
            Content::Empty => Some(Outcome::Empty.into()),
            Content::Special(kind) => Some(Outcome::Special(kind).into()),
            Content::Unreadable(reason) => Some(Outcome::Unreadable(reason).into()),
        };
        if let Some(verdict) = verdict {
            found(Verdict::named(verdict, name));
        }
        match checker.options.is_stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
