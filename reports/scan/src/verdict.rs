//! The result of checking some bytes, which may occur under several names.

use std::sync::Arc;

use super::held::Spilled;
use super::piece::{Piece, Visit};
use crate::describe::Content;
use sframe_record::{FileName, Record, Status, Text, Undecided, UndecidedCause};

/// The result of checking some bytes. Its record has no name, because the same bytes may occur elsewhere again.
pub(super) struct Verdict {
    pub(super) checked: Arc<Checked>,
    pub(super) content: Option<Content>,
}

/// A record and, if it has too many findings for memory, the file that contains them.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    pub(super) record: Record<'static>,
    pub(super) spilled: Option<Spilled>,
}

impl From<Record<'static>> for Checked {
    fn from(record: Record<'static>) -> Checked {
        Checked { record, spilled: None }
    }
}

impl Verdict {
    pub(super) fn of(checked: impl Into<Checked>) -> Verdict {
        Verdict { checked: Arc::new(checked.into()), content: None }
    }

    pub(super) fn because(status: Status, reason: impl Into<Text<'static>>) -> Verdict {
        Verdict::of(Record::because(status, reason))
    }

    /// For a kernel as boot loaders start it: it contains an ELF file, and is not an ELF file itself.
    pub(super) fn linux_image() -> Verdict {
        let kind = "Linux kernel images: extract vmlinux, which is ELF, by scripts/extract-vmlinux";
        Verdict::because(Status::Unsupported, kind)
    }

    pub(super) fn empty() -> Verdict {
        Verdict::because(Status::NotElf, "empty")
    }

    /// Hands over the record of a file called `name` with these bytes.
    pub(super) fn hand_over(self, name: &FileName, visit: Visit<'_>) {
        let content = self.content.map(Into::into);
        let Checked { record, spilled } = Arc::unwrap_or_clone(self.checked);
        let record = Record { content, ..record.named(name) };
        let Some(spilled) = spilled else { return visit(record.into()) };
        let (head, _, mut tail) = record.split();
        visit(Piece { head: Some(head), ..Piece::default() });
        let read = spilled.each(&mut |findings| visit(Piece { findings, ..Piece::default() }));
        if let Err(missing) = read {
            let (cause, reason) = (UndecidedCause::LostFindings, missing.to_string().into());
            tail.undecided.push(Undecided { section: None, cause, reason });
        }
        visit(Piece { tail: Some(tail), ..Piece::default() });
    }
}

impl From<Status> for Verdict {
    fn from(status: Status) -> Verdict {
        Verdict::of(Record::new(status))
    }
}
