//! Compares the rules of CFI for registers that functions keep for their callers, and that SFrame does not carry, with the code.

use core::ops::Range;

use sframe_validator::unwind::{Cfa, CodeAddress, Recovery, Register};

use crate::cfi::{Fde, RegisterRows};
use crate::code::{CalleeSavedView, FrameView, Function, KnownFacts};
use crate::compare::piece::Piece;
use crate::witness::CodeRange;

/// The maximum number of wrong rules of a function that are kept.
const MOST_RULES: usize = 64;

/// The maximum size in bytes of a CIE's instructions, which are executed for each of its functions. Producers write a few.
const MOST_INITIAL: u64 = 256;

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

/// Registers, by bits: the first is that of the first register of a list.
type Flags = u32;

/// The flag of the register at an index, of which there are few.
fn flag(index: usize) -> Flags {
    u32::try_from(index).ok().and_then(|index| 1_u32.checked_shl(index)).unwrap_or_default()
}

/// The search for wrong rules in a function, whose instructions are passed in the order of addresses.
pub(super) struct Search<'f, 'c> {
    function: CodeRange,
    registers: &'static [Register],
    /// The registers that the function writes, and restores wherever it is left.
    restored: Flags,
    current: Option<Judged<'c>>,
    found: &'f mut Vec<WrongRules<'c>>,
}

impl<'f, 'c> Search<'f, 'c> {
    pub(super) fn new(
        function: &Function<'_>,
        found: &'f mut Vec<WrongRules<'c>>,
    ) -> Search<'f, 'c> {
        let registers = function.callee_saved();
        let restored = match function.writes(registers) {
            true => flags(registers.iter().map(|register| function.restores(*register))),
            false => 0,
        };
        Search { function: function.range(), registers, restored, current: None, found }
    }

    /// The registers that are looked at.
    pub(super) const fn registers(&self) -> &'static [Register] {
        self.registers
    }

    /// Judges the rules about instructions in a piece, before which the code says the same.
    pub(super) fn run(&mut self, piece: &Piece<'c>, from: u64, to: u64, facts: &KnownFacts<'_>) {
        let Some(stated) = piece.cfi.row() else { return };
        if self.current.as_ref().is_none_or(|judged| judged.function != stated.function) {
            self.close();
            self.current = Some(Judged::new(stated.function, self.registers));
        }
        // ORC has no such rules, and the caller of a signal frame has its registers in the context. The rules of code in the middle
        // of an entry would take as long as the entry.
        let fde = &stated.function;
        let is_readable = fde.cfi().kind().is_some()
            && fde.cfi().keeps_registers()
            && !fde.cie().signal
            && fde.cie().instruction_bytes() <= MOST_INITIAL;
        let Some(judged) = self.current.as_mut().filter(|_| is_readable) else { return };
        if fde.start() < self.function.start {
            return;
        }
        let mut place = from;
        while place < to {
            let Some(end) = judged.advance(place) else { return };
            judged.judge(self.registers, place..end.min(to), stated.frame.cfa, facts);
            place = end;
        }
    }

    /// Ends the search.
    pub(super) fn finish(mut self) {
        self.close();
    }

    /// Ends the search in a function of CFI.
    fn close(&mut self) {
        let judged = self.current.take();
        self.found.extend(judged.and_then(|it| it.finish(self.registers, self.restored)));
    }
}

fn flags(registers: impl Iterator<Item = bool>) -> Flags {
    let set = registers.enumerate().filter(|(_, is_set)| *is_set);
    set.fold(0, |flags, (index, _)| flags | flag(index))
}

/// The rules of a function of CFI.
struct Judged<'c> {
    function: Fde<'c>,
    rows: RegisterRows<'c, 'static>,
    /// The registers with a rule in the rows that were read.
    with_rules: Flags,
    /// What was judged last, unless the row has changed since.
    last: Option<Last>,
    /// The wrong rule of each register that may go on.
    open: Vec<Option<WrongRule>>,
    rules: Vec<WrongRule>,
}

/// What the judgement about rules depends on, and the rules that are wrong.
struct Last {
    cfa: Cfa,
    frame: FrameView,
    registers: CalleeSavedView,
    wrong: Flags,
}

impl<'c> Judged<'c> {
    fn new(function: Fde<'c>, registers: &'static [Register]) -> Judged<'c> {
        let rows = function.register_rows(registers);
        let (open, rules) = (vec![None; registers.len()], Vec::new());
        Judged { function, rows, with_rules: 0, last: None, open, rules }
    }

    /// Moves to an address. Returns the end of the row there.
    fn advance(&mut self, place: u64) -> Option<u64> {
        while self.rows.row().end <= place {
            self.next_row()?;
        }
        Some(self.rows.row().end)
    }

    fn next_row(&mut self) -> Option<()> {
        let row = self.rows.next_row()?;
        self.with_rules |= flags(row.rules.iter().map(|rule| *rule != Recovery::Unchanged));
        self.last = None;
        Some(())
    }

    /// Judges the rules at some addresses.
    fn judge(
        &mut self,
        registers: &[Register],
        range: Range<u64>,
        cfa: Cfa,
        facts: &KnownFacts<'_>,
    ) {
        let view = facts.callee_saved();
        let is_known = |last: &&Last| {
            last.cfa == cfa && Some(last.registers) == view && facts.look_like(&last.frame)
        };
        let known = self.last.as_ref().filter(is_known).map(|last| last.wrong);
        let wrong = known.unwrap_or_else(|| {
            let rules = &self.rows.row().rules;
            let is_cfa_right = facts.is_cfa(cfa);
            // Nothing is known of rules that count from a wrong CFA.
            let is_judged = |rule: &Recovery| {
                is_cfa_right || !matches!(rule, Recovery::AtCfa(_) | Recovery::CfaOffset(_))
            };
            let is_wrong = |(register, rule): (&Register, &Recovery)| {
                is_judged(rule) && facts.refutes(*register, *rule)
            };
            let wrong = flags(registers.iter().zip(rules).map(is_wrong));
            let is_plain =
                |rule: &Recovery| matches!(rule, Recovery::Unchanged | Recovery::AtCfa(_));
            let view = view.filter(|_| rules.iter().all(is_plain));
            self.last = view.map(|view| Last { cfa, frame: facts.view(), registers: view, wrong });
            wrong
        });
        if wrong != 0 {
            self.add(registers, wrong, range, facts);
        }
    }

    /// Adds the rules that are wrong at some addresses.
    fn add(
        &mut self,
        registers: &[Register],
        wrong: Flags,
        Range { start, end }: Range<u64>,
        facts: &KnownFacts<'_>,
    ) {
        let rules = registers.iter().zip(&self.rows.row().rules).zip(&mut self.open).enumerate();
        for (_, ((register, rule), open)) in rules.filter(|(index, _)| wrong & flag(*index) != 0) {
            match open {
                Some(last) if last.end == start && last.rule == *rule => last.end = end,
                _ => {
                    let (register, rule, truth) = (*register, *rule, facts.recovery(*register));
                    let next = WrongRule { start, end, register, rule, truth };
                    let has_room = self.rules.len() < MOST_RULES;
                    self.rules.extend(open.replace(next).filter(|_| has_room));
                }
            }
        }
    }

    /// The wrong rules. A register that the function may use for anything, and that has no rule anywhere, needs none.
    fn finish(mut self, registers: &[Register], restored: Flags) -> Option<WrongRules<'c>> {
        self.rules.extend(self.open.iter_mut().filter_map(Option::take));
        if self.rules.is_empty() {
            return None;
        }
        while self.next_row().is_some() {}
        let judged = restored | self.with_rules;
        let is_judged = |rule: &WrongRule| {
            let index = registers.iter().position(|register| *register == rule.register);
            index.is_some_and(|index| judged & flag(index) != 0)
        };
        let Judged { function, mut rules, .. } = self;
        rules.retain(is_judged);
        rules.sort_by_key(|rule| (rule.start, rule.register));
        rules.truncate(MOST_RULES);
        let start = CodeAddress { address: rules.first()?.start, ..function.start() };
        let bytes = covered(&rules);
        Some(WrongRules { function, start, rules, bytes })
    }
}

/// The number of bytes at which at least one of some rules, which are ordered by their starts, is wrong.
fn covered(rules: &[WrongRule]) -> u64 {
    let (mut bytes, mut done) = (0_u64, 0);
    for rule in rules {
        bytes = bytes.saturating_add(rule.end.saturating_sub(rule.start.max(done)));
        done = done.max(rule.end);
    }
    bytes
}
