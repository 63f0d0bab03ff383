//! Memory that is used again: allocating and growing it for each function takes as long as decoding the function.

use super::block::Block;
use super::effect::Effect;
use super::step::Step;
use super::worklist::Worklist;

/// The maximum size in bytes of a function whose memory is kept.
const MAX_BYTES: usize = 1 << 16;
/// The maximum number of functions whose memory is kept. Few are examined at the same time.
const MAX_SPARE: usize = 4;

/// The memory of analyses that are no longer needed, for the next ones. Who examines functions passes it on.
#[derive(Default)]
pub(super) struct ScratchBuffers {
    spare: Vec<AnalysisBuffers>,
    worklist: Worklist,
}

/// The memory of one analysis.
#[derive(Default)]
pub(super) struct AnalysisBuffers {
    pub(super) graph: GraphBuffers,
    pub(super) blocks: Vec<Option<Block>>,
}

/// The memory of a control-flow graph.
#[derive(Debug, Default)]
pub(super) struct GraphBuffers {
    /// For each byte, the instruction that starts there.
    pub(super) index: Vec<u32>,
    pub(super) steps: Vec<Step>,
    pub(super) effects: Vec<Effect>,
    /// The first instruction of each block.
    pub(super) blocks: Vec<u32>,
}

impl ScratchBuffers {
    /// Empty buffers, which were used before if there are any.
    pub(super) fn take(&mut self) -> AnalysisBuffers {
        self.spare.pop().unwrap_or_default()
    }

    /// An empty worklist.
    pub(super) fn worklist(&mut self) -> &mut Worklist {
        self.worklist.clear();
        &mut self.worklist
    }

    /// Keeps buffers for the next function.
    pub(super) fn keep(&mut self, mut buffers: AnalysisBuffers) {
        if self.spare.len() >= MAX_SPARE || buffers.graph.index.capacity() > MAX_BYTES {
            return;
        }
        buffers.graph.index.clear();
        buffers.graph.steps.clear();
        buffers.graph.effects.clear();
        buffers.graph.blocks.clear();
        buffers.blocks.clear();
        self.spare.push(buffers);
    }
}
