//! Baselines: findings that were there before.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use sframe_history::Identity;
use sframe_record::{Finding, Record};

/// The version of the file format.
const FORMAT: u32 = 1;
/// The maximum number of entries.
const MOST: usize = 1_000_000;

/// Findings that were there before, by identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    entries: BTreeMap<Identity, Entry>,
}

/// Findings with one identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// 32 hexadecimal digits.
    identity: String,
    /// The number of findings. A difference counts once for each function.
    pub(crate) count: u64,
    /// The rule, the file, the function and the message of the first one.
    pub(crate) rule: String,
    pub(crate) file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) function: Option<String>,
    message: String,
}

impl Entry {
    pub(crate) fn file_name(&self) -> String {
        Identity::file_name(&self.file)
    }
}

/// The file.
#[derive(Serialize, Deserialize)]
struct Document {
    /// The name of the format.
    sframe_check_baseline: u32,
    findings: Vec<Entry>,
}

impl Baseline {
    /// Adds a finding of the file that `record` describes.
    pub fn add(&mut self, record: &Record<'_>, finding: &Finding<'_>) {
        let identity = Identity::of(record, finding);
        if self.entries.len() >= MOST && !self.entries.contains_key(&identity) {
            return;
        }
        let symbol = finding.function.as_ref().and_then(|of| of.symbol.as_ref());
        let symbol = symbol.or_else(|| finding.code.as_ref().and_then(|of| of.symbol.as_ref()));
        let entry = self.entries.entry(identity).or_insert_with(|| Entry {
            identity: identity.to_string(),
            count: 0,
            rule: finding.rule.to_string(),
            file: record.name(),
            function: symbol.map(ToString::to_string),
            message: finding.message.to_string(),
        });
        entry.count = entry.count.saturating_add(finding.weight());
    }

    /// The number of findings.
    #[must_use]
    pub fn findings(&self) -> u64 {
        self.entries.values().map(|entry| entry.count).fold(0, u64::saturating_add)
    }

    /// Takes up to `weight` findings with this identity. Returns whether all of them were there.
    pub(crate) fn take(&mut self, identity: Identity, weight: u64) -> bool {
        match self.entries.get_mut(&identity) {
            Some(entry) if entry.count >= weight => {
                entry.count -= weight;
                true
            }
            _ => false,
        }
    }

    /// The findings that were not taken.
    pub(crate) fn rest(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().filter(|entry| entry.count > 0)
    }

    /// The files of its findings, as [`Identity::file_name`] writes them.
    pub(crate) fn files(&self) -> impl Iterator<Item = String> + '_ {
        self.entries.values().map(Entry::file_name)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Returns a message if the text is no baseline.
    pub fn read(text: &str) -> Result<Baseline, String> {
        let document: Document =
            serde_json::from_str(text).map_err(|error| format!("it is no baseline: {error}"))?;
        if document.sframe_check_baseline != FORMAT {
            let version = document.sframe_check_baseline;
            return Err(format!("its format is {version}, and this program reads {FORMAT}"));
        }
        let mut entries = BTreeMap::new();
        for entry in document.findings {
            let identity = Identity::parse(&entry.identity);
            let identity = identity.ok_or_else(|| {
                format!("\"{}\" is no identity of 32 hexadecimal digits", entry.identity)
            })?;
            entries.insert(identity, entry);
        }
        Ok(Baseline { entries })
    }

    /// Writes a file, with one finding on each line, sorted, so that changes of it can be reviewed.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut entries: Vec<&Entry> = self.entries.values().collect();
        entries.sort_by_key(|entry| (&entry.file, &entry.rule, &entry.function, &entry.identity));
        write!(out, "{{\"sframe_check_baseline\":{FORMAT},\"findings\":[")?;
        for (place, entry) in entries.into_iter().enumerate() {
            out.write_all(if place == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut *out, entry)?;
        }
        writeln!(out, "\n]}}")?;
        out.flush()
    }
}
