//! Remembers what a scan has checked: the same bytes are checked once, and reported wherever they occur.
//!
//! A member of a package cannot be read again later, so it is hashed at once. A file on disk can be read again: it is
//! hashed only if another file has the same size and beginning. Most files are never hashed.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::verdict::Checked;
use crate::describe::{Content, weight};
use sframe_input::{FileBytes, Stamp};

/// The number of bytes that an entry takes in addition to its record.
const MARK: usize = 128;
/// The number of bytes at the beginning of a file that are compared. Files of the same size with the same beginning are
/// probably equal, because the build ID of a linked program is there.
const START: usize = 1024;

/// The records of files that were checked.
#[derive(Debug)]
pub(super) struct Seen {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// By size and start.
    marks: HashMap<u64, Mark>,
    records: HashMap<Key, Arc<Checked>>,
    /// The number of bytes of memory that are left. Without any, every file is checked.
    left: usize,
}

/// What is known of the files with the same size and beginning.
#[derive(Debug)]
enum Mark {
    /// There is one file, which is not hashed.
    Unhashed(Box<Unhashed>),
    /// Their hashes are known.
    Hashed,
}

#[derive(Debug)]
struct Unhashed {
    origin: Origin,
    size: usize,
    key_path: Option<PathBuf>,
    checked: Arc<Checked>,
}

/// The place from which bytes can be read again.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) path: PathBuf,
    pub(super) stamp: Stamp,
    /// Their offset in the file.
    pub(super) start: u64,
}

impl Origin {
    /// Whether both are the same bytes of the same file, even under different names.
    fn is(&self, other: &Origin) -> bool {
        (self.stamp, self.start) == (other.stamp, other.start)
    }
}

/// Everything that a record depends on, apart from the scan's options.
type Key = ([u8; 32], Option<PathBuf>);

/// A file to check.
pub(super) struct Subject<'a> {
    /// Its bytes.
    pub(super) data: &'a [u8],
    /// Their hash, if it is already known.
    pub(super) content: Option<Content>,
    /// Where it is installed, if that matters: a debug file may be in the same folder.
    pub(super) path: Option<&'a Path>,
    /// The place from which it can be read again.
    pub(super) origin: Option<Origin>,
}

impl Seen {
    /// Without any records. Never takes more than `room` bytes of memory.
    pub(super) fn new(room: usize) -> Seen {
        Seen { known: Mutex::new(Known { left: room, ..Known::default() }) }
    }

    /// The remembered record of the same bytes, or else the one that `check` returns. Two threads that have the same
    /// bytes at the same time both check them.
    ///
    /// # Errors
    /// Returns the error of `check`, which means that the file has changed. It is not remembered.
    pub(super) fn or_check(
        &self,
        subject: Subject<'_>,
        check: impl FnOnce() -> io::Result<Arc<Checked>>,
    ) -> io::Result<Arc<Checked>> {
        let Subject { data, content, path, origin } = subject;
        let mark = mark(data, path);
        match self.look_up(mark, origin.as_ref(), content.as_ref()) {
            Lookup::Same(record) => return Ok(record),
            Lookup::Other(one) => self.hash(*one),
            Lookup::New => {
                if let Some(origin) = origin.filter(|_| content.is_none()) {
                    let checked = check()?;
                    let key_path = path.map(Path::to_owned);
                    let one =
                        Unhashed { origin, size: data.len(), key_path, checked: checked.clone() };
                    self.lock().mark(mark, one);
                    return Ok(checked);
                }
            }
            Lookup::Hashed => {}
        }
        let content = content.unwrap_or_else(|| Content::of(data));
        let key = (content.hash, path.map(Path::to_owned));
        let found = self.lock().records.get(&key).cloned();
        if let Some(checked) = found {
            return Ok(checked);
        }
        let checked = check()?;
        self.lock().keep(key, checked.clone());
        Ok(checked)
    }

    /// What is known of the files with this mark. A second file marks them as hashed, and so does one whose hash is known or
    /// that cannot be read again.
    fn look_up(&self, mark: u64, origin: Option<&Origin>, content: Option<&Content>) -> Lookup {
        let mut known = self.lock();
        let Some(entry) = known.marks.get_mut(&mark) else {
            let is_hashed = content.is_some() || origin.is_none();
            if is_hashed && known.take(MARK) {
                known.marks.insert(mark, Mark::Hashed);
            }
            return Lookup::New;
        };
        match entry {
            // A hard link, or a file that was named twice.
            Mark::Unhashed(one) if origin.is_some_and(|origin| origin.is(&one.origin)) => {
                Lookup::Same(one.checked.clone())
            }
            Mark::Unhashed(_) => match std::mem::replace(entry, Mark::Hashed) {
                Mark::Unhashed(one) => Lookup::Other(one),
                Mark::Hashed => Lookup::Hashed,
            },
            Mark::Hashed => Lookup::Hashed,
        }
    }

    /// Remembers the record of a file by the hash of its bytes, unless they have changed.
    fn hash(&self, one: Unhashed) {
        let Ok(file) = FileBytes::open(&one.origin.path) else { return };
        if file.stamp() != one.origin.stamp {
            return;
        }
        let start = usize::try_from(one.origin.start).unwrap_or(usize::MAX);
        if let Some(bytes) = file.get(start..).and_then(|rest| rest.get(..one.size)) {
            let hash = Content::of(bytes).hash;
            if file.intact().is_ok() {
                self.lock().keep((hash, one.key_path), one.checked);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known of a new file.
enum Lookup {
    /// No file has its mark.
    New,
    /// It is the same file.
    Same(Arc<Checked>),
    /// Another file, which is not hashed, may have the same bytes.
    Other(Box<Unhashed>),
    /// Hashed files may have the same bytes.
    Hashed,
}

impl Known {
    /// Takes `bytes` of the memory that is left. Returns false if there is less.
    const fn take(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    /// A file of findings stays open only while its record is handed over.
    fn mark(&mut self, mark: u64, one: Unhashed) {
        if one.checked.spilled.is_none()
            && self.take(MARK.saturating_add(weight::of_record(&one.checked.record)))
        {
            self.marks.entry(mark).or_insert_with(|| Mark::Unhashed(Box::new(one)));
        }
    }

    fn keep(&mut self, key: Key, checked: Arc<Checked>) {
        let weight = MARK.saturating_add(weight::of_record(&checked.record));
        if checked.spilled.is_none() && self.take(weight) {
            self.records.insert(key, checked);
        }
    }
}

fn mark(data: &[u8], path: Option<&Path>) -> u64 {
    let mut hasher = DefaultHasher::new();
    data.len().hash(&mut hasher);
    hasher.write(data.get(..START).unwrap_or(data));
    path.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests: they may panic")]
mod tests {
    use super::*;
    use sframe_record::{Record, Status};
    use std::cell::Cell;
    use std::fs;

    const ROOM: usize = 1 << 20;

    /// Files in a folder, and the number of checks.
    struct Bench {
        folder: tempfile::TempDir,
        seen: Seen,
        checks: Cell<u32>,
    }

    impl Bench {
        fn new() -> Bench {
            let folder = tempfile::tempdir().expect("a folder");
            Bench { folder, seen: Seen::new(ROOM), checks: Cell::new(0) }
        }

        /// The reason of the record, which is the last of the bytes.
        fn reason(&self, subject: Subject<'_>) -> String {
            let last = subject.data.last().copied();
            let record = self.seen.or_check(subject, || {
                self.checks.set(self.checks.get() + 1);
                let record = Record::because(Status::Unreadable, format!("{last:?}"));
                Ok(Arc::new(record.into()))
            });
            let checked = record.expect("the check succeeds");
            checked.record.reason.as_ref().map_or("", |reason| reason.as_str()).to_owned()
        }

        fn file(&self, name: &str, data: &[u8]) -> String {
            let path = self.folder.path().join(name);
            if !path.exists() {
                fs::write(&path, data).expect("writable");
            }
            let bytes = FileBytes::open(&path).expect("readable");
            let origin = Some(Origin { path, stamp: bytes.stamp(), start: 0 });
            self.reason(Subject { data: &bytes, content: None, path: None, origin })
        }

        fn member(&self, data: &[u8], path: Option<&str>) -> String {
            let path = path.map(Path::new);
            self.reason(Subject { data, content: None, path, origin: None })
        }
    }

    /// Two files of the same size with the same beginning.
    fn pair() -> (Vec<u8>, Vec<u8>) {
        let first = vec![1; 5000];
        let mut second = first.clone();
        second[4999] = 2;
        (first, second)
    }

    #[test]
    fn the_same_bytes_are_checked_once() {
        let (bench, (first, second)) = (Bench::new(), pair());
        for name in ["a", "b", "c"] {
            assert_eq!(bench.file(name, &first), "Some(1)");
        }
        assert_eq!(bench.member(&first, None), "Some(1)");
        assert_eq!(bench.checks.get(), 1);
        assert_eq!(bench.file("d", &second), "Some(2)");
        assert_eq!(bench.member(&second, None), "Some(2)");
        assert_eq!(bench.checks.get(), 2);
    }

    #[test]
    fn members_may_precede_files() {
        let (bench, (first, second)) = (Bench::new(), pair());
        assert_eq!(bench.member(&first, None), "Some(1)");
        assert_eq!(bench.file("a", &first), "Some(1)");
        assert_eq!(bench.member(&second, None), "Some(2)");
        assert_eq!(bench.checks.get(), 2);
    }

    #[test]
    fn hard_links_are_the_same_file() {
        let (bench, (first, _)) = (Bench::new(), pair());
        let path = |name: &str| bench.folder.path().join(name);
        fs::write(path("a"), &first).expect("writable");
        fs::hard_link(path("a"), path("b")).expect("it can be linked");
        assert_eq!(bench.file("a", &[]), "Some(1)");
        assert_eq!(bench.file("b", &[]), "Some(1)");
        assert!(bench.seen.lock().records.is_empty());
        assert_eq!(bench.checks.get(), 1);
    }

    /// The first file changes before the second one is compared with it.
    #[test]
    fn the_record_of_a_changed_file_is_not_reused() {
        let (bench, (first, second)) = (Bench::new(), pair());
        assert_eq!(bench.file("a", &first), "Some(1)");
        fs::write(bench.folder.path().join("a"), &second).expect("writable");
        assert_eq!(bench.file("b", &second), "Some(2)");
        assert_eq!(bench.checks.get(), 2);
    }

    #[test]
    fn files_with_different_paths_are_distinguished_if_paths_matter() {
        let (bench, (first, _)) = (Bench::new(), pair());
        for path in ["/a", "/b", "/a"] {
            bench.member(&first, Some(path));
        }
        assert_eq!(bench.checks.get(), 2);
    }

    /// One file, installed in two places: each may have another debug file.
    #[test]
    fn hard_links_are_distinguished_if_paths_matter() {
        let (bench, (first, _)) = (Bench::new(), pair());
        let path = bench.folder.path().join("a");
        fs::write(&path, &first).expect("writable");
        let bytes = FileBytes::open(&path).expect("readable");
        for installed in ["/a", "/b", "/a"] {
            let origin = Origin { path: path.clone(), stamp: bytes.stamp(), start: 0 };
            let (path, origin) = (Some(Path::new(installed)), Some(origin));
            bench.reason(Subject { data: &bytes, content: None, path, origin });
        }
        assert_eq!(bench.checks.get(), 2);
    }

    #[test]
    fn memory_is_bounded() {
        let bench = Bench::new();
        let number = |n: usize| u32::try_from(n).expect("small").to_le_bytes();
        let most = ROOM / MARK;
        for n in 0..most {
            bench.member(&number(n), None);
        }
        let kept = bench.seen.lock().records.len();
        assert!((most / 20..most).contains(&kept), "{kept} of {most}");
        let before = bench.checks.get();
        bench.member(&number(0), None);
        assert_eq!(bench.checks.get(), before);
        bench.member(&number(most - 1), None);
        assert_eq!(bench.checks.get(), before + 1);
    }
}
