//! Memory that is used again: allocating and growing it for each function takes as long as decoding the function.

use super::block::Block;
use super::effect::Effect;
use super::queue::Queue;
use super::step::Step;

/// The maximum size in bytes of a function whose memory is kept.
const LARGEST: usize = 1 << 16;
/// The maximum number of functions whose memory is kept. Few are examined at the same time.
const MOST: usize = 4;

/// The memory of analyses that are no longer needed, for the next ones.
#[derive(Default)]
pub(super) struct Scratch {
    spare: Vec<Buffers>,
    queue: Queue,
}

/// The memory of an analysis.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) lists: Lists,
    pub(super) blocks: Vec<Option<Block>>,
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

impl Scratch {
    /// Empty buffers, which were used before if there are any.
    pub(super) fn take(&mut self) -> Buffers {
        self.spare.pop().unwrap_or_default()
    }

    /// An empty queue.
    pub(super) fn queue(&mut self) -> &mut Queue {
        self.queue.clear();
        &mut self.queue
    }

    /// Keeps buffers for the next function.
    pub(super) fn keep(&mut self, mut buffers: Buffers) {
        if self.spare.len() >= MOST || buffers.lists.index.capacity() > LARGEST {
            return;
        }
        buffers.lists.index.clear();
        buffers.lists.steps.clear();
        buffers.lists.effects.clear();
        buffers.lists.blocks.clear();
        buffers.blocks.clear();
        self.spare.push(buffers);
    }
}
