//! What one worker does with a package: its members are checked as they are unpacked.

use std::fs::File;

use super::check::{CheckOptions, check_archive, check_bytes};
use crate::input::package::{self, Content, Member};
use crate::report::{FileName, FileReport, Outcome};

/// Checks all that is in the package called `name`: one report for each member, in stored order; one
/// for the package itself where it is not read to its end.
pub(super) fn check(name: &FileName, file: &File, options: &CheckOptions) -> Vec<FileReport> {
    let mut reports = Vec::new();
    let read = package::visit(file, &options.limits, &mut |member| {
        check_member(name, member, options, &mut reports);
    });
    if let Err(reason) = read {
        let outcome = Outcome::Unreadable(reason);
        reports.push(FileReport { name: name.clone(), outcome });
    }
    reports
}

fn check_member(
    package: &FileName,
    member: Member<'_>,
    options: &CheckOptions,
    reports: &mut Vec<FileReport>,
) {
    let name = FileName { inside: member.name, ..package.clone() };
    let outcome = match member.content {
        Content::Archive(data) => return reports.extend(check_archive(&name, data, options)),
        Content::Elf(data) => check_bytes(&name, data, options),
        Content::Other => Outcome::NotElf,
        Content::Empty => Outcome::Empty,
        Content::Special(kind) => Outcome::Special(kind),
        Content::Unreadable(reason) => Outcome::Unreadable(reason),
    };
    reports.push(FileReport { name, outcome });
}
