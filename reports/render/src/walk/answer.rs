//! Walks as they are reported.

use sframe_process::walk::{Cell, Cursor, End, Level, Memory, Rules, Step, Together, Unwinder};
use sframe_process::{Modules, Silence, Statement, Thread, Witness};
use sframe_validator::Abi;
use sframe_validator::unwind::{ApplyError, Row};

use super::instruction::at;
use super::shared::Texts;
use super::{
    ByCall, FrameValues, SharedText, StackLevel, ThreadWalk, WalkRow, WalkVerdict, WitnessFrame,
};
use sframe_record::numbers::grouped;
use sframe_record::{Address, PrintedFrame};

/// The largest number of frames of all threads together: a thousand threads can have 64 each. A frame takes one to two
/// kilobytes in memory, and up to four in JSON, because three witnesses describe it.
const MOST_FRAMES: usize = 1 << 16;

/// Walks the stacks of a process.
pub(super) struct Walker<'w, 's, M> {
    pub(super) abi: Abi,
    pub(super) rules: &'w Rules,
    pub(super) modules: &'w mut Modules<'s>,
    pub(super) memory: &'w M,
    pub(super) texts: Texts,
}

impl<M: Memory> Walker<'_, '_, M> {
    /// The walks of these threads. If they have very many frames together, those of the last threads are shorter.
    pub(super) fn threads(&mut self, threads: &[Thread]) -> Vec<ThreadWalk> {
        let mut left = MOST_FRAMES;
        let mut walks = Vec::new();
        for thread in threads {
            let walk = self.thread(thread, left);
            // A damaged core dump can have any number of threads with the same stack.
            left = left.saturating_sub(walk.frames.len());
            walks.push(walk);
        }
        walks
    }

    fn thread(&mut self, thread: &Thread, left: usize) -> ThreadWalk {
        let modules = &mut *self.modules;
        let rows = |number: usize, address| match Witness::ALL.get(number) {
            Some(witness) => modules.whole_statement(*witness, address),
            None => Statement::nothing(Silence::NoSection),
        };
        let count = Witness::ALL.len();
        let rules = Rules { max_frames: self.rules.max_frames.min(left), ..*self.rules };
        let unwinder = Unwinder { abi: self.abi, rules: &rules, memory: self.memory };
        let walk = unwinder.walk_together(&thread.frame, count, rows);
        let levels = walk.levels.iter().enumerate();
        let alone = walk.alone.and_then(|number| Witness::ALL.get(number).copied());
        let parting = walk.parted.and_then(|depth| walk.levels.get(depth));
        ThreadWalk {
            id: thread.id,
            signal: Some(thread.signal).filter(|signal| *signal > 0),
            verdict: verdict(self.abi, &walk),
            parted: walk.parted,
            alone,
            instruction: parting.and_then(|level| at(self.abi, level, self.memory)),
            astray: walk.astray,
            compared: walk.compared,
            complete: is_complete(&walk),
            frames: levels.map(|(depth, level)| self.level(depth, level)).collect(),
        }
    }

    fn level(&mut self, depth: usize, level: &Level) -> StackLevel {
        let cells = Witness::ALL.iter().zip(&level.cells);
        let present = cells.filter_map(|(witness, cell)| Some((*witness, cell.as_ref()?)));
        let witnesses = present.map(|(witness, cell)| self.frame(witness, cell)).collect();
        StackLevel { depth, witnesses }
    }

    fn frame(&mut self, witness: Witness, cell: &Cell) -> WitnessFrame {
        let Cell { frame, step, by_call, follows } = cell;
        let statement = &step.statement;
        let FrameValues { pc, sp, fp } = values(self.abi, frame);
        let place = self.modules.place(step.looked_up).ok();
        let symbol = self.modules.symbol(step.looked_up);
        let after = pc.0.wrapping_sub(step.looked_up);
        let by_call = by_call.as_ref().map(|by_call| Box::new(self.by_call(by_call)));
        let file = place.map(|place| self.texts.share(self.modules.name(place.file)));
        WitnessFrame {
            witness,
            pc,
            sp,
            fp,
            file,
            file_address: place.map(|place| Address(place.address)),
            symbol_offset: symbol.map(|symbol| symbol.offset.saturating_add(after)),
            symbol: symbol.map(|symbol| self.texts.share(symbol.name.bytes())),
            looked_up: Address(step.looked_up),
            function_start: statement.function.map(|(start, _)| Address(start)),
            row: statement.row.as_ref().ok().map(|row| self.row(row)),
            signal: statement.signal || step.by_kernel_frame,
            by_kernel_frame: step.by_kernel_frame,
            caller: step.caller.as_ref().map(|caller| values(self.abi, caller)),
            end: step.end.as_ref().map(|end| self.reason(end)),
            follows: *follows,
            by_call,
        }
    }

    fn by_call(&mut self, step: &Step) -> ByCall {
        let looked_up = step.looked_up;
        let place = self.modules.place(looked_up).ok();
        let symbol = self.modules.symbol(looked_up);
        let statement = &step.statement;
        ByCall {
            looked_up: Address(looked_up),
            file_address: place.map(|place| Address(place.address)),
            symbol_offset: symbol.map(|symbol| symbol.offset.saturating_add(1)),
            symbol: symbol.map(|symbol| self.texts.share(symbol.name.bytes())),
            function_start: statement.function.map(|(start, _)| Address(start)),
            row: statement.row.as_ref().ok().map(|row| self.row(row)),
            caller: step.caller.as_ref().map(|caller| values(self.abi, caller)),
            end: step.end.as_ref().map(|end| self.reason(end)),
        }
    }

    fn row(&mut self, row: &Row) -> WalkRow {
        let frame = PrintedFrame::new(self.abi, &row.frame);
        WalkRow {
            start: Address(row.start),
            end: Address(row.end),
            frame: frame.map(|text| self.texts.share(text.as_bytes())),
        }
    }

    /// Why a walk ends, for people.
    fn reason(&mut self, end: &End) -> SharedText {
        let reason = match end {
            End::TooManyFrames(most) if *most < self.rules.max_frames => {
                let most = grouped(MOST_FRAMES as u64);
                format!("the walks of all threads together are limited to {most} frames")
            }
            end => end.reason(self.abi),
        };
        self.texts.share(reason.as_bytes())
    }
}

fn values(abi: Abi, frame: &Cursor) -> FrameValues {
    FrameValues {
        pc: Address(frame.pc),
        sp: frame.sp(abi).map(Address),
        fp: frame.fp(abi).map(Address),
    }
}

/// Why the walks of the witnesses end or have gaps at a level.
fn ends(level: &Level) -> impl Iterator<Item = &End> {
    level.cells.iter().flatten().filter_map(|cell| cell.step.end.as_ref())
}

/// Whether the walk of a witness has reached the outermost frame. After the walk has gone astray, nothing is.
fn is_complete(walk: &Together) -> bool {
    let right = walk.levels.iter().take(walk.astray.unwrap_or(usize::MAX));
    right.flat_map(ends).any(End::is_complete)
}

/// Whether something is undecided at a level.
fn is_open(abi: Abi, level: &Level) -> bool {
    // Before version 3, SFrame cannot express that RA is undefined. The assembler writes that it is in its register, which
    // cannot be in the outermost frame.
    let no_ra = End::CannotApply(ApplyError::Register(abi.ra()));
    let is_last = ends(level).any(End::is_complete);
    // The machine code need not determine every frame: it confirms the tables or refutes them.
    let tables =
        level.cells.iter().zip(Witness::ALL).filter(|(_, witness)| *witness != Witness::Code);
    let mut ends = tables.filter_map(|(cell, _)| cell.as_ref()?.step.end.as_ref());
    ends.any(|end| end.is_undecided() && !(is_last && *end == no_ra))
}

fn verdict(abi: Abi, walk: &Together) -> WalkVerdict {
    let is_first = |astray| walk.parted.is_none_or(|parted| astray <= parted);
    if walk.astray.is_some_and(is_first) {
        WalkVerdict::Astray
    } else if walk.parted.is_some() {
        WalkVerdict::Different
    } else if walk.limited
        || !is_complete(walk)
        || walk.levels.iter().any(|level| is_open(abi, level))
    {
        WalkVerdict::Undecided
    } else {
        WalkVerdict::Equal
    }
}
