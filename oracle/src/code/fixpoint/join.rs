//! Joins the states of the edges that lead to a block: what remains is true on each way to it.

use super::round::Round;
use crate::code::block::Block;
use crate::code::context::FileContext;
use crate::code::state::AbstractState;
use crate::code::worklist::{Assumption, Edge};

impl<'c, S: FileContext<'c>> Round<'_, 'c, S> {
    /// Enters a block in a state, without what other code that may enter it need not preserve.
    pub(super) fn enter(&mut self, edge: Edge, state: &AbstractState) {
        let is_open = self.analysis.is_open && !matches!(edge.assumption, Assumption::Entry(_));
        if is_open && state.holds_entry_values() {
            let mut state = state.clone();
            state.forget_entry_values();
            return self.join(edge, &state);
        }
        self.join(edge, state);
    }

    /// Joins exactly this state to that of a block, which is executed (again) if that changes it.
    pub(super) fn join(&mut self, edge: Edge, state: &AbstractState) {
        let graph = &mut self.analysis.graph;
        let block = usize::try_from(edge.to).ok().and_then(|to| self.analysis.blocks.get_mut(to));
        let Some(place) = block else { return };
        let Some(block) = place else {
            let mut state = state.clone();
            if graph.starts_loop(edge.to) {
                state.widen();
            }
            *place = Some(Block::entered(edge.assumption, state));
            return self.worklist.push(graph.block_address(edge.to), edge.to);
        };
        let assumption = block.assumption;
        if block.state.contradicts(state) {
            // One of both ways is wrong: a call does not return, or an entry is none.
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
