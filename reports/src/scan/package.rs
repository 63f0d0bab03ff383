//! What one worker does with a package: its members are checked as they are unpacked.

use std::fs::File;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use super::check::{Checker, Verdict};
use crate::report::{FileName, FileReport, Outcome};
use sframe_input::PackageIdentity;
use sframe_input::package::{self, Content, Member, Visitor};
use sframe_input::repository::Listed;

/// Checks all that is in the package called `name`: one report for each member, in stored order; one
/// for the package itself where it is not read to its end.
pub(super) fn check(checker: &Checker<'_>, name: &FileName, file: &File) -> Vec<FileReport> {
    let limits = &checker.options.limits;
    members(checker, name, |visitor| package::visit(file, limits, visitor))
}

/// Checks all that is in the container image called `name`, in the same way.
pub(super) fn check_image(checker: &Checker<'_>, name: &FileName) -> Vec<FileReport> {
    let limits = &checker.options.limits;
    members(checker, name, |visitor| package::visit_image(&name.path, limits, visitor))
}

/// Checks all that is in a package of a repository, in the same way.
pub(super) fn check_listed(checker: &Checker<'_>, listed: &Listed) -> Vec<FileReport> {
    let limits = &checker.options.limits;
    members(checker, &FileName::file(listed.address()), |visitor| listed.visit(limits, visitor))
}

fn members(
    checker: &Checker<'_>,
    name: &FileName,
    visit: impl FnOnce(&mut dyn Visitor) -> Result<(), String>,
) -> Vec<FileReport> {
    let mut checking = Checking { found: Found::default(), name, checker };
    let read = visit(&mut checking);
    let found = checking.found;
    let mut reports = found.reports(name);
    if let Err(reason) = read {
        reports.push(FileReport::new(name.clone(), Outcome::Unreadable(reason)));
    }
    reports
}

/// Checks members as they are unpacked.
struct Checking<'c> {
    found: Found,
    name: &'c FileName,
    checker: &'c Checker<'c>,
}

impl Visitor for Checking<'_> {
    fn found(&mut self, member: Member<'_>) -> ControlFlow<()> {
        self.found.add(self.name, member, self.checker);
        match self.checker.options.is_stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// What has become of members. Their names are made when the last decompressor is gone: small pieces of
/// memory that stay, between large ones that come and go, would leave a hole for each member.
#[derive(Default)]
struct Found {
    names: Vec<u8>,
    members: Vec<FoundMember>,
}

struct FoundMember {
    name: Option<Range<usize>>,
    package: Option<Arc<PackageIdentity>>,
    became: Became,
}

enum Became {
    File(Verdict),
    Archive(Vec<FileReport>),
}

impl Found {
    fn add(&mut self, package: &FileName, member: Member<'_>, checker: &Checker<'_>) {
        let name = || FileName { inside: member.name.map(<[u8]>::to_vec), ..package.clone() };
        let became = match member.content {
            Content::Archive(data) => Became::Archive(checker.archive(&name(), data, None)),
            Content::Elf(data) => Became::File(checker.bytes(&name(), data, None)),
            Content::Other => Became::File(Outcome::NotElf.into()),
            Content::Empty => Became::File(Outcome::Empty.into()),
            Content::Special(kind) => Became::File(Outcome::Special(kind).into()),
            Content::Unreadable(reason) => Became::File(Outcome::Unreadable(reason).into()),
        };
        let name = member.name.map(|name| {
            let start = self.names.len();
            self.names.extend(name);
            start..self.names.len()
        });
        self.members.push(FoundMember { name, package: member.package.cloned(), became });
    }

    fn reports(self, file: &FileName) -> Vec<FileReport> {
        let mut reports = Vec::with_capacity(self.members.len());
        for FoundMember { name, package, became } in self.members {
            let of_package = |report| FileReport { package: package.clone(), ..report };
            match became {
                Became::Archive(members) => reports.extend(members.into_iter().map(of_package)),
                Became::File(verdict) => {
                    let inside = name.and_then(|range| self.names.get(range)).map(<[u8]>::to_vec);
                    let name = FileName { inside, ..file.clone() };
                    reports.push(of_package(verdict.named(name)));
                }
            }
        }
        reports
    }
}
