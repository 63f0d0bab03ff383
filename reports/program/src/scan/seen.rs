//! What a scan has checked already: the same bytes are checked once, and reported wherever they
//! stand.
//!
//! A member of a package is gone once it is checked, so it is hashed while it is there. A file on
//! disk can be read again: it is hashed when another one turns up that starts alike and has the
//! same size, and most files never are.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::record::{Content, weight};
use sframe_input::{FileBytes, Stamp};
use sframe_record::Record;

/// Bytes that an entry takes besides what was found.
const MARK: usize = 128;
/// Files of the same size that start alike are likely to be the same: a linked program's build-id
/// stands there.
const START: usize = 1024;

/// What has been checked.
#[derive(Debug)]
pub(super) struct Seen {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// By size and start.
    marks: HashMap<u64, Mark>,
    records: HashMap<Key, Arc<Record<'static>>>,
    /// Bytes of memory that may still be taken. Files that come when there are too few are checked,
    /// each of them.
    left: usize,
}

/// What is known of all files with one size and start.
#[derive(Debug)]
enum Mark {
    /// There is one, and it is not hashed.
    One(Box<One>),
    /// Their hashes are known.
    Hashed,
}

#[derive(Debug)]
struct One {
    origin: Origin,
    size: usize,
    key_path: Option<PathBuf>,
    record: Arc<Record<'static>>,
}

/// Where bytes can be read again.
#[derive(Debug)]
pub(super) struct Origin {
    pub(super) path: PathBuf,
    pub(super) stamp: Stamp,
    /// Where in the file they start.
    pub(super) start: u64,
}

impl Origin {
    /// Whether both are the same bytes of the same file, whatever its names.
    fn is(&self, other: &Origin) -> bool {
        (self.stamp, self.start) == (other.stamp, other.start)
    }
}

/// What a record depends on, besides the scan's options.
type Key = ([u8; 32], Option<PathBuf>);

/// A file that is to be checked.
pub(super) struct Subject<'a> {
    /// Its bytes.
    pub(super) data: &'a [u8],
    /// Their hash, where it is known anyway.
    pub(super) content: Option<Content>,
    /// Where it is installed, if that makes a difference: debug files may stand beside it.
    pub(super) path: Option<&'a Path>,
    /// Where to read it again.
    pub(super) origin: Option<Origin>,
}

impl Seen {
    /// Nothing yet, and never more than `room` bytes of memory.
    pub(super) fn new(room: usize) -> Seen {
        Seen { known: Mutex::new(Known { left: room, ..Known::default() }) }
    }

    /// What `check` finds, or has found before in the same bytes. Two threads that meet the same
    /// bytes at the same time both check them.
    ///
    /// # Errors
    /// That of `check`: the bytes were not the file's all the time. It is not kept.
    pub(super) fn or_check(
        &self,
        subject: Subject<'_>,
        check: impl FnOnce() -> io::Result<Arc<Record<'static>>>,
    ) -> io::Result<Arc<Record<'static>>> {
        let Subject { data, content, path, origin } = subject;
        let mark = mark(data, path);
        let hashed = content.is_some() || origin.is_none();
        match self.sight(mark, origin.as_ref(), hashed) {
            Sight::Same(record) => return Ok(record),
            Sight::Other(one) => self.hash(*one),
            Sight::New => {
                if let Some(origin) = origin.filter(|_| !hashed) {
                    let record = check()?;
                    let key_path = path.map(Path::to_owned);
                    let one = One { origin, size: data.len(), key_path, record: record.clone() };
                    self.lock().mark(mark, one);
                    return Ok(record);
                }
            }
            Sight::Hashed => {}
        }
        let content = content.unwrap_or_else(|| Content::of(data));
        let key = (content.hash, path.map(Path::to_owned));
        let found = self.lock().records.get(&key).cloned();
        if let Some(record) = found {
            return Ok(record);
        }
        let record = check()?;
        self.lock().keep(key, record.clone());
        Ok(record)
    }

    /// What is known of the files with this mark; from now on their hashes are, except for one
    /// that is the first.
    fn sight(&self, mark: u64, origin: Option<&Origin>, hashed: bool) -> Sight {
        let mut known = self.lock();
        let Some(entry) = known.marks.get_mut(&mark) else {
            if hashed && known.take(MARK) {
                known.marks.insert(mark, Mark::Hashed);
            }
            return Sight::New;
        };
        match entry {
            // A hard link, or a file that was named twice.
            Mark::One(one) if origin.is_some_and(|origin| origin.is(&one.origin)) => {
                Sight::Same(one.record.clone())
            }
            Mark::One(_) => match std::mem::replace(entry, Mark::Hashed) {
                Mark::One(one) => Sight::Other(one),
                Mark::Hashed => Sight::Hashed,
            },
            Mark::Hashed => Sight::Hashed,
        }
    }

    /// Keeps what was found in a file by the hash of its bytes, if they are still what they were.
    fn hash(&self, one: One) {
        let Ok(file) = FileBytes::open(&one.origin.path) else { return };
        if file.stamp() != one.origin.stamp {
            return;
        }
        let start = usize::try_from(one.origin.start).unwrap_or(usize::MAX);
        if let Some(bytes) = file.get(start..).and_then(|rest| rest.get(..one.size)) {
            let hash = Content::of(bytes).hash;
            if file.intact().is_ok() {
                self.lock().keep((hash, one.key_path), one.record);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known when a file turns up.
enum Sight {
    /// Nothing like it.
    New,
    /// It is this very file.
    Same(Arc<Record<'static>>),
    /// Another that may have the same bytes, and is not hashed.
    Other(Box<One>),
    /// Others that may have the same bytes, by their hash.
    Hashed,
}

impl Known {
    /// Whether there was room for `bytes` more, which are taken now.
    const fn take(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    fn mark(&mut self, mark: u64, one: One) {
        if self.take(MARK.saturating_add(weight::of_record(&one.record))) {
            self.marks.entry(mark).or_insert_with(|| Mark::One(Box::new(one)));
        }
    }

    fn keep(&mut self, key: Key, record: Arc<Record<'static>>) {
        if self.take(MARK.saturating_add(weight::of_record(&record))) {
            self.records.insert(key, record);
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
    use sframe_record::Status;
    use std::cell::Cell;
    use std::fs;

    const ROOM: usize = 1 << 20;

    /// Files in a folder, and how often one was checked.
    struct Desk {
        folder: tempfile::TempDir,
        seen: Seen,
        checks: Cell<u32>,
    }

    impl Desk {
        fn new() -> Desk {
            let folder = tempfile::tempdir().expect("a folder");
            Desk { folder, seen: Seen::new(ROOM), checks: Cell::new(0) }
        }

        /// The reason of the record, which is the last of the bytes.
        fn told(&self, subject: Subject<'_>) -> String {
            let last = subject.data.last().copied();
            let record = self.seen.or_check(subject, || {
                self.checks.set(self.checks.get() + 1);
                Ok(Arc::new(Record::because(Status::Unreadable, format!("{last:?}"))))
            });
            let record = record.expect("the check succeeds");
            record.reason.as_ref().map_or("", |reason| reason.as_str()).to_owned()
        }

        fn file(&self, name: &str, data: &[u8]) -> String {
            let path = self.folder.path().join(name);
            if !path.exists() {
                fs::write(&path, data).expect("writable");
            }
            let bytes = FileBytes::open(&path).expect("readable");
            let origin = Some(Origin { path, stamp: bytes.stamp(), start: 0 });
            self.told(Subject { data: &bytes, content: None, path: None, origin })
        }

        fn member(&self, data: &[u8], path: Option<&str>) -> String {
            let path = path.map(Path::new);
            self.told(Subject { data, content: None, path, origin: None })
        }
    }

    /// Two of one size that start alike.
    fn pair() -> (Vec<u8>, Vec<u8>) {
        let first = vec![1; 5000];
        let mut second = first.clone();
        second[4999] = 2;
        (first, second)
    }

    #[test]
    fn the_same_bytes_are_checked_once() {
        let (desk, (first, second)) = (Desk::new(), pair());
        for name in ["a", "b", "c"] {
            assert_eq!(desk.file(name, &first), "Some(1)");
        }
        assert_eq!(desk.member(&first, None), "Some(1)");
        assert_eq!(desk.checks.get(), 1);
        assert_eq!(desk.file("d", &second), "Some(2)");
        assert_eq!(desk.member(&second, None), "Some(2)");
        assert_eq!(desk.checks.get(), 2);
    }

    #[test]
    fn members_come_first_as_well() {
        let (desk, (first, second)) = (Desk::new(), pair());
        assert_eq!(desk.member(&first, None), "Some(1)");
        assert_eq!(desk.file("a", &first), "Some(1)");
        assert_eq!(desk.member(&second, None), "Some(2)");
        assert_eq!(desk.checks.get(), 2);
    }

    #[test]
    fn hard_links_are_the_same_file() {
        let (desk, (first, _)) = (Desk::new(), pair());
        let path = |name: &str| desk.folder.path().join(name);
        fs::write(path("a"), &first).expect("writable");
        fs::hard_link(path("a"), path("b")).expect("it can be linked");
        assert_eq!(desk.file("a", &[]), "Some(1)");
        assert_eq!(desk.file("b", &[]), "Some(1)");
        assert!(desk.seen.lock().records.is_empty());
        assert_eq!(desk.checks.get(), 1);
    }

    /// The first file has become another when the second asks what it was.
    #[test]
    fn a_file_that_has_changed_says_nothing_about_what_it_was() {
        let (desk, (first, second)) = (Desk::new(), pair());
        assert_eq!(desk.file("a", &first), "Some(1)");
        fs::write(desk.folder.path().join("a"), &second).expect("writable");
        assert_eq!(desk.file("b", &second), "Some(2)");
        assert_eq!(desk.checks.get(), 2);
    }

    #[test]
    fn where_paths_count_they_are_told_apart() {
        let (desk, (first, _)) = (Desk::new(), pair());
        for path in ["/a", "/b", "/a"] {
            desk.member(&first, Some(path));
        }
        assert_eq!(desk.checks.get(), 2);
    }

    /// One file, installed in two places: beside each another debug file may stand.
    #[test]
    fn hard_links_are_told_apart_where_paths_count() {
        let (desk, (first, _)) = (Desk::new(), pair());
        let path = desk.folder.path().join("a");
        fs::write(&path, &first).expect("writable");
        let bytes = FileBytes::open(&path).expect("readable");
        for installed in ["/a", "/b", "/a"] {
            let origin = Origin { path: path.clone(), stamp: bytes.stamp(), start: 0 };
            let (path, origin) = (Some(Path::new(installed)), Some(origin));
            desk.told(Subject { data: &bytes, content: None, path, origin });
        }
        assert_eq!(desk.checks.get(), 2);
    }

    #[test]
    fn what_is_kept_has_an_end() {
        let desk = Desk::new();
        let number = |n: usize| u32::try_from(n).expect("small").to_le_bytes();
        let most = ROOM / MARK;
        for n in 0..most {
            desk.member(&number(n), None);
        }
        let kept = desk.seen.lock().records.len();
        assert!((most / 10..most).contains(&kept), "{kept} of {most}");
        let before = desk.checks.get();
        desk.member(&number(0), None);
        assert_eq!(desk.checks.get(), before);
        desk.member(&number(most - 1), None);
        assert_eq!(desk.checks.get(), before + 1);
    }
}
