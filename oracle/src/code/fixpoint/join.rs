//! The join: the state of a block is what is true on each edge to it.

use super::round::Round;
use crate::code::block::Block;
use crate::code::context::FileContext;
use crate::code::state::AbstractState;
use crate::code::worklist::{Assumption, Edge};

impl<'c, C: FileContext<'c>> Round<'_, 'c, C> {
    /// Follows an edge to a block. In an open function, other code may enter the block as well, with other values in
    /// registers.
    pub(super) fn enter(&mut self, edge: Edge, state: &AbstractState) {
        let is_open = self.analysis.is_open && !matches!(edge.assumption, Assumption::Entry(_));
        if is_open && state.holds_entry_values() {
            let mut state = state.clone();
            state.forget_entry_values();
            return self.join(edge, &state);
        }
        self.join(edge, state);
    }

    /// Joins the state on an edge into that of a block, which is listed if its state changes. A contradiction refutes the
    /// less certain assumption instead.
    pub(super) fn join(&mut self, edge: Edge, state: &AbstractState) {
        let graph = &mut self.analysis.graph;
        let block = usize::try_from(edge.to).ok().and_then(|to| self.analysis.blocks.get_mut(to));
        let Some(slot) = block else { return };
        let Some(block) = slot else {
            let mut state = state.clone();
            if graph.starts_loop(edge.to) {
                state.widen();
            }
            *slot = Some(Block::entered(edge.assumption, state));
            return self.worklist.push(graph.block_address(edge.to), edge.to);
        };
        let assumption = block.assumption;
        if block.state.contradicts(state) {
            // Control takes only one of both edges: a call does not return, or an entry is none.
            match assumption.max(edge.assumption) {
                Assumption::Nothing => {}
                Assumption::CallReturns(call) => {
                    self.discovery.is_refuted |= graph.mark_no_return(call);
                    return;
                }
                Assumption::Entry(entry) => {
                    self.discovery.is_refuted |= self.progress.refuted_entries.insert(entry);
                    return;
                }
            }
        }
        block.assumption = assumption.min(edge.assumption);
        if block.state.join(state) {
            self.worklist.push(graph.block_address(edge.to), edge.to);
        }
    }
}
