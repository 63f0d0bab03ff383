//! Baselines: findings that were there before.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sframe_history::{FileIdentity, Identity, Root};
use sframe_record::{Finding, Record};

/// The version of the file format.
const FORMAT: u32 = 2;
/// The version whose identities hold paths as they were typed. It is read, and not written.
const AS_TYPED: u32 = 1;
/// The maximum number of entries.
const MOST: usize = 1_000_000;

/// Findings that were there before, by identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    entries: BTreeMap<Identity, Entry>,
    /// The folder that its paths are relative to.
    root: Root,
    /// The way from the folder of its file to that folder.
    to_root: String,
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

/// The file.
#[derive(Serialize, Deserialize)]
struct Document {
    /// The name of the format.
    sframe_check_baseline: u32,
    /// The folder that paths are relative to: the way to it from the folder of the file.
    #[serde(default)]
    root: String,
    findings: Vec<Entry>,
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
        Baseline { entries: BTreeMap::new(), root: Root::of(root, working), to_root }
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

    /// Adds a finding of a file.
    pub fn add(&mut self, file: &FileIdentity, finding: &Finding<'_>) {
        let identity = Identity::of(file, finding);
        if self.entries.len() >= MOST && !self.entries.contains_key(&identity) {
            return;
        }
        let symbol = finding.function.as_ref().and_then(|of| of.symbol.as_ref());
        let symbol = symbol.or_else(|| finding.code.as_ref().and_then(|of| of.symbol.as_ref()));
        let entry = self.entries.entry(identity).or_insert_with(|| Entry {
            identity: identity.to_string(),
            count: 0,
            rule: finding.rule.to_string(),
            file: file.name().to_owned(),
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

    /// The files of its findings, without versions.
    pub(crate) fn files(&self) -> impl Iterator<Item = String> + '_ {
        self.entries.values().map(|entry| FileIdentity::without_versions(&entry.file))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Returns a message if the text is no baseline.
    pub fn read(text: &str) -> Result<Baseline, String> {
        let document: Document =
            serde_json::from_str(text).map_err(|error| format!("it is no baseline: {error}"))?;
        let root = match document.sframe_check_baseline {
            AS_TYPED => Root::default(),
            FORMAT => Root::of(Path::new("/"), Path::new("/")),
            version => {
                return Err(format!(
                    "its format is {version}, and this program reads {AS_TYPED} and {FORMAT}"
                ));
            }
        };
        let mut entries = BTreeMap::new();
        for entry in document.findings {
            let identity = Identity::parse(&entry.identity);
            let identity = identity.ok_or_else(|| {
                format!("\"{}\" is no identity of 32 hexadecimal digits", entry.identity)
            })?;
            entries.insert(identity, entry);
        }
        Ok(Baseline { entries, root, to_root: document.root })
    }

    /// Writes a file, with one finding on each line, sorted, so that changes of it can be reviewed.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut entries: Vec<&Entry> = self.entries.values().collect();
        entries.sort_by_key(|entry| (&entry.file, &entry.rule, &entry.function, &entry.identity));
        write!(out, "{{\"sframe_check_baseline\":{FORMAT},\"root\":")?;
        sframe_record::json::write(&mut *out, &self.to_root)?;
        write!(out, ",\"findings\":[")?;
        for (place, entry) in entries.into_iter().enumerate() {
            out.write_all(if place == 0 { b"\n" } else { b",\n" })?;
            sframe_record::json::write(&mut *out, entry)?;
        }
        writeln!(out, "\n]}}")?;
        out.flush()
    }
}
