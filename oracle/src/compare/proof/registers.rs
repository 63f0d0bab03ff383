//! Holds the rules of CFI for registers that functions keep for their callers, and that SFrame does not carry, against the code.

use sframe_validator::unwind::{Cfa, CodeAddress, Recovery, Register};

use crate::cfi::{Fde, RegisterRows};
use crate::code::{Function, KnownFacts, Truth};
use crate::compare::piece::{Piece, Stated};

/// The maximum number of wrong rules of a function that are kept.
const MOST_RULES: usize = 64;

/// A rule that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongRule {
    /// The first address.
    pub start: u64,
    /// The end, exclusive.
    pub end: u64,
    /// The register.
    pub register: Register,
    /// What CFI says.
    pub rule: Recovery,
    /// What the code says at the first address, if it is known.
    pub truth: Option<Recovery>,
}

/// The rules of a function of CFI that the code refutes, for registers that functions keep for their callers, and that SFrame does
/// not carry.
#[derive(Clone, Debug)]
pub struct WrongRules<'c> {
    /// The function.
    pub function: Fde<'c>,
    /// The first address at which a rule is wrong.
    pub start: CodeAddress,
    /// The rules, by their first addresses; the first 64.
    pub rules: Vec<WrongRule>,
    /// The number of bytes at which at least one of them is wrong.
    pub bytes: u64,
}

/// Examines the rules of the functions of CFI in `pieces`, all of which are in `function`.
pub(super) fn examine<'c>(
    function: &mut Function<'_>,
    pieces: &[Piece<'c>],
    found: &mut Vec<WrongRules<'c>>,
) {
    let described = |piece: &Piece<'c>| piece.cfi.row().map(|stated| stated.function);
    for pieces in pieces.chunk_by(|a, b| described(a) == described(b)) {
        let Some(fde) = pieces.first().and_then(described) else { continue };
        // ORC has no such rules, and the caller of a signal frame has its registers in the context. The rules of code in the middle of
        // an entry would take as long as the entry.
        let is_judged = fde.cfi().kind().is_some() && !fde.cie().signal;
        if is_judged && function.contains(fde.start()) {
            found.extend(examine_fde(function, fde, pieces));
        }
    }
}

/// Examines the rules of a function of CFI about `pieces`.
fn examine_fde<'c>(
    function: &mut Function<'_>,
    fde: Fde<'c>,
    pieces: &[Piece<'c>],
) -> Option<WrongRules<'c>> {
    let registers = function.callee_saved();
    let has_rule = registers_with_rules(&fde, registers);
    let is_judged: Vec<bool> = registers
        .iter()
        .zip(has_rule)
        .map(|(register, has_rule)| has_rule || function.restores(*register))
        .collect();
    if !is_judged.contains(&true) {
        return None;
    }
    let (first, last) = (pieces.first()?, pieces.last()?);
    let watched = function.viewed().with_registers(registers);
    let mut search = Search {
        registers,
        is_judged,
        pieces,
        rows: fde.register_rows(registers),
        open: vec![None; registers.len()],
        rules: Vec::new(),
        bytes: 0,
    };
    let range = first.start.address..last.end;
    let until = |_| last.end;
    function.visit_runs(range, watched, until, |from, to, facts| search.run(from, to, &facts));
    search.finish(fde)
}

/// Whether a function has any rule for each of `registers`.
fn registers_with_rules(fde: &Fde<'_>, registers: &[Register]) -> Vec<bool> {
    let mut has_rule = vec![false; registers.len()];
    let mut rows = fde.register_rows(registers);
    while let Some(row) = rows.next_row() {
        for (has_rule, rule) in has_rule.iter_mut().zip(&row.rules) {
            *has_rule |= *rule != Recovery::Unchanged;
        }
    }
    has_rule
}

/// The search for wrong rules of a function.
struct Search<'s, 'c> {
    registers: &'s [Register],
    /// Whether the rules of each register are judged. One that the function may use for anything needs none.
    is_judged: Vec<bool>,
    pieces: &'s [Piece<'c>],
    rows: RegisterRows<'c, 's>,
    /// The wrong rule of each register that may go on.
    open: Vec<Option<WrongRule>>,
    rules: Vec<WrongRule>,
    bytes: u64,
}

impl<'c> Search<'_, 'c> {
    /// Judges the rules about a run of instructions, before which the code says the same.
    fn run(&mut self, from: u64, to: u64, facts: &KnownFacts<'_>) {
        let mut place = from;
        while place < to {
            let Some((cfa, end)) = self.advance(place) else { return };
            let end = end.min(to);
            if let Some(cfa) = cfa {
                self.judge(place, end, cfa, facts);
            }
            place = end;
        }
    }

    /// Moves to an address. Returns the CFA there, if a row has one, and the end of what is said there.
    fn advance(&mut self, place: u64) -> Option<(Option<Cfa>, u64)> {
        while let Some((_, rest)) = self.pieces.split_first().filter(|(it, _)| it.end <= place) {
            self.pieces = rest;
        }
        while self.rows.row().end <= place {
            self.rows.next_row()?;
        }
        let piece = self.pieces.first()?;
        if piece.start.address > place {
            return Some((None, piece.start.address));
        }
        let cfa = piece.cfi.row().map(|Stated { frame, .. }| frame.cfa);
        Some((cfa, piece.end.min(self.rows.row().end)))
    }

    /// Judges the rules at some addresses.
    fn judge(&mut self, start: u64, end: u64, cfa: Cfa, facts: &KnownFacts<'_>) {
        let rules = self.registers.iter().zip(&self.rows.row().rules);
        let mut is_wrong = false;
        for ((register, rule), (open, is_judged)) in
            rules.zip(self.open.iter_mut().zip(&self.is_judged))
        {
            if !is_judged || facts.judge_rule(*register, *rule, cfa) != Truth::Refuted {
                continue;
            }
            is_wrong = true;
            match open {
                Some(last) if last.end == start && last.rule == *rule => last.end = end,
                _ => {
                    let (register, rule) = (*register, *rule);
                    let truth = facts.recovery(register);
                    let wrong = WrongRule { start, end, register, rule, truth };
                    let has_room = self.rules.len() < MOST_RULES;
                    self.rules.extend(open.replace(wrong).filter(|_| has_room));
                }
            }
        }
        self.bytes =
            self.bytes.saturating_add(if is_wrong { end.saturating_sub(start) } else { 0 });
    }

    fn finish(mut self, function: Fde<'c>) -> Option<WrongRules<'c>> {
        self.rules.extend(self.open.into_iter().flatten());
        self.rules.sort_by_key(|rule| (rule.start, rule.register));
        let start = CodeAddress { address: self.rules.first()?.start, ..function.start() };
        Some(WrongRules { function, start, rules: self.rules, bytes: self.bytes })
    }
}
