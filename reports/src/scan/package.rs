//! What one worker does with a package: its members are checked as they are unpacked.

use std::fs::File;
use std::ops::Range;

use super::check::{CheckOptions, check_archive, check_bytes};
use crate::input::package::{self, Content, Member};
use crate::report::{FileName, FileReport, Outcome};

/// Checks all that is in the package called `name`: one report for each member, in stored order; one
/// for the package itself where it is not read to its end.
pub(super) fn check(name: &FileName, file: &File, options: &CheckOptions) -> Vec<FileReport> {
    let mut found = Found::default();
    let read = package::visit(file, &options.limits, &mut |member| {
        found.add(name, member, options);
    });
    let mut reports = found.reports(name);
    if let Err(reason) = read {
        let outcome = Outcome::Unreadable(reason);
        reports.push(FileReport { name: name.clone(), outcome });
    }
    reports
}

/// What has become of members. Their names are made when the last decompressor is gone: small pieces of
/// memory that stay, between large ones that come and go, would leave a hole for each member.
#[derive(Default)]
struct Found {
    names: Vec<u8>,
    members: Vec<(Option<Range<usize>>, Became)>,
}

enum Became {
    File(Outcome),
    Archive(Vec<FileReport>),
}

impl Found {
    fn add(&mut self, package: &FileName, member: Member<'_>, options: &CheckOptions) {
        let name = || FileName { inside: member.name.map(<[u8]>::to_vec), ..package.clone() };
        let result = match member.content {
            Content::Archive(data) => Became::Archive(check_archive(&name(), data, options)),
            Content::Elf(data) => Became::File(check_bytes(&name(), data, options)),
            Content::Other => Became::File(Outcome::NotElf),
            Content::Empty => Became::File(Outcome::Empty),
            Content::Special(kind) => Became::File(Outcome::Special(kind)),
            Content::Unreadable(reason) => Became::File(Outcome::Unreadable(reason)),
        };
        let range = member.name.map(|name| {
            let start = self.names.len();
            self.names.extend(name);
            start..self.names.len()
        });
        self.members.push((range, result));
    }

    fn reports(self, package: &FileName) -> Vec<FileReport> {
        let mut reports = Vec::with_capacity(self.members.len());
        for (range, result) in self.members {
            match result {
                Became::Archive(members) => reports.extend(members),
                Became::File(outcome) => {
                    let inside = range.and_then(|range| self.names.get(range)).map(<[u8]>::to_vec);
                    let name = FileName { inside, ..package.clone() };
                    reports.push(FileReport { name, outcome });
                }
            }
        }
        reports
    }
}
