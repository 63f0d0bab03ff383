//! The pieces in which the records of an input are handed over to the thread that reports them.

use crate::describe::weight;
use sframe_record::{Finding, Record, Tail};

use super::order::Weigh;

/// A part of a record: its beginning, its end, or both. A record with more findings than fit in memory has many parts.
#[derive(Debug, Default)]
pub struct Piece {
    /// The head of the record, with which it begins.
    pub head: Option<Record<'static>>,
    /// The next findings.
    pub findings: Vec<Finding<'static>>,
    /// The tail of the record, with which it ends.
    pub tail: Option<Tail<'static>>,
}

/// Takes the pieces of an input in order.
pub type Visit<'f> = &'f mut dyn FnMut(Piece);

impl Piece {
    /// Applies `change` to the head, if the piece has one.
    pub(super) fn map(self, change: impl FnOnce(Record<'static>) -> Record<'static>) -> Piece {
        Piece { head: self.head.map(change), ..self }
    }
}

impl From<Record<'static>> for Piece {
    fn from(record: Record<'static>) -> Piece {
        let (head, findings, tail) = record.split();
        Piece { head: Some(head), findings, tail: Some(tail) }
    }
}

impl Weigh for Piece {
    fn weight(&self) -> usize {
        self.head.as_ref().map_or(0, weight::of_record)
            + weight::of_findings(&self.findings)
            + self.tail.as_ref().map_or(0, weight::of_tail)
    }
}

/// Puts the pieces of records together, where whole records are needed.
#[derive(Debug, Default)]
pub struct Collector {
    head: Option<Record<'static>>,
    findings: Vec<Finding<'static>>,
    most: usize,
}

impl Collector {
    /// Keeps the first `most` findings of a record. All of them are counted.
    #[must_use]
    pub fn of(most: usize) -> Collector {
        Collector { most, ..Collector::default() }
    }

    /// Adds the next piece. Returns the record that ends with it.
    pub fn add(&mut self, piece: Piece) -> Option<Record<'static>> {
        let Piece { head, findings, tail } = piece;
        if head.is_some() {
            self.head = head;
            self.findings.clear();
        }
        let room = self.most.saturating_sub(self.findings.len());
        self.findings.extend(findings.into_iter().take(room));
        let (tail, head) = (tail?, self.head.take()?);
        Some(Record { findings: std::mem::take(&mut self.findings), ..head.ending(tail) })
    }
}
