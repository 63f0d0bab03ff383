//! Examines the functions of a chunk.

use core::ops::Range;

use sframe_validator::unwind::{CodeAddress, Frame};

use super::registers::{Search, WrongRules};
use super::rows::Chunk;
use super::{Contradiction, ProofSums, Proofs};
use crate::code::{
    FrameView, Function, Judgement, KnownFacts, Losses, Program, Truth, Unknown, Unproven,
    WatchedRegisters, WhyUnproven, Workspace,
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
    /// What is not decided in the function that is examined, until the reasons are looked up.
    open: Open,
}

/// Compares the rows about the functions of a chunk with their code.
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
        let function = code.function_in(range.start, workspace);
        let Some(mut function) = function else {
            let why = code.why_not_examined(range.start);
            return self.leave_undecided(code, range, pieces, |_| why);
        };
        let first = pieces.first().filter(|piece| piece.start == range.start);
        let at_start = first.map_or([None, None], |piece| <[_; 2]>::from(frames(piece)));
        let is_unreadable = first.is_some() && at_start == [None, None];
        if is_unreadable || is_entered_unusually(code, &mut function, at_start) {
            let why = WhyUnproven::without_cause(Unproven::UnknownEntry);
            self.leave_undecided(code, range, pieces, |_| why);
        } else {
            self.judge(&mut function, pieces);
            self.explain(code, &mut function, pieces);
        }
        workspace.recycle(function);
    }

    /// Finds out why the code of a function that was judged leaves things undecided.
    fn explain<'e>(
        &mut self,
        code: &Program<'e>,
        function: &mut Function<'e>,
        pieces: &[Piece<'c>],
    ) {
        let Open { gaps, unknown } = std::mem::take(&mut self.open);
        for gap in gaps {
            let gap = CodeRange {
                start: CodeAddress { address: gap.start, ..function.range().start },
                end: gap.end,
            };
            self.leave_undecided(code, gap, pieces, |address| {
                code.why_not_reached(function, address)
            });
        }
        let mut losses = Losses::default();
        for UnknownRun { start, end, sframe, cfi } in unknown {
            for (sums, unknown) in [(&mut self.proofs.sframe, sframe), (&mut self.proofs.cfi, cfi)]
            {
                if let Some(unknown) = unknown {
                    let why = code.why_unknown(function, start.address, unknown, &mut losses);
                    sums.undecided.add_reached(why, CodeRange { start, end });
                }
            }
        }
    }

    /// Adds the bytes of `pieces` in code that is not reached. `why` finds out why not, for code that is no padding.
    fn leave_undecided(
        &mut self,
        code: &Program<'_>,
        gap: CodeRange,
        pieces: &[Piece<'c>],
        mut why: impl FnMut(u64) -> WhyUnproven,
    ) {
        let first = pieces.partition_point(|piece| piece.end <= gap.start.address);
        let pieces = pieces.get(first..).unwrap_or_default();
        if pieces.first().is_none_or(|piece| piece.start.address >= gap.end) {
            return;
        }
        let padding = WhyUnproven::without_cause(Unproven::Padding);
        let mut done = gap.start.address;
        for range in code.paddings(gap) {
            if done < range.start {
                self.add_undecided(pieces, done..range.start, why(done));
            }
            self.add_undecided(pieces, range.clone(), padding);
            done = range.end;
        }
        if done < gap.end {
            self.add_undecided(pieces, done..gap.end, why(done));
        }
    }

    /// Adds the bytes of `pieces` in a range.
    fn add_undecided(&mut self, pieces: &[Piece<'c>], range: Range<u64>, why: WhyUnproven) {
        let first = pieces.partition_point(|piece| piece.end <= range.start);
        for piece in pieces.get(first..).unwrap_or_default() {
            let address = piece.start.address.max(range.start);
            let start = CodeAddress { address, ..piece.start };
            let shared = CodeRange { start, end: piece.end.min(range.end) };
            if shared.bytes() == 0 {
                return;
            }
            for (sums, is_nothing) in [
                (&mut self.proofs.sframe, piece.sframe.is_nothing()),
                (&mut self.proofs.cfi, piece.cfi.is_nothing()),
            ] {
                if !is_nothing {
                    sums.undecided.add_unreached(why, shared);
                }
            }
        }
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
        let mut open = Open::default();
        let mut done = range.start.address;
        function.visit_runs(range.start.address..range.end, watched, until, |from, to, facts| {
            while let Some((_, others)) = rest.split_first().filter(|(first, _)| first.end <= from)
            {
                (rest, judged) = (others, None);
            }
            open.gaps.extend((done < from).then_some(done..from));
            let Some(piece) = rest.first().filter(|piece| piece.start.address <= from) else {
                done = rest.first().map_or(to, |piece| piece.start.address.min(to));
                return;
            };
            done = to;
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
            self.instructions(piece, truths, from..to, &facts);
            open.add(piece, truths, from, to);
            search.run(piece, from, to, &facts);
        });
        search.finish();
        self.wrong_rules = wrong_rules;
        open.gaps.extend((done < range.end).then_some(done..range.end));
        self.open = open;
        let found = self.contradictions.get_mut(before..).unwrap_or_default();
        let starts: Vec<u64> = found.iter().map(|found| found.start.address).collect();
        for (found, change) in found.iter_mut().zip(function.changes_before(&starts)) {
            found.change = change;
        }
    }

    /// Adds instructions, before which the code says the same.
    fn instructions(
        &mut self,
        piece: &Piece<'c>,
        judged: Judged,
        range: Range<u64>,
        facts: &KnownFacts<'_>,
    ) {
        let bytes = range.end.saturating_sub(range.start);
        self.proofs.sframe.add_decided(judged.sframe, bytes);
        self.proofs.cfi.add_decided(judged.cfi, bytes);
        let wrong = match (judged.sframe.is_refuted(), judged.cfi.is_refuted()) {
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
            start: CodeAddress { address: range.start, ..piece.start },
            end: range.end,
            wrong,
            fields: refuted(facts.judge(frame), frame, facts),
            sframe: sframe.copied(),
            cfi: cfi.copied(),
            change: None,
            truth: facts.proven_row_beside(frame),
        };
        match self.contradictions.last_mut() {
            Some(last) if last.continues(&contradiction) => last.end = range.end,
            _ => self.contradictions.push(contradiction),
        }
    }
}

/// What the code says about the rows of a piece.
#[derive(Clone, Copy)]
struct Judged {
    sframe: Outcome,
    cfi: Outcome,
}

/// What the code says about a row.
#[derive(Clone, Copy)]
enum Outcome {
    /// There is no statement.
    Nothing,
    Decided(Truth),
    Open(Unknown),
}

impl Judged {
    fn of(piece: &Piece<'_>, facts: &KnownFacts<'_>) -> Judged {
        let (in_sframe, in_cfi) = frames(piece);
        let sframe = Outcome::of(&piece.sframe, facts);
        let is_same = in_sframe.is_some() && in_sframe == in_cfi;
        let cfi = if is_same { sframe } else { Outcome::of(&piece.cfi, facts) };
        Judged { sframe, cfi }
    }
}

impl Outcome {
    fn of<F: Copy>(statement: &Statement<F>, facts: &KnownFacts<'_>) -> Outcome {
        match statement {
            Statement::Nothing => Outcome::Nothing,
            Statement::Unreadable => Outcome::Open(Unknown::Because(Unproven::UnreadableRow)),
            Statement::Row(stated) => match facts.judge(&stated.frame).whole() {
                Truth::Unknown => Outcome::Open(facts.unknown(Some(&stated.frame))),
                truth => Outcome::Decided(truth),
            },
        }
    }

    fn is_refuted(self) -> bool {
        matches!(self, Outcome::Decided(Truth::Refuted))
    }

    const fn unknown(self) -> Option<Unknown> {
        match self {
            Outcome::Open(unknown) => Some(unknown),
            _ => None,
        }
    }
}

/// What is not decided in a function.
#[derive(Default)]
struct Open {
    /// Code that is not reached.
    gaps: Vec<Range<u64>>,
    /// Code that is.
    unknown: Vec<UnknownRun>,
}

/// Instructions before which something is not known, for the same reason.
struct UnknownRun {
    start: CodeAddress,
    end: u64,
    sframe: Option<Unknown>,
    cfi: Option<Unknown>,
}

impl Open {
    /// Adds instructions of a piece.
    fn add(&mut self, piece: &Piece<'_>, judged: Judged, from: u64, to: u64) {
        let (sframe, cfi) = (judged.sframe.unknown(), judged.cfi.unknown());
        if (sframe, cfi) != (None, None) {
            let start = CodeAddress { address: from, ..piece.start };
            self.unknown.push(UnknownRun { start, end: to, sframe, cfi });
        }
    }
}

impl ProofSums {
    /// Adds bytes of instructions, if the code decides about their rows.
    fn add_decided(&mut self, outcome: Outcome, bytes: u64) {
        match outcome {
            Outcome::Decided(Truth::Proven) => self.proven = self.proven.saturating_add(bytes),
            Outcome::Decided(_) => self.refuted = self.refuted.saturating_add(bytes),
            Outcome::Nothing | Outcome::Open(_) => {}
        }
    }
}

/// The frames of SFrame and of CFI.
fn frames<'p>(piece: &'p Piece<'_>) -> (Option<&'p Frame>, Option<&'p Frame>) {
    (piece.sframe.row().map(|stated| &stated.frame), piece.cfi.row().map(|stated| &stated.frame))
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
