//! Applies the policy to what a scan finds, and sums it up, on its way to those who report it.

use std::io;

use sframe_policy::{Judge, Judging, Policy};
use sframe_record::{Summary, Text};

use super::Sink;
use super::options::CheckOptions;
use super::piece::Piece;

/// Takes the pieces of a scan in order.
pub(super) struct Judged<'s> {
    judge: Judge,
    options: &'s CheckOptions,
    /// The file that was begun.
    file: Option<Judging<'static>>,
    summary: Summary<'static>,
    sink: &'s mut dyn Sink,
}

impl<'s> Judged<'s> {
    /// For a scan with these options.
    pub(super) fn new(
        options: &'s CheckOptions,
        policy: &Policy,
        sink: &'s mut dyn Sink,
    ) -> Judged<'s> {
        let judge = Judge::new(policy.clone()).without(options.unchecked());
        Judged { judge, options, file: None, summary: Summary::default(), sink }
    }

    /// The options of the scan.
    pub(super) const fn options(&self) -> &'s CheckOptions {
        self.options
    }

    /// Reports the next piece.
    pub(super) fn take(&mut self, piece: Piece) -> io::Result<()> {
        let Piece { head, findings, tail } = piece;
        if let Some(head) = head {
            self.sink.begin(&head)?;
            self.file = Some(self.judge.begin(head));
        }
        if let Some(file) = &mut self.file {
            // The rest of a million findings would keep the person waiting who has interrupted the scan.
            for finding in findings.into_iter().take_while(|_| !self.options.is_stopped()) {
                if let Some(finding) = self.judge.finding(file, finding) {
                    self.sink.finding(file.head(), &finding)?;
                }
            }
        }
        let Some(tail) = tail else { return Ok(()) };
        let Some(file) = self.file.take() else { return Ok(()) };
        let record = self.judge.end(file, tail);
        self.summary.add(&record);
        self.sink.end(&record)
    }

    pub(super) fn tick(&mut self) {
        self.sink.tick(&self.summary);
    }

    /// The summary of the scan.
    pub(super) fn finish(self) -> Summary<'static> {
        let notes = self.judge.notes().into_iter().map(Text::from).collect();
        Summary { notes, ..self.summary }
    }
}
