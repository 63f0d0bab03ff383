//! The record of some bytes before they have a name.

use std::sync::Arc;

use crate::record::Content;
use sframe_record::{FileName, Record, Status, Text};

/// What became of some bytes, and which they are where that is asked for. The record has no name yet,
/// for the same bytes may be found elsewhere again.
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

    /// The record of the file that has these bytes.
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
