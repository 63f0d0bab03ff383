//! Holds all of a file's CFI against its machine code.

use core::ops::AddAssign;

use sframe_validator::unwind::{CodeAddress, Frame, Row};

use crate::cfi::{Cfi, RowContext};
use crate::code::{Code, Known, Truth};
use crate::witness::CodeRange;

/// Bytes of code by what the code proves about its CFI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ProofSums {
    /// All frames are as CFI says.
    pub proven: u64,
    /// CFI says something else than the code.
    pub refuted: u64,
    /// The code does not determine some part of the frame, or CFI has no row.
    pub unknown: u64,
    /// No known path leads there: mostly padding.
    pub unreached: u64,
}

impl ProofSums {
    /// The sum.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.proven
            .saturating_add(self.refuted)
            .saturating_add(self.unknown)
            .saturating_add(self.unreached)
    }
}

impl AddAssign for ProofSums {
    fn add_assign(&mut self, other: ProofSums) {
        self.proven = self.proven.saturating_add(other.proven);
        self.refuted = self.refuted.saturating_add(other.refuted);
        self.unknown = self.unknown.saturating_add(other.unknown);
        self.unreached = self.unreached.saturating_add(other.unreached);
    }
}

/// A range of PCs about which CFI is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Refuted {
    /// The function that contains it.
    pub function: CodeRange,
    /// The first PC.
    pub start: CodeAddress,
    /// The end, exclusive.
    pub end: u64,
    /// The frame according to CFI at the first PC.
    pub cfi: Frame,
    /// What the code says there.
    pub known: Known,
}

/// Compares the rows of `cfi` with `code`, both of which must belong to the same file. Each range that the code refutes is
/// passed to `refuted`, in the order of addresses.
pub fn prove(code: &Code<'_>, cfi: &[Cfi<'_>], mut refuted: impl FnMut(&Refuted)) -> ProofSums {
    let mut contexts: Vec<_> = cfi.iter().map(RowContext::new).collect();
    let mut sums = ProofSums::default();
    for range in code.functions() {
        let found = cfi.iter().zip(&mut contexts).find_map(|(cfi, context)| {
            let function = cfi.find(range.start)?;
            Some(function.rows(context).flatten().collect::<Vec<Row>>())
        });
        sums += prove_function(code, *range, &found.unwrap_or_default(), &mut refuted);
    }
    sums
}

fn prove_function(
    code: &Code<'_>,
    range: CodeRange,
    rows: &[Row],
    refuted: &mut impl FnMut(&Refuted),
) -> ProofSums {
    let mut sums = ProofSums { unreached: range.bytes(), ..ProofSums::default() };
    let Some(mut function) = code.function(range.start) else { return sums };
    let mut last: Option<Refuted> = None;
    function.visit(range.start.address..range.end, |from, to, facts| {
        // An instruction may end after the function.
        let bytes = to.min(range.end).saturating_sub(from);
        sums.unreached = sums.unreached.saturating_sub(bytes);
        let row = rows.partition_point(|row| row.start <= from).checked_sub(1);
        let row = row.and_then(|row| rows.get(row)).filter(|row| row.contains(from));
        let truth = row.map_or(Truth::Unknown, |row| facts.check(&row.frame).whole());
        match (truth, row) {
            (Truth::Proven, _) => sums.proven += bytes,
            (Truth::Refuted, Some(row)) => {
                sums.refuted += bytes;
                if let Some(last) = last.as_mut().filter(|last| last.end == from) {
                    last.end = to;
                } else {
                    last.iter().for_each(&mut *refuted);
                    let start = CodeAddress { address: from, ..range.start };
                    let (cfi, known) = (row.frame, facts.known());
                    last = Some(Refuted { function: range, start, end: to, cfi, known });
                }
            }
            _ => sums.unknown += bytes,
        }
    });
    last.iter().for_each(refuted);
    sums
}
