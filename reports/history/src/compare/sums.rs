//! The sums over all files, and the order in which changes are listed.

use std::collections::BTreeMap;

use super::When;
use super::coverage;
use super::kept::File;
use super::names::{self, Versions};
use super::outcome::{Absence, Context, Outcome, file_name};
use super::strings::Strings;
use crate::changes::{
    Became, Change, Changes, CoverageVerdict, Described, FORMAT, FileChange, Matched, MissingFiles,
    PackageChange, ProducerChange, RuleChange, Scan, SectionChange, SeverityCounts, Share, Summary,
};
use sframe_record::numbers::{counted, grouped};
use sframe_record::{Severity, Status};

/// The number of example files for a change of producers.
const EXAMPLES: usize = 3;
/// The maximum number of files with changes that are listed, worst first. Others are counted.
pub(super) const MOST_FILES: usize = 50_000;
/// The maximum number of rules that are counted separately, because each file of a hostile report can have its own.
pub(super) const MOST_RULES: usize = 10_000;
/// The name of the rules beyond, taken together.
const OTHER_RULES: &str = "other rules";

/// Sums that grow as files are added.
pub(super) struct Sums<'s> {
    strings: &'s Strings,
    /// Only one of the scans looked for lints, as far as known.
    lints_in_one: bool,
    summary: Summary,
    rules: BTreeMap<(Severity, String), RuleChange>,
    /// The files with changes; the worst of them, once there are too many.
    files: Vec<FileChange>,
    /// The number of files with changes that were dropped.
    more_files: u64,
    is_worse: bool,
    has_undecided: bool,
    packages: BTreeMap<String, Package>,
    /// The files in no package.
    loose: Missing,
    /// Changes of sections, by their versions in both scans.
    sections: BTreeMap<(String, String), Sections>,
    /// Changes of producers, by kind and names in both scans.
    producers: ByProducers,
}

#[derive(Default)]
struct Sections {
    files: Files,
    old_bytes: u64,
    new_bytes: u64,
}

/// The files of a package in the old scan, and those of them that the new scan does not have.
#[derive(Default)]
struct Missing {
    all: u64,
    files: u64,
    findings: SeverityCounts,
}

#[derive(Default)]
struct Package {
    changed: u64,
    missing: Missing,
    old: Described,
    new: Described,
    shares: [Share; 2],
    /// Whether a scan does not know how much of a file has entries.
    unknown: bool,
}

impl Package {
    /// Adds a file of the scan `when` to the share of code with entries.
    fn share(&mut self, file: &File, when: When) {
        let (described, undecided) = match (file.status, &file.coverage) {
            (Status::NotElf | Status::Special | Status::Archive | Status::Unsupported, _) => return,
            (Status::NoSection, _) => (0, 0),
            (Status::Checked, Some(coverage)) => {
                (coverage.described_bytes, coverage.undecided_bytes)
            }
            (Status::Checked, None) | (Status::Unreadable | Status::Crashed, _) => {
                self.unknown = true;
                return;
            }
        };
        let [old, new] = &mut self.shares;
        let share = if when == When::Old { old } else { new };
        share.code_bytes = share.code_bytes.saturating_add(file.code_bytes);
        share.described_bytes = share.described_bytes.saturating_add(described);
        share.undecided_bytes = share.undecided_bytes.saturating_add(undecided);
    }

    fn share_fell(&self) -> bool {
        let [old, new] = &self.shares;
        !self.unknown && new.fell(old)
    }
}

/// Files with the same change.
#[derive(Default)]
struct Files {
    count: u64,
    /// The first ones by name.
    examples: Vec<String>,
}

impl Files {
    fn add(&mut self, file: &File, strings: &Strings) {
        self.count += 1;
        let name = file_name(file, strings).to_string();
        let place = self.examples.partition_point(|example| *example < name);
        self.examples.insert(place, name);
        self.examples.truncate(EXAMPLES);
    }
}

impl<'s> Sums<'s> {
    /// The sums of no files. `context` has the texts of those that will be added.
    pub(super) fn new(context: Context<'s>) -> Sums<'s> {
        let Context { strings, lints_in_one } = context;
        Sums {
            strings,
            lints_in_one,
            summary: Summary::default(),
            rules: BTreeMap::new(),
            files: Vec::new(),
            more_files: 0,
            is_worse: false,
            has_undecided: false,
            packages: BTreeMap::new(),
            loose: Missing::default(),
            sections: BTreeMap::new(),
            producers: ByProducers::new(),
        }
    }

    /// Adds a file that is in both scans.
    pub(super) fn pair(&mut self, old: &File, new: &File, how: Matched, outcome: Outcome) {
        self.summary.matched += 1;
        self.summary.renamed += u64::from(how != Matched::Name);
        self.old_file(old, &outcome);
        self.coverage(old, new, &outcome.change);
        self.share(old, When::Old);
        self.share(new, When::New);
        self.sections(old, new);
        self.producers(old, new);
        self.outcome(outcome);
    }

    /// Adds a file that is only in the scan `when`.
    pub(super) fn single(&mut self, file: &File, when: When, absence: Absence, outcome: Outcome) {
        if let Some(package) = self.share(file, when) {
            package.unknown |= absence == Absence::Possible;
        }
        if when == When::Old {
            self.old_file(file, &outcome);
        }
        self.outcome(outcome);
    }

    /// Adds a file of the old scan to those of its package.
    fn old_file(&mut self, file: &File, outcome: &Outcome) {
        if matches!(file.status, Status::NotElf | Status::Special | Status::Archive) {
            return;
        }
        let missing = match package(file, self.strings) {
            Some(name) => &mut self.packages.entry(name).or_default().missing,
            None => &mut self.loose,
        };
        missing.all += 1;
        if outcome.change.became == Some(Became::Gone) {
            missing.files += 1;
            outcome.rules.iter().for_each(|rule| missing.findings.add(rule.severity, rule.missing));
        }
    }

    /// Adds a file to the share of its package, which it returns.
    fn share(&mut self, file: &File, when: When) -> Option<&mut Package> {
        let package = self.packages.entry(package(file, self.strings)?).or_default();
        package.share(file, when);
        Some(package)
    }

    fn outcome(&mut self, outcome: Outcome) {
        self.count_rules(&outcome);
        let summary = &mut self.summary;
        let change = &outcome.change;
        match change.became {
            Some(Became::Came) => summary.came += 1,
            Some(Became::Gone) => summary.gone += 1,
            Some(Became::Unmatched) => summary.unmatched += 1,
            Some(Became::Unreadable) => summary.unreadable += 1,
            Some(Became::Readable) => summary.readable += 1,
            Some(Became::SectionLost | Became::SectionGained | Became::OtherKind) | None => {}
        }
        let verdict = change.coverage.as_ref().map(|coverage| coverage.verdict);
        let lost = verdict == Some(CoverageVerdict::Lost);
        let gained = verdict == Some(CoverageVerdict::Gained);
        summary.coverage_lost += u64::from(lost || change.became == Some(Became::SectionLost));
        summary.coverage_gained +=
            u64::from(gained || change.became == Some(Became::SectionGained));
        for finding in &change.findings {
            let functions = finding.place().map_or(1, |place| place.functions);
            match finding.change {
                Change::New => summary.new.add(finding.severity, functions),
                Change::Fixed => summary.fixed.add(finding.severity, functions),
                Change::Changed => summary.changed.add(finding.severity, 1),
            }
        }
        if !outcome.is_empty() {
            self.is_worse |= outcome.change.worse;
            self.has_undecided |= !outcome.change.undecided.is_empty();
            self.files.push(outcome.change);
            if self.files.len() >= MOST_FILES.saturating_mul(2) {
                self.keep_worst();
            }
        }
    }

    /// Sorts the files with changes, worst first, and drops those beyond the maximum.
    fn keep_worst(&mut self) {
        self.files.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.name().cmp(&b.name())));
        self.more_files += self.files.len().saturating_sub(MOST_FILES) as u64;
        self.files.truncate(MOST_FILES);
    }

    fn count_rules(&mut self, outcome: &Outcome) {
        for rule in &outcome.rules {
            self.summary.undecided = self.summary.undecided.saturating_add(rule.undecided);
            self.summary.missing.add(rule.severity, rule.missing);
            let mut name = self.strings.text(rule.rule);
            if self.rules.len() >= MOST_RULES
                && !self.rules.contains_key(&(rule.severity, name.to_owned()))
            {
                name = OTHER_RULES;
            }
            let sums =
                self.rules.entry((rule.severity, name.to_owned())).or_insert_with(|| RuleChange {
                    rule: name.to_owned(),
                    severity: rule.severity,
                    old: 0,
                    new: 0,
                    appeared: 0,
                    fixed: 0,
                    missing: 0,
                    changed: 0,
                    files: 0,
                });
            let touched = rule.old != rule.new
                || rule.appeared > 0
                || rule.fixed > 0
                || rule.missing > 0
                || rule.changed > 0
                || rule.undecided > 0;
            sums.files += u64::from(touched);
            sums.old = sums.old.saturating_add(rule.old);
            sums.new = sums.new.saturating_add(rule.new);
            sums.appeared = sums.appeared.saturating_add(rule.appeared);
            sums.fixed = sums.fixed.saturating_add(rule.fixed);
            sums.missing = sums.missing.saturating_add(rule.missing);
            sums.changed = sums.changed.saturating_add(rule.changed);
        }
    }

    fn coverage(&mut self, old: &File, new: &File, change: &FileChange) {
        let both = old.status == Status::Checked && new.status == Status::Checked;
        let (was, is) = match &change.coverage {
            Some(coverage) => (coverage.old, coverage.new),
            None if both => match coverage::described(old).zip(coverage::described(new)) {
                Some(described) => described,
                None => return,
            },
            None => return,
        };
        self.summary.described_old.add(&was);
        self.summary.described_new.add(&is);
        let Some(name) = package(new, self.strings).or_else(|| package(old, self.strings)) else {
            return;
        };
        let package = self.packages.entry(name).or_default();
        package.changed += u64::from(change.coverage.is_some());
        package.old.add(&was);
        package.new.add(&is);
    }

    fn producers(&mut self, old: &File, new: &File) {
        // A scan without producers did not look for them.
        if old.producers == new.producers || old.producers.is_empty() || new.producers.is_empty() {
            return;
        }
        let mut kinds: BTreeMap<&str, [Vec<String>; 2]> = BTreeMap::new();
        for (side, file) in [old, new].into_iter().enumerate() {
            for (kind, name) in &file.producers {
                let names = kinds.entry(self.strings.text(*kind)).or_default();
                if let Some(names) = names.get_mut(side) {
                    names.push(self.strings.text(*name).to_owned());
                }
            }
        }
        for (kind, [was, is]) in kinds.into_iter().filter(|(_, [was, is])| was != is) {
            self.producers.entry((kind.to_owned(), was, is)).or_default().add(new, self.strings);
        }
    }

    fn sections(&mut self, old: &File, new: &File) {
        let Some((was, is)) = old.format.zip(new.format) else { return };
        if was == is && old.section_bytes == new.section_bytes {
            return;
        }
        let versions = [was, is].map(|format| self.strings.text(format).to_owned());
        let sections = self.sections.entry(versions.into()).or_default();
        sections.files.add(new, self.strings);
        sections.old_bytes = sections.old_bytes.saturating_add(old.section_bytes);
        sections.new_bytes = sections.new_bytes.saturating_add(new.section_bytes);
    }

    /// All changes, worst first.
    pub(super) fn finish(mut self, old: Scan, new: Scan) -> Changes {
        self.keep_worst();
        let mut undecided = Vec::new();
        for (which, scan) in [("old", &old), ("new", &new)] {
            if scan.files_left > 0 {
                let left = counted(scan.files_left, "file");
                undecided.push(format!(
                    "the {which} scan has {left} beyond the first {}, which were not compared",
                    grouped(scan.files)
                ));
                continue;
            }
            if !scan.complete {
                undecided.push(if scan.damaged {
                    format!(
                        "the store of the {which} scan is damaged: some of its files are unknown"
                    )
                } else {
                    format!("the {which} scan is incomplete: files missing from it may still exist")
                });
            }
        }
        if self.lints_in_one {
            undecided.push(
                "only one of the scans has lints; the other may not have looked for them"
                    .to_owned(),
            );
        }
        Changes {
            format: FORMAT,
            worse: self.is_worse || self.packages.values().any(Package::share_fell),
            summary: self.summary,
            rules: self.rules.into_values().filter(|rule| rule.files > 0).collect(),
            missing: missing(&self.packages, &self.loose),
            packages: packages(self.packages),
            sections: sections(self.sections),
            producers: producers(self.producers),
            files: self.files,
            more_files: self.more_files,
            has_undecided_files: self.has_undecided,
            old,
            new,
            undecided,
        }
    }
}

/// The files that are missing, by package.
fn missing(packages: &BTreeMap<String, Package>, loose: &Missing) -> Vec<MissingFiles> {
    let packages = packages.iter().map(|(name, package)| (Some(name), &package.missing));
    let mut missing: Vec<MissingFiles> = packages
        .chain([(None, loose)])
        .filter(|(_, missing)| missing.files > 0)
        .map(|(package, missing)| MissingFiles {
            package: package.cloned(),
            files: missing.files,
            of: missing.all,
            findings: missing.findings,
        })
        .collect();
    missing.sort_by_key(|missing| (missing.package.is_none(), std::cmp::Reverse(missing.files)));
    missing
}

fn packages(sums: BTreeMap<String, Package>) -> Vec<PackageChange> {
    let mut packages: Vec<PackageChange> = sums
        .into_iter()
        .filter(|(_, sums)| sums.changed > 0 || sums.share_fell())
        .map(|(package, sums)| PackageChange {
            package,
            verdict: coverage::verdict(&sums.old, &sums.new).unwrap_or(CoverageVerdict::Other),
            files: sums.changed,
            old: sums.old,
            new: sums.new,
            shares: (!sums.unknown).then_some(sums.shares),
            share_fell: sums.share_fell(),
        })
        .collect();
    let rank = |of: &PackageChange| (!of.share_fell, of.verdict);
    packages.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.package.cmp(&b.package)));
    packages
}

fn sections(sums: BTreeMap<(String, String), Sections>) -> Vec<SectionChange> {
    let mut sections: Vec<SectionChange> = sums
        .into_iter()
        .map(|((old, new), sums)| SectionChange {
            old,
            new,
            files: sums.files.count,
            old_bytes: sums.old_bytes,
            new_bytes: sums.new_bytes,
            examples: sums.files.examples,
        })
        .collect();
    sections.sort_by_key(|change| std::cmp::Reverse(change.files));
    sections
}

type ByProducers = BTreeMap<(String, Vec<String>, Vec<String>), Files>;

fn producers(sums: ByProducers) -> Vec<ProducerChange> {
    let mut producers: Vec<ProducerChange> = sums
        .into_iter()
        .map(|((kind, old, new), sums)| ProducerChange {
            kind,
            old,
            new,
            files: sums.count,
            examples: sums.examples,
        })
        .collect();
    producers.sort_by_key(|change| std::cmp::Reverse(change.files));
    producers
}

/// The sort key of a file: worse and more serious changes come first.
fn rank(change: &FileChange) -> (bool, Option<Became>, Option<(Severity, Change)>) {
    let finding = change.findings.first().map(|finding| (finding.severity, finding.change));
    (!change.worse, change.became, finding)
}

/// The package that contains a file: its name, or the path of its file without versions.
fn package(file: &File, strings: &Strings) -> Option<String> {
    if let Some((name, _)) = file.package {
        return Some(strings.text(name).to_owned());
    }
    file.inside.map(|_| names::path(strings.text(file.path.text), Versions::LeaveOut))
}
