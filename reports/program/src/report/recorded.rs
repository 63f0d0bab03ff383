//! A scan in numbers, from what a store has kept of it.

use sframe_history::Record;
use sframe_history::record::{Status, Verdicts};
use sframe_oracle::compare::{FunctionCounts, Sums};
use sframe_oracle::coverage::Cause;

use super::coverage::{Extent, Files};
use super::summary::{Counts, Summary};
use crate::catalogue;

impl Summary {
    /// Adds a record: what was said of a file or member. Rules that this program does not know are
    /// left out.
    pub fn add_record(&mut self, record: &Record<'_>) {
        add(&mut self.inputs, u64::from(record.status != Status::Archive));
        match record.status {
            Status::Checked | Status::NoSection => self.add_checked_record(record),
            Status::Archive => {}
            Status::Unsupported => {
                let kind = record.reason.as_ref().map(ToString::to_string).unwrap_or_default();
                add(self.unsupported.entry(kind).or_default(), 1);
            }
            Status::NotElf => add(&mut self.not_elf, 1),
            Status::Special | Status::Unreadable => add(&mut self.unreadable, 1),
            Status::Crashed => add(&mut self.crashed, 1),
        }
        for count in &record.counts {
            let Some(rule) = catalogue::find(count.rule.as_str()) else { continue };
            let entry = self.rules.entry(catalogue::position(rule));
            let (_, counts) = entry.or_insert((rule, Counts::default()));
            add(&mut counts.findings, count.count);
            counts.files += 1;
        }
    }

    fn add_checked_record(&mut self, record: &Record<'_>) {
        self.checked += 1;
        add(&mut self.code_bytes, record.code_bytes);
        self.undecided += record.undecided.len() as u64;
        if !record.sections.is_empty() {
            self.with_section += 1;
            add(&mut self.code_bytes_with_section, record.code_bytes);
        }
        for section in &record.sections {
            let key = match &section.header {
                Some(header) => {
                    let machine = header.abi.as_ref().map(ToString::to_string);
                    let machine = machine.unwrap_or_else(|| "unknown ABI".to_owned());
                    (format!("V{}", header.version), machine)
                }
                None => ("unreadable header".to_owned(), String::new()),
            };
            *self.sections.entry(key).or_default() += 1;
            add(&mut self.functions, section.functions);
            add(&mut self.rows, section.rows);
            add(&mut self.covered_bytes, section.covered_bytes);
        }
        if record.coverage.is_some() {
            let files = match record.status {
                Status::Checked => &mut self.coverage.compared,
                _ => &mut self.coverage.without_section,
            };
            files.add_record(record);
        }
    }
}

/// Sums of what records and stores say end at the largest number.
fn add(sum: &mut u64, number: u64) {
    *sum = sum.saturating_add(number);
}

impl Files {
    fn add_record(&mut self, record: &Record<'_>) {
        let Some(coverage) = &record.coverage else { return };
        self.files += 1;
        self.bytes += sums(&coverage.bytes);
        let functions = &coverage.functions;
        self.functions += FunctionCounts {
            both: functions.both,
            partly: functions.partly,
            only_cfi: functions.only_cfi,
            only_sframe: functions.only_sframe,
            ..FunctionCounts::default()
        };
        for loss in &coverage.losses {
            let cause = Cause::ALL.into_iter().find(|cause| cause.name() == loss.cause.as_str());
            let Some(cause) = cause else { continue };
            let extent: &mut Extent = self.losses.entry(cause).or_default();
            extent.add(loss.functions, loss.bytes);
        }
        for limit in &coverage.limits {
            let Some(field) =
                ["signal", "undefined-ra"].into_iter().find(|f| limit.field.as_str() == *f)
            else {
                continue;
            };
            self.limits.entry(field).or_default().add(limit.functions, limit.bytes);
        }
    }
}

fn sums(bytes: &Verdicts) -> Sums {
    Sums {
        equal: bytes.equal,
        limited: bytes.limited,
        different: bytes.different,
        only_cfi: bytes.only_cfi,
        only_sframe: bytes.only_sframe,
        neither: bytes.neither,
        undecided: bytes.undecided,
    }
}
