//! Walks by several witnesses at once.

use sframe_validator::Abi;

use super::call;
use super::end::End;
use super::memory::Memory;
use super::registers::Cursor;
use super::rules::{Gaps, Lookup, Rules};
use super::step::{Step, Unwinder};
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
    /// The step by the row of the call, one byte before the return address, if the return address was looked up and leads
    /// elsewhere: it belongs to another row or function.
    pub by_call: Option<Box<Step>>,
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
    /// The witness, by its number, that contradicts all others at that level, if at least two others agree there.
    pub alone: Option<usize>,
    /// The first level at which a return address was looked up that [leads elsewhere](Cell::by_call) than its call. The
    /// frames after it are what the rules lead to, but nothing that the program has called.
    pub astray: Option<usize>,
    /// The number of levels at which at least two witnesses agree about the caller, or about its absence. Those from the
    /// level on at which the walk goes astray are not counted.
    pub compared: usize,
    /// Whether the walk ended because of the limit on frames.
    pub limited: bool,
}

impl<M: Memory> Unwinder<'_, M> {
    /// Walks by `count` witnesses from the frame `start`. `rows` returns the statement of a witness, by its number, about
    /// an address.
    pub fn walk_together(
        &self,
        start: &Cursor,
        count: usize,
        mut rows: impl FnMut(usize, u64) -> Statement,
    ) -> Together {
        let Unwinder { abi, rules, memory } = *self;
        let mut result = Together {
            levels: Vec::new(),
            parted: None,
            alone: None,
            astray: None,
            compared: 0,
            limited: false,
        };
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
                    let step = self.step(&frame, &mut rows);
                    let is_known = result.astray.is_some();
                    let by_call = if is_known { None } else { self.by_call(&step, &frame, rows) };
                    Cell { frame, step, by_call, follows: false }
                });
                level.cells.push(cell);
            }
            if level.cells.iter().flatten().any(|cell| cell.by_call.is_some()) {
                result.astray = Some(result.levels.len());
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

    /// The step by the byte before a return address, if `found`, the step by the return address itself, contradicts it.
    fn by_call(
        &self,
        found: &Step,
        frame: &Cursor,
        mut rows: impl FnMut(u64) -> Statement,
    ) -> Option<Box<Step>> {
        let Unwinder { abi, rules, memory } = *self;
        let is_call = rules.lookup == Lookup::ReturnAddress && !frame.exact;
        // A signal's handler was not called: the address to which it returns is the first one of its function.
        if !is_call || found.statement.signal || found.by_kernel_frame {
            return None;
        }
        let rules = &Rules { lookup: Lookup::Call, ..*rules };
        let right = Unwinder { abi, rules, memory }.step(frame, &mut rows);
        let differs = match (Claim::of(found), Claim::of(&right)) {
            (Some(found), Some(right)) => !found.agrees(&right, abi),
            (None, None) => false,
            // The machine code need not determine every frame of a function.
            _ => found.statement.function != right.statement.function,
        };
        differs.then(|| Box::new(right))
    }
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
        let claims: Vec<(usize, Claim<'_>)> = level
            .cells
            .iter()
            .enumerate()
            .filter_map(|(number, cell)| Some((number, Claim::of(&cell.as_ref()?.step)?)))
            .collect();
        let agree = |without: Option<usize>| {
            let kept = || claims.iter().filter(|(number, _)| Some(*number) != without);
            let agrees_with_all =
                |(_, claim): &(usize, Claim<'_>)| kept().all(|(_, other)| claim.agrees(other, abi));
            (kept().count() > 1).then(|| kept().all(agrees_with_all))
        };
        let is_compared = match agree(None) {
            Some(false) => {
                self.parted = Some(self.levels.len());
                // Without an FP, a claim can agree with each of two that differ: then both of these contradict all others.
                let mut alone = claims
                    .iter()
                    .map(|(number, _)| *number)
                    .filter(|number| agree(Some(*number)) == Some(true));
                self.alone = alone.next().filter(|_| alone.next().is_none());
                self.alone.is_some()
            }
            Some(true) => true,
            None => false,
        };
        self.compared += usize::from(is_compared && self.astray.is_none());
        if self.parted.is_some() {
            return level.cells.iter().map(own).collect();
        }
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
