//! Joins the states of the edges that lead to a block: what remains is true on each way to it.

use super::round::Round;
use crate::code::block::Block;
use crate::code::queue::{Edge, Origin};
use crate::code::state::State;
use crate::code::surroundings::Surroundings;

impl<'c, S: Surroundings<'c>> Round<'_, 'c, S> {
    /// Enters a block in a state, without what other code that may enter it need not preserve.
    pub(super) fn enter(&mut self, edge: Edge, state: &State) {
        let is_open = self.analysis.is_open && !matches!(edge.origin, Origin::Presumed(_));
        if is_open && state.holds_callers() {
            let mut state = state.clone();
            state.forget_callers();
            return self.join(edge, &state);
        }
        self.join(edge, state);
    }

    /// Joins exactly this state to that of a block, which is executed (again) if that changes it.
    pub(super) fn join(&mut self, edge: Edge, state: &State) {
        let listing = &mut self.analysis.listing;
        let block = usize::try_from(edge.to).ok().and_then(|to| self.analysis.blocks.get_mut(to));
        let Some(place) = block else { return };
        let Some(block) = place else {
            let mut state = state.clone();
            if listing.starts_loop(edge.to) {
                state.widen();
            }
            *place = Some(Block::entered(edge.origin, state));
            return self.queue.push(listing.block_address(edge.to), edge.to);
        };
        let origin = block.origin;
        if block.state.contradicts(state) {
            // One of both ways is wrong: a call does not return, or an entry is none.
            match origin.max(edge.origin) {
                Origin::Jump => {}
                Origin::Call(call) => {
                    self.discovery.is_refuted |= listing.end_at(call);
                    return;
                }
                Origin::Presumed(entry) => {
                    self.discovery.is_refuted |= self.progress.refuted_entries.insert(entry);
                    return;
                }
            }
        }
        block.origin = origin.min(edge.origin);
        if block.state.join(state) {
            self.queue.push(listing.block_address(edge.to), edge.to);
        }
    }
}
