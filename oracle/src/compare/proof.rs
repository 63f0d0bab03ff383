//! Compares the rows of SFrame and CFI with the machine code.
//!
//! The functions of a file are divided into chunks, which the threads of the current `rayon` pool examine. The
//! chunks, and so the results, do not depend on the number of threads.

mod chunk;
mod registers;
mod rows;
mod unproven;

use core::ops::AddAssign;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;

use super::piece::{Stated, with_pieces};
use super::ruling::Wrong;
use super::tables::Tables;
use super::verdict::Fields;
use crate::cfi::{Cfi, Fde};
use crate::code::{Function, Program, ProvenRow};
use crate::witness::SframeFunction;
use chunk::Examined;
pub use registers::{WrongRule, WrongRules};
use rows::Chunk;
pub use unproven::{UnprovenSum, UnprovenSums};

/// A chunk of functions has about this many bytes of code.
const CHUNK: u64 = 1 << 18;
/// The number of chunks that are examined before what they prove is passed on. Memory grows with it.
const AT_ONCE: usize = 64;

/// Bytes of code by what the code proves about the rows of a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ProofSums {
    /// The row's CFA, RA and FP are right.
    pub proven: u64,
    /// At least one of them is wrong.
    pub refuted: u64,
    /// The code decides nothing: it does not determine some part of the frame, the row cannot be read, or no known path leads there.
    pub undecided: UnprovenSums,
}

impl ProofSums {
    /// The sum: the bytes that the witness describes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.proven
            .saturating_add(self.refuted)
            .saturating_add(self.undecided.reached())
            .saturating_add(self.undecided.unreached())
    }
}

impl AddAssign for ProofSums {
    fn add_assign(&mut self, other: ProofSums) {
        self.proven = self.proven.saturating_add(other.proven);
        self.refuted = self.refuted.saturating_add(other.refuted);
        self.undecided += other.undecided;
    }
}

/// What the code proves about both witnesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Proofs {
    /// About SFrame.
    pub sframe: ProofSums,
    /// About CFI.
    pub cfi: ProofSums,
    /// The bytes of code at which CFI has a wrong rule for another register that functions keep for their callers.
    pub wrong_rules: u64,
}

impl AddAssign for Proofs {
    fn add_assign(&mut self, other: Proofs) {
        self.sframe += other.sframe;
        self.cfi += other.cfi;
        self.wrong_rules = self.wrong_rules.saturating_add(other.wrong_rules);
    }
}

/// A range of PCs about which rows are wrong.
///
/// Where SFrame and CFI differ, there is none: a [comparison](super::compare) finds such places, and the
/// [arbiter](super::Arbiter) decides who is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Contradiction<'c> {
    /// The first PC, which is that of an instruction.
    pub start: CodeAddress,
    /// The end, exclusive.
    pub end: u64,
    /// Whose rows are wrong.
    pub wrong: Wrong,
    /// The parts of the frame that are wrong.
    pub fields: Fields,
    /// SFrame's row, if it has one.
    pub sframe: Option<Stated<SframeFunction>>,
    /// CFI's row, if it has one.
    pub cfi: Option<Stated<Fde<'c>>>,
    /// The address of the instruction that changed the frame last, if it is in the code right before.
    pub change: Option<u64>,
    /// What the code says at the first PC. Its CFA is relative to the register that the rows use.
    pub truth: ProvenRow,
}

/// What the code refutes.
#[derive(Clone, Copy, Debug)]
pub enum Refutation<'r, 'c> {
    /// Rows about a range of PCs.
    Rows(&'r Contradiction<'c>),
    /// Rules of a function for registers that no row has.
    Rules(&'r WrongRules<'c>),
}

/// Compares the rows of `sections` and of `cfi` with `code`, all of which must belong to the file. What the code
/// refutes is passed to `found`: function after function in the order of addresses, but a part that comes before the rest of its
/// function after the rest.
pub fn prove<'c>(
    code: &Program<'_>,
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    found: impl FnMut(Refutation<'_, 'c>),
) -> Proofs {
    prove_in_chunks((CHUNK, AT_ONCE), code, Tables { elf, sections, cfi }, found)
}

/// Compares chunks of `size` bytes of code, `at_once` of which are examined together.
fn prove_in_chunks<'c>(
    (size, at_once): (u64, usize),
    code: &Program<'_>,
    tables: Tables<'_, 'c>,
    mut found: impl FnMut(Refutation<'_, 'c>),
) -> Proofs {
    let mut proofs = Proofs::default();
    rows::with_chunks(size, code, tables, |chunks| {
        let mut next: Vec<Chunk<'_>> = chunks.take(at_once).collect();
        while !next.is_empty() {
            let examine = || next.par_iter().map(|rows| chunk::examine(code, rows)).collect();
            let (examined, following): (Vec<_>, Vec<_>) =
                rayon::join(examine, || chunks.take(at_once).collect());
            for chunk in examined {
                proofs += chunk.proofs;
                chunk.contradictions.iter().for_each(|one| found(Refutation::Rows(one)));
                for rules in &chunk.wrong_rules {
                    proofs.wrong_rules = proofs.wrong_rules.saturating_add(rules.bytes);
                    found(Refutation::Rules(rules));
                }
            }
            next = following;
        }
    });
    proofs
}

/// The rules of `cfi` for callee-saved registers that the code of a function refutes.
pub fn wrong_rules<'c>(
    function: &mut Function<'_>,
    elf: &Elf<'_>,
    cfi: &'c [Cfi<'c>],
) -> Vec<WrongRules<'c>> {
    let mut examined = Examined::default();
    with_pieces(Tables { elf, sections: &[], cfi }, |pieces_in| {
        examined.judge(function, &pieces_in(&[function.range()]));
    });
    examined.wrong_rules
}

#[cfg(test)]
mod tests {
    use sframe_validator::Placement;

    use super::*;

    /// A golden file in chunks of any size, on any number of threads.
    #[test]
    fn chunks_and_threads_change_nothing() {
        let file = sframe_corpus::read("golden/2.44/x86_64/handwritten.so");
        let elf = Elf::parse(&file).expect("ELF");
        let header = elf.sframe_sections().next().expect("a section");
        let bytes = elf.section_data(header).expect("in the file");
        let placement = Placement::at(header.address).with_abi(elf.abi());
        let sections = [Section::parse(bytes, placement).expect("readable")];
        let cfi = Cfi::load_all(&elf).expect("readable");
        let code = Program::of(&elf, &sections, &cfi).expect("AMD64");
        let proofs = |size, at_once, threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let mut found = Vec::new();
            let sums = pool.expect("threads").install(|| {
                let add = |one: Refutation<'_, '_>| found.push(format!("{one:?}"));
                let tables = Tables { elf: &elf, sections: &sections, cfi: &cfi };
                prove_in_chunks((size, at_once), &code, tables, add)
            });
            (sums, found)
        };
        let whole = proofs(u64::MAX, 1, 1);
        assert!(whole.1.len() > 5, "{whole:#?}");
        for (size, at_once, threads) in
            [(1, 1, 1), (1, 5, 3), (1, 100, 3), (40, 2, 2), (1000, 1, 3)]
        {
            let found = proofs(size, at_once, threads);
            assert_eq!(found, whole, "{size} bytes, {at_once} chunks, {threads} threads");
        }
    }
}
