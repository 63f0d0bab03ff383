//! Bytes of code about which nothing is decided, by the reason.

use core::ops::AddAssign;

use sframe_validator::unwind::CodeAddress;

use crate::code::{Unproven, WhyUnproven};
use crate::witness::CodeRange;

/// The number of reasons.
const REASONS: usize = Unproven::ALL.len();

/// The bytes for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct UnprovenSum {
    /// Those that are reached, where the code does not determine some part of the frame, or the row cannot be read.
    pub reached: u64,
    /// Those to which no known path leads.
    pub unreached: u64,
    /// The first of them, and the instruction to blame, if it is known.
    pub first: Option<(CodeRange, Option<CodeAddress>)>,
}

/// The bytes for each reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct UnprovenSums([UnprovenSum; REASONS]);

impl UnprovenSums {
    /// The reasons for which there are any bytes.
    pub fn reasons(&self) -> impl Iterator<Item = (Unproven, UnprovenSum)> {
        let all = Unproven::ALL.into_iter().zip(self.0);
        all.filter(|(_, sum)| sum.bytes() > 0)
    }

    /// The bytes that are reached.
    #[must_use]
    pub fn reached(&self) -> u64 {
        self.0.iter().fold(0, |bytes, sum| bytes.saturating_add(sum.reached))
    }

    /// The bytes that are not.
    #[must_use]
    pub fn unreached(&self) -> u64 {
        self.0.iter().fold(0, |bytes, sum| bytes.saturating_add(sum.unreached))
    }

    /// Adds a range that is reached.
    pub(super) fn add_reached(&mut self, why: WhyUnproven, range: CodeRange) {
        self.add(why, range, UnprovenSum { reached: range.bytes(), ..UnprovenSum::default() });
    }

    /// Adds a range that is not reached.
    pub(super) fn add_unreached(&mut self, why: WhyUnproven, range: CodeRange) {
        self.add(why, range, UnprovenSum { unreached: range.bytes(), ..UnprovenSum::default() });
    }

    fn add(&mut self, why: WhyUnproven, range: CodeRange, bytes: UnprovenSum) {
        let index = Unproven::ALL.iter().position(|reason| *reason == why.reason);
        if let Some(sum) = index.and_then(|index| self.0.get_mut(index)) {
            *sum += UnprovenSum { first: Some((range, why.cause)), ..bytes };
        }
    }
}

impl UnprovenSum {
    /// All bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.reached.saturating_add(self.unreached)
    }
}

impl AddAssign for UnprovenSum {
    fn add_assign(&mut self, other: UnprovenSum) {
        self.reached = self.reached.saturating_add(other.reached);
        self.unreached = self.unreached.saturating_add(other.unreached);
        let is_earlier = match (self.first, other.first) {
            (Some((first, _)), Some((other, _))) => other.start < first.start,
            (None, _) => true,
            _ => false,
        };
        if is_earlier {
            self.first = other.first;
        }
    }
}

impl AddAssign for UnprovenSums {
    fn add_assign(&mut self, other: UnprovenSums) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum += more;
        }
    }
}
