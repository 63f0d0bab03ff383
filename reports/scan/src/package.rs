//! Checks the members of a package as they are unpacked.

use std::fmt;
use std::fs::File;
use std::ops::ControlFlow;

use super::piece::{Piece, Visit};
use super::verdict::Verdict;
use sframe_input::archive;
use sframe_input::package::{Content, Member, Unpacker, Visitor};
use sframe_input::repository::Listed;
use sframe_record::{FileName, Package, Record, Status};

/// Checks the members of a package.
pub(super) trait Members {
    /// Checks the members of an archive that is a member.
    fn archive(&self, name: &FileName, members: &mut archive::Members<'_>, visit: Visit<'_>);

    /// Checks an ELF file that is a member.
    fn bytes(&self, name: &FileName, data: &[u8], visit: Visit<'_>);

    /// Whether the scan must end.
    fn is_stopped(&self) -> bool;
}

/// Checks the package called `name`. Hands over one record for each member, in stored order, and one for the package
/// itself if it cannot be read to its end.
pub(super) fn check(
    checker: &dyn Members,
    unpacker: &Unpacker,
    name: &FileName,
    file: &File,
    visit: Visit<'_>,
) {
    members(checker, name, visit, |visitor| unpacker.visit(file, visitor));
}

/// Checks the container image called `name` in the same way.
pub(super) fn check_image(
    checker: &dyn Members,
    unpacker: &Unpacker,
    name: &FileName,
    visit: Visit<'_>,
) {
    members(checker, name, visit, |visitor| unpacker.visit_image(&name.path, visitor));
}

/// Checks a package of a repository in the same way.
pub(super) fn check_listed(
    checker: &dyn Members,
    unpacker: &Unpacker,
    listed: &Listed,
    visit: Visit<'_>,
) {
    let name = FileName::file(listed.address());
    members(checker, &name, visit, |visitor| listed.visit(unpacker, visitor));
}

fn members<E: fmt::Display>(
    checker: &dyn Members,
    name: &FileName,
    visit: Visit<'_>,
    unpack: impl FnOnce(&mut dyn Visitor) -> Result<(), E>,
) {
    let read = unpack(&mut Checking { visit, name, checker });
    if let Err(error) = read {
        visit(Record::because(Status::Unreadable, error.to_string()).named(name).into());
    }
}

/// Checks members as they are unpacked.
struct Checking<'c> {
    visit: Visit<'c>,
    name: &'c FileName,
    checker: &'c dyn Members,
}

impl Visitor for Checking<'_> {
    fn found(&mut self, member: Member<'_>) -> ControlFlow<()> {
        let checker = self.checker;
        let name = FileName { inside: member.name.map(<[u8]>::to_vec), ..self.name.clone() };
        let package = member.package.map(|package| Package::clone(package));
        let in_package = |record| Record { package: package.clone(), ..record };
        let mut visit = |piece: Piece| (self.visit)(piece.map(in_package));
        let verdict = match member.content {
            Content::Archive(mut members) => {
                checker.archive(&name, &mut members, &mut visit);
                None
            }
            Content::Elf(data) => {
                checker.bytes(&name, data, &mut visit);
                None
            }
            Content::LinuxImage => Some(Verdict::linux_image()),
            Content::Other => Some(Status::NotElf.into()),
            Content::Empty => Some(Verdict::empty()),
            Content::Special(kind) => Some(Verdict::because(Status::Special, kind.id())),
            Content::Unreadable(reason) => Some(Verdict::because(Status::Unreadable, reason)),
        };
        if let Some(verdict) = verdict {
            verdict.hand_over(&name, &mut visit);
        }
        match checker.is_stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
