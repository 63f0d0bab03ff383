//! The result of checking some bytes, which may occur under several names.

use std::sync::Arc;

use crate::record::Content;
use sframe_record::{FileName, Record, Status, Text};

/// The result of checking some bytes. Its record has no name, because the same bytes may occur elsewhere again.
pub(super) struct Verdict {
    pub(super) record: Arc<Record<'static>>,
    pub(super) content: Option<Content>,
}

impl Verdict {
    pub(super) fn of(record: Record<'static>) -> Verdict {
        Verdict { record: Arc::new(record), content: None }
    }

    pub(super) fn because(status: Status, reason: impl Into<Text<'static>>) -> Verdict {
        Verdict::of(Record::because(status, reason))
    }

    pub(super) fn empty() -> Verdict {
        Verdict::because(Status::NotElf, "empty")
    }

    /// The record of a file called `name` with these bytes.
    pub(super) fn named(self, name: &FileName) -> Record<'static> {
        let content = self.content.map(Into::into);
        Record { content, ..Arc::unwrap_or_clone(self.record).named(name) }
    }
}

impl From<Status> for Verdict {
    fn from(status: Status) -> Verdict {
        Verdict::of(Record::new(status))
    }
}
