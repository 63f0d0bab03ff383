//! Examines the functions of a chunk.

use sframe_validator::unwind::{CodeAddress, Frame};

use super::registers::{Search, WrongRules};
use super::rows::Chunk;
use super::{Contradiction, ProofSums, Proofs};
use crate::code::{
    FrameView, Function, Judgement, KnownFacts, Program, Truth, WatchedRegisters, Workspace,
};
use crate::compare::entry::is_entered_unusually;
use crate::compare::piece::{Piece, Stated, Statement};
use crate::compare::ruling::Wrong;
use crate::compare::verdict::Fields;
use crate::witness::CodeRange;

/// What the code of a chunk proves.
#[derive(Default)]
pub(super) struct Examined<'c> {
    pub(super) proofs: Proofs,
    pub(super) contradictions: Vec<Contradiction<'c>>,
    pub(super) wrong_rules: Vec<WrongRules<'c>>,
}

/// Holds the rows about the functions of a chunk against their code.
pub(super) fn examine<'c>(code: &Program<'_>, chunk: &Chunk<'c>) -> Examined<'c> {
    let mut examined = Examined::default();
    let mut workspace = Workspace::for_code(chunk.bytes());
    for (range, pieces) in chunk.functions() {
        examined.function(code, range, pieces, &mut workspace);
    }
    examined
}

impl<'c> Examined<'c> {
    /// Examines a function, which has `pieces`.
    fn function<'e>(
        &mut self,
        code: &Program<'e>,
        range: CodeRange,
        pieces: &[Piece<'c>],
        workspace: &mut Workspace<'e>,
    ) {
        for piece in pieces {
            self.add(piece, piece.end.saturating_sub(piece.start.address));
        }
        let function = code.function_in(range.start, workspace);
        let Some(mut function) = function else { return };
        let first = pieces.first().filter(|piece| piece.start == range.start);
        let at_start = first.map_or([None, None], |piece| <[_; 2]>::from(frames(piece)));
        let is_unreadable = first.is_some() && at_start == [None, None];
        if !is_unreadable && !is_entered_unusually(code, &mut function, at_start) {
            self.judge(&mut function, pieces);
        }
        workspace.recycle(function);
    }

    /// Judges the pieces of a function by what is known before each instruction.
    pub(super) fn judge(&mut self, function: &mut Function<'_>, pieces: &[Piece<'c>]) {
        let range = function.range();
        let frames = pieces.iter().flat_map(|piece| <[_; 2]>::from(frames(piece))).flatten();
        let watched = frames.fold(function.viewed(), WatchedRegisters::with);
        let is_viewed = watched == function.viewed();
        let mut wrong_rules = std::mem::take(&mut self.wrong_rules);
        let mut search = Search::new(function, &mut wrong_rules);
        let watched = watched.with_registers(search.registers());
        let mut ends = pieces.iter().flat_map(|piece| [piece.start.address, piece.end]).peekable();
        let until = |start: u64| {
            while ends.next_if(|end| *end <= start).is_some() {}
            ends.peek().copied().unwrap_or(range.end)
        };
        let mut rest = pieces;
        let before = self.contradictions.len();
        let mut judged: Option<(FrameView, Judged)> = None;
        function.visit_runs(range.start.address..range.end, watched, until, |from, to, facts| {
            while let Some((_, others)) = rest.split_first().filter(|(first, _)| first.end <= from)
            {
                (rest, judged) = (others, None);
            }
            let Some(piece) = rest.first().filter(|piece| piece.start.address <= from) else {
                return;
            };
            let truths = match &judged {
                Some((view, truths)) if facts.look_like(view) => *truths,
                _ => {
                    let truths = Judged::of(piece, &facts);
                    judged = is_viewed.then(|| (facts.view(), truths));
                    truths
                }
            };
            // An instruction may end after the function, and another row may start in it.
            let to = to.min(piece.end);
            self.instructions(piece, truths, from, to, &facts);
            search.run(piece, from, to, &facts);
        });
        search.finish();
        self.wrong_rules = wrong_rules;
        let found = self.contradictions.get_mut(before..).unwrap_or_default();
        let starts: Vec<u64> = found.iter().map(|found| found.start.address).collect();
        for (found, change) in found.iter_mut().zip(function.changes_before(&starts)) {
            found.change = change;
        }
    }

    /// Adds the bytes of a piece, as far as is known before its code is visited.
    fn add(&mut self, piece: &Piece<'_>, bytes: u64) {
        fn unreached<F: Copy>(sums: &mut ProofSums, statement: &Statement<F>, bytes: u64) {
            if !statement.is_nothing() {
                sums.unreached = sums.unreached.saturating_add(bytes);
            }
        }
        unreached(&mut self.proofs.sframe, &piece.sframe, bytes);
        unreached(&mut self.proofs.cfi, &piece.cfi, bytes);
    }

    /// Adds instructions, before which the code says the same.
    fn instructions(
        &mut self,
        piece: &Piece<'c>,
        judged: Judged,
        from: u64,
        to: u64,
        facts: &KnownFacts<'_>,
    ) {
        let bytes = to.saturating_sub(from);
        reached(&mut self.proofs.sframe, &piece.sframe, judged.sframe, bytes);
        reached(&mut self.proofs.cfi, &piece.cfi, judged.cfi, bytes);
        let is_wrong = |truth: Option<Truth>| truth == Some(Truth::Refuted);
        let wrong = match (is_wrong(judged.sframe), is_wrong(judged.cfi)) {
            _ if piece.differ => return,
            (true, true) => Wrong::Inherited,
            (true, false) => Wrong::Sframe,
            (false, true) => Wrong::Cfi,
            (false, false) => return,
        };
        let (sframe, cfi) = (piece.sframe.row(), piece.cfi.row());
        let frame = match (wrong, sframe, cfi) {
            (Wrong::Cfi, _, Some(Stated { frame, .. })) => frame,
            (_, Some(Stated { frame, .. }), _) => frame,
            _ => return,
        };
        let contradiction = Contradiction {
            start: CodeAddress { address: from, ..piece.start },
            end: to,
            wrong,
            fields: refuted(facts.judge(frame), frame, facts),
            sframe: sframe.copied(),
            cfi: cfi.copied(),
            change: None,
            truth: facts.proven_row_beside(frame),
        };
        match self.contradictions.last_mut() {
            Some(last) if last.continues(&contradiction) => last.end = to,
            _ => self.contradictions.push(contradiction),
        }
    }
}

/// The truth of the rows of a piece.
#[derive(Clone, Copy)]
struct Judged {
    sframe: Option<Truth>,
    cfi: Option<Truth>,
}

impl Judged {
    fn of(piece: &Piece<'_>, facts: &KnownFacts<'_>) -> Judged {
        let truth = |frame: &Frame| facts.judge(frame).whole();
        let (in_sframe, in_cfi) = frames(piece);
        let sframe = in_sframe.map(truth);
        let is_same = in_sframe.is_some() && in_sframe == in_cfi;
        let cfi = if is_same { sframe } else { in_cfi.map(truth) };
        Judged { sframe, cfi }
    }
}

/// The frames of SFrame and of CFI.
fn frames<'p>(piece: &'p Piece<'_>) -> (Option<&'p Frame>, Option<&'p Frame>) {
    (piece.sframe.row().map(|stated| &stated.frame), piece.cfi.row().map(|stated| &stated.frame))
}

/// Adds bytes of instructions that are reached.
fn reached<F: Copy>(
    sums: &mut ProofSums,
    statement: &Statement<F>,
    truth: Option<Truth>,
    bytes: u64,
) {
    if statement.is_nothing() {
        return;
    }
    let sum = match truth {
        Some(Truth::Proven) => &mut sums.proven,
        Some(Truth::Refuted) => &mut sums.refuted,
        Some(Truth::Unknown) | None => &mut sums.unknown,
    };
    *sum = sum.saturating_add(bytes);
    sums.unreached = sums.unreached.saturating_sub(bytes);
}

/// The parts of a frame that are wrong. Where the CFA is wrong, so are rules that count from it: they are not reported as well.
fn refuted(checked: Judgement, frame: &Frame, facts: &KnownFacts<'_>) -> Fields {
    let known = facts.proven_row();
    let is_signing = known.ra.is_some() && known.ra_signed != frame.ra_signed;
    let ra = if is_signing { Fields::RA_SIGNING } else { Fields::RA };
    let has_other_ra = known.ra != Some(frame.ra) || is_signing;
    let parts = [
        (checked.cfa, Fields::CFA, true),
        (checked.ra, ra, has_other_ra),
        (checked.fp, Fields::FP, known.fp != Some(frame.fp)),
    ];
    let wrong =
        parts.into_iter().filter(|(truth, _, differs)| *truth == Truth::Refuted && *differs);
    wrong.fold(Fields::default(), |fields, (_, field, _)| fields.with(field))
}

impl Contradiction<'_> {
    /// Whether `next` only extends this range.
    fn continues(&self, next: &Contradiction<'_>) -> bool {
        let rows = |of: &Contradiction<'_>| {
            (
                of.sframe.map(|stated| (stated.function.start, stated.row_start)),
                of.cfi.map(|stated| (stated.function.start(), stated.row_start)),
            )
        };
        self.start.section == next.start.section
            && self.end == next.start.address
            && (self.wrong, self.fields) == (next.wrong, next.fields)
            && rows(self) == rows(next)
    }
}
