//! Counts the errors of libsframe, by library.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::peer::Failure;

/// Counts, printed when the program ends. `SFRAME_PEER_CASES` names a folder for the smallest input
/// of each kind.
#[derive(Debug, Default)]
pub(super) struct Tally {
    sections: BTreeMap<PathBuf, u64>,
    kinds: BTreeMap<(PathBuf, String), Kind>,
}

#[derive(Debug, Default)]
struct Kind {
    count: u64,
    /// Bytes of the smallest input.
    smallest: Option<usize>,
}

impl Tally {
    pub(super) fn answered(&mut self, library: &Path) {
        *self.sections.entry(library.to_owned()).or_default() += 1;
    }

    pub(super) fn known(&mut self, library: &Path, reason: &str, data: &[u8]) {
        self.add(library, reason, data);
    }

    /// `input` names the kind of section.
    pub(super) fn failed(&mut self, library: &Path, failure: Failure, input: &str, data: &[u8]) {
        let how = match failure {
            Failure::Crashed(signal) => format!("crashed with signal {signal}"),
            Failure::TimedOut => "timed out".to_owned(),
            Failure::Garbled => "gave an invalid answer".to_owned(),
        };
        let version = data.get(2).copied().unwrap_or_default();
        self.add(library, &format!("{how} on a {input} section of version {version}"), data);
    }

    fn add(&mut self, library: &Path, what: &str, data: &[u8]) {
        let kind = self.kinds.entry((library.to_owned(), what.to_owned())).or_default();
        kind.count += 1;
        let Some(folder) = std::env::var_os("SFRAME_PEER_CASES") else { return };
        if kind.smallest.is_none_or(|smallest| data.len() < smallest) {
            kind.smallest = Some(data.len());
            let name = library.file_name().unwrap_or_default().to_string_lossy();
            let name = format!("{name} {what}.sframe").replace([' ', '/'], "-");
            std::fs::write(Path::new(&folder).join(name), data).expect("disk space");
        }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        for (library, count) in &self.sections {
            eprintln!("{}: {count} sections read", library.display());
        }
        for ((library, what), kind) in &self.kinds {
            eprintln!("{}: {} x {what}", library.display(), kind.count);
        }
    }
}
