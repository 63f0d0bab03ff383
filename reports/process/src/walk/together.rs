//! Walks by several witnesses at once.

use sframe_validator::Abi;

use super::call;
use super::end::End;
use super::memory::Memory;
use super::registers::Cursor;
use super::rules::{Gaps, Rules};
use super::step::{Step, step};
use crate::statement::Statement;

/// The frames at one depth of the stack, one for each witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// In the order of the witnesses; `None` if the walk of a witness ended before.
    pub cells: Vec<Option<Cell>>,
}

/// A frame, and the step of one witness to its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The frame.
    pub frame: Cursor,
    /// The step from it.
    pub step: Step,
    /// Whether the witness continues with a caller that only others found.
    pub follows: bool,
}

/// The walks of several witnesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Together {
    /// The frames, from the innermost one.
    pub levels: Vec<Level>,
    /// The first level at which witnesses disagree about the caller. From there on, each walks alone.
    pub parted: Option<usize>,
    /// The number of levels at which at least two witnesses agree about the caller, or about its absence.
    pub compared: usize,
    /// Whether the walk ended because of the limit on frames.
    pub limited: bool,
}

/// Walks by `count` witnesses from the frame `start`. `rows` returns the statement of a witness, by its number, about an
/// address.
pub fn walk_together(
    abi: Abi,
    rules: &Rules,
    start: &Cursor,
    memory: &impl Memory,
    count: usize,
    mut rows: impl FnMut(usize, u64) -> Statement,
) -> Together {
    let mut result = Together { levels: Vec::new(), parted: None, compared: 0, limited: false };
    let mut frames: Vec<Option<Cursor>> = vec![Some(*start); count];
    while frames.iter().any(Option::is_some) {
        if result.levels.len() >= rules.max_frames {
            result.limited = true;
            result.cut(rules.max_frames);
            break;
        }
        let mut level = Level { cells: Vec::with_capacity(count) };
        for (number, frame) in frames.iter().enumerate() {
            let mut rows = |address| rows(number, address);
            let cell = frame.map(|frame| {
                let step = step(abi, rules, &frame, memory, &mut rows);
                Cell { frame, step, follows: false }
            });
            level.cells.push(cell);
        }
        let first = frames.iter().flatten().next();
        let called = first.and_then(|frame| {
            let statements = level.cells.iter().flatten().map(|cell| &cell.step.statement);
            call::caller(abi, frame, statements, memory, |address| rows(0, address))
        });
        frames = result.next(abi, rules, &mut level, called);
        result.levels.push(level);
    }
    result
}

impl Together {
    /// The frames at the next level. `called` is the caller if there is no code at this level.
    fn next(
        &mut self,
        abi: Abi,
        rules: &Rules,
        level: &mut Level,
        called: Option<Cursor>,
    ) -> Vec<Option<Cursor>> {
        let own = |cell: &Option<Cell>| cell.as_ref().and_then(|cell| cell.step.next().copied());
        if self.parted.is_some() {
            return level.cells.iter().map(own).collect();
        }
        let claims: Vec<Claim<'_>> =
            level.cells.iter().flatten().filter_map(|cell| Claim::of(&cell.step)).collect();
        let differ = |(number, claim): (usize, &Claim<'_>)| {
            claims.iter().take(number).any(|other| !claim.agrees(other, abi))
        };
        if claims.iter().enumerate().any(differ) {
            self.parted = Some(self.levels.len());
            return level.cells.iter().map(own).collect();
        }
        self.compared += usize::from(claims.len() > 1);
        let agreed = level.cells.iter().filter_map(own).reduce(|a, b| a.with(&b)).or(called);
        let next = |cell: &mut Option<Cell>| {
            let cell = cell.as_mut()?;
            if cell.step.end.as_ref().is_some_and(End::is_gap) {
                cell.follows = agreed.is_some() && rules.gaps == Gaps::Follow;
                return agreed.filter(|_| cell.follows);
            }
            match rules.gaps {
                // All witnesses know as much as the one that knows most.
                Gaps::Follow => cell.step.next().and(agreed),
                // Each knows only the registers that it recovers itself.
                Gaps::Stop => cell.step.next().copied(),
            }
        };
        level.cells.iter_mut().map(next).collect()
    }

    /// Notes the limit on frames at the last level.
    fn cut(&mut self, most: usize) {
        let Some(last) = self.levels.last_mut() else { return };
        for cell in last.cells.iter_mut().flatten() {
            cell.step.end.get_or_insert(End::TooManyFrames(most));
        }
    }
}

/// What a step states about the caller.
enum Claim<'s> {
    /// There is none.
    NoCaller,
    /// It is this frame.
    Caller(&'s Cursor),
}

impl<'s> Claim<'s> {
    /// The claim of a step; `None` if it states nothing.
    fn of(step: &'s Step) -> Option<Claim<'s>> {
        match (&step.end, &step.caller) {
            (Some(End::Outermost | End::ReturnsToZero), _) => Some(Claim::NoCaller),
            (_, Some(caller)) => Some(Claim::Caller(caller)),
            (_, None) => None,
        }
    }

    /// Whether two claims do not contradict each other. An FP that one of them cannot recover is not compared.
    fn agrees(&self, other: &Claim<'_>, abi: Abi) -> bool {
        match (self, other) {
            (Claim::NoCaller, Claim::NoCaller) => true,
            (Claim::Caller(a), Claim::Caller(b)) => {
                let fp = a.fp(abi).zip(b.fp(abi)).is_none_or(|(a, b)| a == b);
                a.pc == b.pc && a.exact == b.exact && a.sp(abi) == b.sp(abi) && fp
            }
            _ => false,
        }
    }
}
