//! Packages and archives that a scan could not read: their contents must not be reported as gone.

use std::collections::HashSet;

use super::kept::{File, Name};
use super::names::{self, Versions};
use super::strings::Strings;
use sframe_record::Status;

/// The maximum number of packages and archives around a file that are looked for: the scan itself opens fewer.
const NESTED: usize = 100;

/// The names of unreadable packages and archives, without versions.
pub(super) struct Unread(HashSet<String>);

impl Unread {
    pub(super) fn of(files: &[File], strings: &Strings) -> Unread {
        let unread = |file: &&File| matches!(file.status, Status::Unreadable | Status::Crashed);
        Unread(files.iter().filter(unread).map(|file| name(file, strings)).collect())
    }

    /// Whether the file may be in an unreadable package or archive.
    pub(super) fn hides(&self, file: &File, strings: &Strings) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let name = name(file, strings);
        let mut ends = name.match_indices('!').map(|(end, _)| end).take(NESTED);
        ends.any(|end| name.get(..end).is_some_and(|outer| self.0.contains(outer)))
    }
}

/// The name as `PATH!INSIDE!MEMBER`.
fn name(file: &File, strings: &Strings) -> String {
    let text = |name: Name| names::path(strings.text(name.text), Versions::LeaveOut);
    let mut whole = text(file.path);
    for part in [file.inside, file.member].into_iter().flatten() {
        whole.push('!');
        whole.push_str(&text(part));
    }
    whole
}
