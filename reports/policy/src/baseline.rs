//! Baselines: findings that were there before.

mod names;
mod read;

use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use sframe_history::{FileIdentity, Identity, Root};
use sframe_record::numbers::{counted, grouped};
use sframe_record::{Finding, Record};

use names::Names;
use read::Document;

/// The version of the file format.
const FORMAT: u32 = 2;
/// The version whose identities hold paths as they were typed. It is read, and not written.
const AS_TYPED: u32 = 1;
/// The maximum number of entries.
const MOST: usize = 1_000_000;

/// Findings that were there before, by identity.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    entries: Arc<BTreeMap<Identity, Entry>>,
    /// How many findings of an entry were taken. The entries are shared by the copies of a policy.
    taken: BTreeMap<Identity, u64>,
    /// The names of the entries that were added.
    names: Names,
    /// The number of findings for which there was no room.
    left_out: u64,
    /// The folder that its paths are relative to.
    root: Root,
    /// The way from the folder of its file to that folder.
    to_root: String,
}

/// Why a file cannot be used as a baseline.
#[derive(Debug)]
#[non_exhaustive]
pub enum BaselineError {
    /// It cannot be read, or is longer than the limit, or a text of it is.
    Io(io::Error),
    /// It is no baseline.
    Json(serde_json::Error),
    /// Its format is not one that this program reads.
    Format(u32),
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BaselineError::Io(error) => error.fmt(f),
            BaselineError::Json(error) => write!(f, "it is no baseline: {error}"),
            BaselineError::Format(version) => {
                write!(f, "its format is {version}, and this program reads {AS_TYPED} and {FORMAT}")
            }
        }
    }
}

impl std::error::Error for BaselineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BaselineError::Io(error) => Some(error),
            BaselineError::Json(error) => Some(error),
            BaselineError::Format(_) => None,
        }
    }
}

/// Findings with one identity.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The number of findings. A difference counts once for each function.
    pub(crate) count: u64,
    /// The rule, the file, the function and the message of the first one; a message is written, and not read.
    pub(crate) rule: Arc<str>,
    pub(crate) file: Arc<str>,
    pub(crate) function: Option<Arc<str>>,
    message: Box<str>,
}

impl Entry {
    /// No findings yet; `None` if there is no room for the names of their rule, file and function.
    fn new(
        names: &mut Names,
        (rule, file, function): (&str, &str, Option<&str>),
        message: &str,
    ) -> Option<Entry> {
        let (rule, file) = (names.share(rule)?, names.share(file)?);
        let function = match function {
            Some(function) => Some(names.share(function)?),
            None => None,
        };
        Some(Entry { count: 0, rule, file, function, message: message.into() })
    }
}

/// A line of the file.
#[derive(Serialize)]
struct Written<'e> {
    /// 32 hexadecimal digits.
    identity: String,
    count: u64,
    rule: &'e str,
    file: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<&'e str>,
    message: &'e str,
}

impl Baseline {
    /// A baseline without findings, for a file in `folder`, whose paths are relative to `root`. Both are relative to
    /// `working` if they are not absolute.
    #[must_use]
    pub fn new(folder: &Path, root: &Path, working: &Path) -> Baseline {
        let mut to_root = Root::of(folder, working).relative(&root.to_string_lossy());
        if to_root.is_empty() {
            to_root.push('.');
        }
        Baseline { root: Root::of(root, working), to_root, ..Baseline::default() }
    }

    /// Takes `root` for the folder that paths are relative to or, without one, the folder that the file names; it is in
    /// `folder`. A file of the first format holds paths as they were typed.
    #[must_use]
    pub fn relative_to(self, root: Option<&Path>, folder: &Path, working: &Path) -> Baseline {
        if self.is_as_typed() {
            return self;
        }
        let own = folder.join(&self.to_root);
        Baseline { root: Root::of(root.unwrap_or(&own), working), ..self }
    }

    /// Whether its paths are as they were typed: in another folder, nothing is found again.
    pub(crate) const fn is_as_typed(&self) -> bool {
        self.root.is_as_typed()
    }

    /// The identity of a file.
    #[must_use]
    pub fn file(&self, record: &Record<'_>) -> FileIdentity {
        self.root.file(record)
    }

    /// Adds a finding of a file. If there is no room for it, [`Baseline::write`] fails.
    pub fn add(&mut self, file: &FileIdentity, finding: &Finding<'_>) {
        if self.added(file, finding).is_none() {
            self.left_out = self.left_out.saturating_add(finding.weight());
        }
    }

    fn added(&mut self, file: &FileIdentity, finding: &Finding<'_>) -> Option<()> {
        let identity = Identity::of(file, finding);
        if self.entries.len() >= MOST && !self.entries.contains_key(&identity) {
            return None;
        }
        let symbol = finding.function.as_ref().and_then(|of| of.symbol.as_ref());
        let symbol = symbol.or_else(|| finding.code.as_ref().and_then(|of| of.symbol.as_ref()));
        let entry = match Arc::make_mut(&mut self.entries).entry(identity) {
            btree_map::Entry::Occupied(known) => known.into_mut(),
            btree_map::Entry::Vacant(place) => {
                let texts = (&*finding.rule, file.name(), symbol.map(|symbol| &**symbol));
                place.insert(Entry::new(&mut self.names, texts, &finding.message.to_string())?)
            }
        };
        entry.count = entry.count.saturating_add(finding.weight());
        Some(())
    }

    /// The number of findings.
    #[must_use]
    pub fn findings(&self) -> u64 {
        self.entries.values().map(|entry| entry.count).fold(0, u64::saturating_add)
    }

    /// Takes up to `weight` findings with this identity. Returns whether all of them were there.
    pub(crate) fn take(&mut self, identity: Identity, weight: u64) -> bool {
        let Some(entry) = self.entries.get(&identity) else { return false };
        let taken = self.taken.get(&identity).copied().unwrap_or_default().checked_add(weight);
        match taken.filter(|taken| *taken <= entry.count) {
            Some(taken) => {
                self.taken.insert(identity, taken);
                true
            }
            None => false,
        }
    }

    /// The findings that were not taken, and how many.
    pub(crate) fn rest(&self) -> impl Iterator<Item = (&Entry, u64)> {
        self.entries.iter().filter_map(|(identity, entry)| {
            let taken = self.taken.get(identity).copied().unwrap_or_default();
            let rest = entry.count.saturating_sub(taken);
            (rest > 0).then_some((entry, rest))
        })
    }

    /// The files of its findings, without versions.
    pub(crate) fn files(&self) -> impl Iterator<Item = String> + '_ {
        self.entries.values().map(|entry| FileIdentity::without_versions(&entry.file))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Returns an error if it cannot be read or is not a baseline, or if it has more than 1,000,000 findings, 1 GiB, a text
    /// of more than 1 MiB, or more than 256 MiB of different names.
    pub fn read(stream: impl Read) -> Result<Baseline, BaselineError> {
        let document = read::document(stream, MOST)?;
        let root = match document.format {
            AS_TYPED => Root::default(),
            FORMAT => Root::of(Path::new("/"), Path::new("/")),
            version => return Err(BaselineError::Format(version)),
        };
        let Document { root: to_root, entries, .. } = document;
        let entries = Arc::new(entries);
        Ok(Baseline { entries, root, to_root, ..Baseline::default() })
    }

    /// Writes a file, with one finding on each line, sorted, so that changes of it can be reviewed.
    ///
    /// # Errors
    /// Returns an error if writing fails, or if there was no room for a finding, which would be new in every later run.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.left_out > 0 {
            return Err(io::Error::other(format!(
                "the baseline is not written: {} do not fit beside {} others; use one baseline for fewer files, or suppress a rule",
                counted(self.left_out, "finding"),
                grouped(self.entries.len() as u64),
            )));
        }
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|(identity, entry)| {
            (&entry.file, &entry.rule, &entry.function, *identity)
        });
        write!(out, "{{\"sframe_check_baseline\":{FORMAT},\"root\":")?;
        sframe_record::json::write(&mut *out, &self.to_root)?;
        write!(out, ",\"findings\":[")?;
        for (place, (identity, entry)) in entries.into_iter().enumerate() {
            out.write_all(if place == 0 { b"\n" } else { b",\n" })?;
            let written = Written {
                identity: identity.to_string(),
                count: entry.count,
                rule: &entry.rule,
                file: &entry.file,
                function: entry.function.as_deref(),
                message: &entry.message,
            };
            sframe_record::json::write(&mut *out, &written)?;
        }
        writeln!(out, "\n]}}")?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It would report the rest as new findings in every later run.
    #[test]
    fn a_baseline_without_all_findings_is_not_written() {
        let full = Baseline { left_out: 2, ..Baseline::default() };
        let mut out = Vec::new();
        let why = full.write(&mut out).expect_err("it is not complete").to_string();
        assert!(why.contains("2 findings do not fit") && out.is_empty(), "{why}");
    }
}
