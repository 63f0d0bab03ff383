//! A function as CFI describes it, and as an assembler writes it.

use std::ops::Range;

use sframe_oracle::cfi::{Fde, Instruction, RowContext};
use sframe_synthesis::{AsWritten, Assembler};
use sframe_validator::unwind::{Frame, Row};

/// The maximum number of a CIE's instructions that are read for one of its functions: a long CIE that many functions share must
/// not multiply the work.
const MAX_INITIAL: usize = 64;

/// The parts of a frame that are looked at one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Cfa,
    Ra,
    Fp,
    Signing,
}

impl Part {
    pub(super) const ALL: [Part; 4] = [Part::Cfa, Part::Ra, Part::Fp, Part::Signing];

    fn differs(self, a: &Frame, b: &Frame) -> bool {
        match self {
            Part::Cfa => a.cfa != b.cfa,
            Part::Ra => a.ra != b.ra,
            Part::Fp => a.fp != b.fp,
            Part::Signing => a.ra_signed != b.ra_signed,
        }
    }
}

/// A call frame instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The first PC to which it applies.
    pub(super) place: u64,
    pub(super) instruction: Instruction,
    /// Whether it restores a state over which another one was remembered.
    pub(super) is_covered: bool,
}

/// PCs for which both an assembler and CFI have one frame.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u64,
    written: Frame,
    /// Where the run of rows with this frame starts: a section may have several, or the first alone.
    written_since: u64,
    /// CFI's frame; `None` where CFI cannot be read.
    cfi: Option<Frame>,
    /// Where the run of PCs began in which both differ in a part; `None` if they do not.
    since: [Option<u64>; 4],
    /// Where the run of PCs began in which each of both says the same of a part.
    unchanged_since: [u64; 4],
}

/// A function as an assembler may write it.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pieces: Vec<Piece>,
    /// Whether it has no rows, which marks an outermost frame.
    pub(super) is_without_rows: bool,
    pub(super) signal: bool,
}

/// What an assembler and CFI say at a PC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Both {
    pub(super) written: Frame,
    pub(super) cfi: Frame,
}

impl Candidate {
    fn piece(&self, place: u64) -> Option<&Piece> {
        let after = self.pieces.partition_point(|piece| piece.start <= place);
        self.pieces.get(after.checked_sub(1)?)
    }

    /// Both frames at a PC.
    pub(super) fn at(&self, place: u64) -> Option<Both> {
        let piece = self.piece(place)?;
        Some(Both { written: piece.written, cfi: piece.cfi? })
    }

    /// Where the run of PCs began in which both differ in a part, and which contains `place`.
    pub(super) fn since(&self, place: u64, part: Part) -> Option<u64> {
        *self.piece(place)?.since.get(part as usize)?
    }

    /// Where the run of PCs began in which each of both says of a part what it says at `place`.
    pub(super) fn unchanged_since(&self, place: u64, part: Part) -> Option<u64> {
        self.piece(place)?.unchanged_since.get(part as usize).copied()
    }

    /// Whether the assembler writes this frame for all PCs of the range, and for those before it from `row` on, where the row
    /// starts.
    fn says(&self, range: &Range<u64>, row: Option<u64>, frame: &Frame) -> bool {
        let first = self.pieces.partition_point(|piece| piece.start <= range.start);
        let Some(first) = first.checked_sub(1) else { return false };
        let mut within =
            self.pieces.iter().skip(first).take_while(|piece| piece.start < range.end).peekable();
        let is_row = |piece: &&Piece| {
            let run = piece.written_since..=range.start;
            self.is_without_rows || row.is_some_and(|row| run.contains(&row))
        };
        within.peek().is_some_and(is_row) && within.all(|piece| piece.written == *frame)
    }
}

/// A function as CFI describes it, and as an assembler may write it.
#[derive(Clone, Debug)]
pub(super) struct Modelled<'c> {
    pub(super) fde: Fde<'c>,
    pub(super) steps: Vec<Step>,
    candidates: Vec<Candidate>,
    /// The rows of CFI.
    pub(super) rows: Vec<Row>,
    /// Whether the code refutes that the return address is undefined, if it was asked.
    pub(super) is_undefined_wrongly: Option<bool>,
}

impl<'c> Modelled<'c> {
    pub(super) fn of(written: &AsWritten<'_, 'c>, fde: &Fde<'c>, assembler: Assembler) -> Self {
        let mut context = RowContext::new(fde.cfi());
        let entries = written.function(fde, assembler, &mut context);
        let rows = rows(fde, &mut context);
        let candidates = entries.into_iter().map(|entry| {
            let outermost = Row {
                start: fde.start().address,
                end: fde.start().address.saturating_add(fde.size()),
                frame: Frame::OUTERMOST,
            };
            let is_without_rows = entry.rows.is_empty();
            let written = if is_without_rows { vec![outermost] } else { entry.rows };
            Candidate { pieces: pieces(&written, &rows), is_without_rows, signal: entry.signal }
        });
        Modelled {
            fde: *fde,
            steps: steps(fde),
            candidates: candidates.collect(),
            rows,
            is_undefined_wrongly: None,
        }
    }

    /// The candidates that have this row at all PCs of the range.
    pub(super) fn matching(
        &self,
        range: Range<u64>,
        row: Option<u64>,
        frame: &Frame,
    ) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().filter(move |candidate| candidate.says(&range, row, frame))
    }

    /// Whether CFI has this frame at all PCs of the range.
    pub(super) fn is_right(&self, range: Range<u64>, frame: &Frame) -> bool {
        let first = self.rows.partition_point(|row| row.end <= range.start);
        let mut within =
            self.rows.iter().skip(first).take_while(|row| row.start < range.end).peekable();
        within.peek().is_some_and(|row| row.start <= range.start)
            && within.all(|row| row.frame == *frame)
    }

    /// The instructions that apply first at a PC.
    pub(super) fn steps_at(&self, place: u64) -> &[Step] {
        let first = self.steps.partition_point(|step| step.place < place);
        let after = self.steps.partition_point(|step| step.place <= place);
        self.steps.get(first..after).unwrap_or_default()
    }
}

/// The rows of CFI, up to an error.
fn rows(fde: &Fde<'_>, context: &mut RowContext) -> Vec<Row> {
    let mut read = fde.rows(context);
    let mut rows = Vec::new();
    while let Ok(Some(row)) = read.next_row() {
        rows.push(*row);
    }
    rows
}

/// Divides a function where one of both tables has a new row.
fn pieces(written: &[Row], cfi: &[Row]) -> Vec<Piece> {
    let mut starts: Vec<u64> = written.iter().chain(cfi).map(|row| row.start).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut pieces: Vec<Piece> = Vec::with_capacity(starts.len());
    let (mut of_written, mut of_cfi) = (written.iter().peekable(), cfi.iter().peekable());
    let (mut row_written, mut other): (Option<&Row>, Option<Row>) = (None, None);
    for start in starts {
        while let Some(row) = of_written.next_if(|row| row.start <= start) {
            row_written = Some(row);
        }
        while let Some(row) = of_cfi.next_if(|row| row.start <= start) {
            other = Some(*row);
        }
        let Some(&Row { frame: written, .. }) = row_written else { continue };
        let cfi = other.filter(|row| start < row.end).map(|row| row.frame);
        let same = pieces.last().filter(|last| last.written == written);
        let written_since = same.map_or(start, |last| last.written_since);
        let (mut since, mut unchanged_since) = ([None; 4], [start; 4]);
        for (index, part) in Part::ALL.into_iter().enumerate() {
            let last = pieces.last();
            let differs = cfi.is_some_and(|cfi| part.differs(&written, &cfi));
            let before = last.and_then(|last| *last.since.get(index)?);
            if let Some(since) = since.get_mut(index).filter(|_| differs) {
                *since = Some(before.unwrap_or(start));
            }
            let unchanged = last.filter(|last| {
                let of_cfi = last.cfi.zip(cfi).is_some_and(|(a, b)| !part.differs(&a, &b));
                of_cfi && !part.differs(&last.written, &written)
            });
            let before = unchanged.and_then(|last| last.unchanged_since.get(index).copied());
            if let Some((since, before)) = unchanged_since.get_mut(index).zip(before) {
                *since = before;
            }
        }
        pieces.push(Piece { start, written, written_since, cfi, since, unchanged_since });
    }
    pieces
}

/// The instructions of a function, first those of its CIE.
fn steps(fde: &Fde<'_>) -> Vec<Step> {
    let (mut place, mut steps) = (fde.start().address, Vec::new());
    // Whether another state was remembered over each one.
    let mut remembered: Vec<bool> = Vec::new();
    let initial = fde.cfi().initial_instructions(fde.cie()).take(MAX_INITIAL);
    for instruction in initial.chain(fde.instructions()) {
        let Ok(instruction) = instruction else { break };
        let mut is_covered = false;
        match instruction {
            Instruction::AdvanceLoc(units) => {
                let factor = fde.cie().code_alignment_factor;
                place = place.saturating_add(units.saturating_mul(factor));
                continue;
            }
            Instruction::SetLoc(to) => {
                place = to.address;
                continue;
            }
            Instruction::RememberState => {
                // Those below the last one are covered already.
                if let Some(last) = remembered.last_mut() {
                    *last = true;
                }
                remembered.push(false);
            }
            Instruction::RestoreState => is_covered = remembered.pop().unwrap_or_default(),
            _ => {}
        }
        steps.push(Step { place, instruction, is_covered });
    }
    steps
}
