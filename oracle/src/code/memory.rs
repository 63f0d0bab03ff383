//! The memory of a function, which is used again for the next function.

use std::cell::Cell;

use super::block::Block;
use super::effect::Effect;
use super::queue::Queue;
use super::step::Step;

/// The maximum size in bytes of a function whose memory is kept.
const LARGEST: usize = 1 << 16;
/// The maximum number of functions whose memory a thread keeps. Few are examined at the same time.
const MOST: usize = 4;

/// The memory of a function. Allocating and growing it for each function takes as long as decoding it.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) lists: Lists,
    pub(super) blocks: Vec<Option<Block>>,
    pub(super) queue: Queue,
}

/// The instructions of a function.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// For each byte, the instruction that starts there.
    pub(super) index: Vec<u32>,
    pub(super) steps: Vec<Step>,
    pub(super) effects: Vec<Effect>,
    /// The first instruction of each block.
    pub(super) blocks: Vec<u32>,
}

thread_local! {
    /// The memory of functions that are no longer needed.
    static SPARE: Cell<Vec<Memory>> = const { Cell::new(Vec::new()) };
}

impl Memory {
    /// Empty memory, which was used before if there is any.
    pub(super) fn reused() -> Memory {
        let mut reused = None;
        with_spare(|spare| reused = spare.pop());
        reused.unwrap_or_default()
    }

    /// Keeps the memory for the next function.
    pub(super) fn keep(mut self) {
        if self.lists.index.capacity() > LARGEST {
            return;
        }
        self.lists.index.clear();
        self.lists.steps.clear();
        self.lists.effects.clear();
        self.lists.blocks.clear();
        self.blocks.clear();
        self.queue.clear();
        with_spare(|spare| {
            if spare.len() < MOST {
                spare.push(self);
            }
        });
    }
}

/// Passes the memory that is not in use to `change`, unless the thread ends.
fn with_spare(change: impl FnOnce(&mut Vec<Memory>)) {
    // A thread that ends frees its memory.
    let _ = SPARE.try_with(|cell| {
        let mut spare = cell.take();
        change(&mut spare);
        cell.set(spare);
    });
}
