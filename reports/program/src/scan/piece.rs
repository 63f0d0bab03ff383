//! The pieces in which the records of an input are handed over.

use crate::record::weight;
use sframe_policy::Judge;
use sframe_record::{Finding, Record};

use super::order::Weigh;

/// A record, or a part of a record that is too large for memory.
#[derive(Debug)]
pub enum Piece {
    /// A whole record.
    Whole(Record<'static>),
    /// A record without its findings, which follow until [`Piece::End`].
    Start(Record<'static>),
    /// The next findings of the record that was started.
    Findings(Vec<Finding<'static>>),
    /// The end of the record that was started.
    End,
}

/// Takes the pieces of an input in order.
pub type Found<'f> = &'f mut dyn FnMut(Piece);

impl Piece {
    /// The same piece, with `change` applied to its record.
    pub(super) fn map(self, change: impl FnOnce(Record<'static>) -> Record<'static>) -> Piece {
        match self {
            Piece::Whole(record) => Piece::Whole(change(record)),
            Piece::Start(record) => Piece::Start(change(record)),
            Piece::Findings(_) | Piece::End => self,
        }
    }

    /// The same piece, with what its findings count under a policy.
    pub(super) fn judged(self, judge: &mut Judge) -> Piece {
        match self {
            Piece::Whole(record) => Piece::Whole(judge.judge(record)),
            Piece::Start(record) => Piece::Start(judge.judge(record)),
            Piece::Findings(findings) => {
                let judged = |mut finding: Finding<'static>| {
                    finding.severity = judge.severity(&finding)?;
                    Some(finding)
                };
                Piece::Findings(findings.into_iter().filter_map(judged).collect())
            }
            Piece::End => self,
        }
    }

    /// The record that this piece is, or that it starts.
    #[must_use]
    pub const fn record(&self) -> Option<&Record<'static>> {
        match self {
            Piece::Whole(record) | Piece::Start(record) => Some(record),
            Piece::Findings(_) | Piece::End => None,
        }
    }
}

impl From<Record<'static>> for Piece {
    fn from(record: Record<'static>) -> Piece {
        Piece::Whole(record)
    }
}

impl Weigh for Piece {
    fn weight(&self) -> usize {
        match self {
            Piece::Whole(record) | Piece::Start(record) => weight::of_record(record),
            Piece::Findings(findings) => weight::of_findings(findings),
            Piece::End => 0,
        }
    }
}
