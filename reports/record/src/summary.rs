//! The summary of a scan: the sum of its records.

mod counts;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sframe_validator::rules::Group;

use crate::bounded::entry;
use crate::call_sites::CallSiteTotal;
use crate::call_sites::packages::PackageCallSites;
use crate::catalogue;
use crate::coverage::CoverageTotal;
use crate::forecast::ForecastTotal;
use crate::forecast::packages::PackageForecasts;
use crate::proofs::ProofTotal;
use crate::reading::ReadingTotal;
use crate::record::{Record, RuleCount, Section, Status};
use crate::severity::Severity;
use crate::unwind_table::UnwindTable;
use crate::value::{Text, is_zero};

pub use counts::{FailedGate, GroupCount, KindCount, SectionCount, SuppressedCount};

/// What the files of the forecast for programs and libraries are called.
pub const LINKED: &str = "linked file";

/// The summary of a scan. Sums that would overflow stay at the largest number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary<'r> {
    /// All inputs: files, members of archives, special files.
    pub inputs: u64,
    /// ELF files and bare sections that were checked.
    pub checked: u64,
    /// The checked files that have an SFrame section.
    pub with_section: u64,
    /// Files that are not ELF files, including empty ones.
    pub not_elf: u64,
    /// ELF files of kinds that SFrame is not defined for, sorted by kind.
    #[serde(borrow)]
    pub unsupported: Vec<KindCount<'r>>,
    /// Files that are not regular files, sorted by kind.
    #[serde(borrow)]
    pub special: Vec<KindCount<'r>>,
    /// Files that could not be read.
    pub unreadable: u64,
    /// Files whose check crashed.
    pub crashed: u64,
    /// Sections by version and machine, sorted.
    #[serde(borrow)]
    pub sections: Vec<SectionCount<'r>>,
    /// The number of functions read.
    pub functions: u64,
    /// The number of rows read.
    pub rows: u64,
    /// Bytes of executable code in all checked files.
    pub code_bytes: u64,
    /// Bytes of executable code in checked files with a section.
    pub code_bytes_with_section: u64,
    /// Bytes of code that functions describe.
    pub covered_bytes: u64,
    /// Findings of severity error.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Findings of severity lint.
    pub lints: u64,
    /// Checks that were not possible.
    pub undecided: u64,
    /// The checked files that were compared with CFI.
    #[serde(default)]
    pub with_cfi: u64,
    /// The checked files that were compared with the kernel's ORC tables, which the sums below count as CFI.
    #[serde(default)]
    pub with_orc: u64,
    /// The coverage of files with a section that were compared with CFI.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<CoverageTotal<'r>>,
    /// The coverage of files without a section, if that was requested.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub without_section: Option<CoverageTotal<'r>>,
    /// What the machine code proves about the rows of all files, if that was requested.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub proofs: Option<ProofTotal<'r>>,
    /// What SFrame would cost the programs and libraries among these files, if that was requested.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<ForecastTotal<'r>>,
    /// What SFrame would cost the relocatable objects among them. They are counted apart, because programs and libraries were made
    /// from them.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub forecast_objects: Option<ForecastTotal<'r>>,
    /// What SFrame would cost the programs and libraries of each package.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub forecast_packages: Option<PackageForecasts<'r>>,
    /// Functions with CFI in checked files without a section, according to `.eh_frame_hdr`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub functions_without_section: u64,
    /// The files without a section that have the kernel's ORC tables.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub orc_without_section: u64,
    /// What a stack walker finds after the calls of all files, if that was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_sites: Option<CallSiteTotal>,
    /// What a stack walker finds after the calls of each package.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub call_site_packages: Option<PackageCallSites<'r>>,
    /// What consumers do with the sections of all files, for those that were asked about.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<ReadingTotal<'r>>,
    /// The counts of each rule, in the catalogue's order; unknown rules come last. Findings that are cases of a known defect,
    /// or that have another severity than others of the rule, have counts of their own.
    #[serde(borrow)]
    pub rules: Vec<RuleCount<'r>>,
    /// The addresses of the pages of these rules, by name; absent without `--pages`.
    #[serde(borrow, default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pages: BTreeMap<Text<'r>, Text<'r>>,
    /// The counts of each group of rules with findings, in the catalogue's order.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupCount<'r>>,
    /// The findings that do not count, by reason, sorted.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<SuppressedCount<'r>>,
    /// What a person should know about the policy: expired and unused suppressions, and findings of the baseline that are
    /// fixed.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Text<'r>>,
    /// The requirements of the command line, such as `--min-coverage`, that the files do not meet.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub failed_gates: Vec<FailedGate<'r>>,
}

impl Summary<'_> {
    /// Adds one record.
    pub fn add(&mut self, record: &Record<'_>) {
        let reason = || record.reason.as_ref().map_or("", Text::as_str);
        match record.status {
            Status::Checked | Status::NoSection => self.add_checked(record),
            // The members of an archive are inputs of their own.
            Status::Archive => return self.add_counts(record),
            Status::Unsupported => add_kind(&mut self.unsupported, reason(), 1),
            Status::NotElf => increase(&mut self.not_elf, 1),
            Status::Special => self.add_special(reason(), 1),
            Status::Unreadable => increase(&mut self.unreadable, 1),
            Status::Crashed => increase(&mut self.crashed, 1),
        }
        increase(&mut self.inputs, 1);
        self.add_counts(record);
    }

    /// Adds `count` special files of a kind, without counting them as inputs.
    pub fn add_special(&mut self, kind: &str, count: u64) {
        add_kind(&mut self.special, kind, count);
    }

    /// What people call the tables that the files were compared with.
    #[must_use]
    pub const fn tables(&self) -> &'static str {
        match (self.with_cfi, self.with_orc) {
            (_, 0) => UnwindTable::Cfi.noun(),
            (0, _) => UnwindTable::Orc.noun(),
            _ => "CFI or ORC",
        }
    }

    fn add_checked(&mut self, record: &Record<'_>) {
        increase(&mut self.checked, 1);
        increase(&mut self.code_bytes, record.code_bytes);
        increase(&mut self.undecided, record.undecided.len() as u64);
        if !record.sections.is_empty() {
            increase(&mut self.with_section, 1);
            increase(&mut self.code_bytes_with_section, record.code_bytes);
        }
        for section in &record.sections {
            self.add_section(section);
        }
        match record.table {
            Some(UnwindTable::Cfi) => increase(&mut self.with_cfi, 1),
            Some(UnwindTable::Orc) => increase(&mut self.with_orc, 1),
            None => {}
        }
        if let Some(sites) = &record.call_sites {
            self.call_sites.get_or_insert_default().add(sites);
            if record.package.is_some() || record.inside.is_some() {
                let packages = self.call_site_packages.get_or_insert_default();
                packages.add(record, |total| total.add(sites));
            }
        }
        if let Some(proofs) = &record.proofs {
            self.proofs.get_or_insert_default().add(proofs, &|| record.name());
        }
        self.add_forecast(record);
        self.add_readings(record);
        increase(&mut self.functions_without_section, record.functions_without_section);
        increase(&mut self.orc_without_section, u64::from(record.has_orc));
        if let Some(coverage) = &record.coverage {
            let total = match record.status {
                Status::Checked => &mut self.compared,
                _ => &mut self.without_section,
            };
            total.get_or_insert_default().add(coverage, &|| record.name());
        }
    }

    fn add_forecast(&mut self, record: &Record<'_>) {
        let Some(forecast) = &record.forecast else { return };
        let name = || record.name();
        if forecast.is_object() {
            return self.forecast_objects.get_or_insert_default().add(forecast, &name);
        }
        self.forecast.get_or_insert_default().add(forecast, &name);
        if record.package.is_some() || record.inside.is_some() {
            let packages = self.forecast_packages.get_or_insert_default();
            packages.add(record, |total| total.add(forecast, &name));
        }
    }

    /// The forecasts, each with what its files are called.
    #[must_use]
    pub fn forecasts(&self) -> Vec<(&ForecastTotal<'_>, &'static str)> {
        let linked = self.forecast.as_ref().map(|total| (total, LINKED));
        let objects = self.forecast_objects.as_ref().map(|total| (total, "relocatable object"));
        linked.into_iter().chain(objects).collect()
    }

    /// The forecasts of packages, if there are several packages.
    #[must_use]
    pub fn several_packages(&self) -> Option<&PackageForecasts<'_>> {
        self.forecast_packages.as_ref().filter(|of| of.packages.len() > 1)
    }

    /// The call sites of packages, if there are several packages.
    #[must_use]
    pub fn several_call_site_packages(&self) -> Option<&PackageCallSites<'_>> {
        self.call_site_packages.as_ref().filter(|of| of.packages.len() > 1)
    }

    fn add_readings(&mut self, record: &Record<'_>) {
        for reading in &record.readings {
            let place = self.readings.iter().position(|of| of.consumer == reading.consumer);
            let place = place.ok_or(self.readings.len());
            let new = || ReadingTotal::of(&reading.consumer);
            if let Some(total) = entry(&mut self.readings, place, new) {
                total.add(&record.path, reading);
            }
        }
    }

    fn add_section(&mut self, section: &Section<'_>) {
        let (version, machine) = match &section.header {
            Some(header) => {
                let machine = header.abi.as_ref().map_or("unknown ABI", Text::as_str);
                (format!("V{}", header.version), machine)
            }
            None => (SectionCount::UNREADABLE.to_owned(), ""),
        };
        let order = |known: &SectionCount<'_>| {
            (known.version.as_str(), known.machine.as_str()).cmp(&(version.as_str(), machine))
        };
        let place = self.sections.binary_search_by(order);
        let new = || SectionCount {
            version: version.clone().into(),
            machine: machine.to_owned().into(),
            count: 0,
        };
        if let Some(known) = entry(&mut self.sections, place, new) {
            increase(&mut known.count, 1);
        }
        increase(&mut self.functions, section.functions);
        increase(&mut self.rows, section.rows);
        increase(&mut self.covered_bytes, section.covered_bytes);
    }

    fn add_counts(&mut self, record: &Record<'_>) {
        for count in &record.counts {
            let sum = match count.severity {
                Severity::Error => &mut self.errors,
                Severity::Warning => &mut self.warnings,
                Severity::Lint => &mut self.lints,
            };
            increase(sum, count.count);
            self.add_to_group(count);
            let wanted = order(count);
            let place = self.rules.binary_search_by(|known| order(known).cmp(&wanted));
            let new = || RuleCount {
                rule: count.rule.clone().into_owned(),
                known: count.known.clone().map(Text::into_owned),
                count: 0,
                files: 0,
                ..*count
            };
            if let Some(known) = entry(&mut self.rules, place, new) {
                increase(&mut known.count, count.count);
                increase(&mut known.files, 1);
            }
        }
        for (reason, number) in suppressed_by_reason(record) {
            let place = self.suppressed.binary_search_by(|known| known.reason.as_str().cmp(reason));
            let new = || SuppressedCount { reason: reason.to_owned().into(), count: 0, files: 0 };
            if let Some(known) = entry(&mut self.suppressed, place, new) {
                increase(&mut known.count, number);
                increase(&mut known.files, 1);
            }
        }
    }

    /// Adds the count of a rule to that of its group; rules of other versions have no known group.
    fn add_to_group(&mut self, count: &RuleCount<'_>) {
        let Some(rule) = catalogue::find(&count.rule) else { return };
        let position = |name: &str| Group::ALL.iter().position(|group| group.name() == name);
        let name = rule.group.name();
        let place = self.groups.binary_search_by_key(&position(name), |of| position(&of.group));
        let new = || GroupCount { group: name.into(), errors: 0, warnings: 0, lints: 0 };
        let Some(group) = entry(&mut self.groups, place, new) else { return };
        let sum = match count.severity {
            Severity::Error => &mut group.errors,
            Severity::Warning => &mut group.warnings,
            Severity::Lint => &mut group.lints,
        };
        increase(sum, count.count);
    }

    /// The known defects whose cases were found, with the numbers of findings and, at most, of files.
    #[must_use]
    pub fn known(&self) -> Vec<(&str, u64, u64)> {
        let mut known: Vec<(&str, u64, u64)> = Vec::new();
        for count in &self.rules {
            let Some(defect) = count.known.as_deref() else { continue };
            match known.iter_mut().find(|(name, ..)| *name == defect) {
                // A file may break several rules for one defect.
                Some((_, findings, files)) => {
                    increase(findings, count.count);
                    *files = count.files.max(*files);
                }
                None => known.push((defect, count.count, count.files)),
            }
        }
        known
    }

    /// How often rules of a severity were broken.
    #[must_use]
    pub const fn findings(&self, severity: Severity) -> u64 {
        match severity {
            Severity::Error => self.errors,
            Severity::Warning => self.warnings,
            Severity::Lint => self.lints,
        }
    }

    /// The severity of the most serious finding.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        let severities = [Severity::Error, Severity::Warning, Severity::Lint];
        severities.into_iter().find(|severity| self.findings(*severity) > 0)
    }

    /// Whether the files certainly fail to meet a requirement of the command line.
    #[must_use]
    pub fn fails_a_gate(&self) -> bool {
        self.failed_gates.iter().any(|gate| !gate.undecided)
    }

    /// Whether an input could not be read, its check crashed, or there was nothing to check.
    #[must_use]
    pub const fn lacks_inputs(&self) -> bool {
        self.unreadable > 0 || self.crashed > 0 || self.checked == 0
    }

    /// Whether the scan is incomplete: something could not be read, a check crashed or was not possible, or there was
    /// nothing to check.
    #[must_use]
    pub const fn is_incomplete(&self) -> bool {
        self.lacks_inputs() || self.undecided > 0
    }
}

/// The order of counts: the catalogue's, then by severity and known defect.
fn order<'c>(count: &'c RuleCount<'_>) -> (usize, &'c str, Severity, Option<&'c str>) {
    let position = catalogue::position(&count.rule);
    (position, count.rule.as_str(), count.severity, count.known.as_deref())
}

/// The reasons for which findings of a file do not count, and their numbers.
fn suppressed_by_reason<'r>(record: &'r Record<'_>) -> BTreeMap<&'r str, u64> {
    let mut reasons = BTreeMap::new();
    for suppressed in &record.suppressed {
        increase(reasons.entry(suppressed.reason.as_str()).or_default(), suppressed.count);
    }
    reasons
}

fn add_kind(kinds: &mut Vec<KindCount<'_>>, kind: &str, count: u64) {
    let place = kinds.binary_search_by(|known| known.kind.as_str().cmp(kind));
    let new = || KindCount { kind: kind.to_owned().into(), count: 0 };
    if let Some(known) = entry(kinds, place, new) {
        increase(&mut known.count, count);
    }
}

fn increase(sum: &mut u64, number: u64) {
    *sum = sum.saturating_add(number);
}
