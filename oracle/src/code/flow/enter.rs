//! Enters blocks: keeps what is true on each way to them.

use super::{Flow, News};
use crate::code::block::Block;
use crate::code::queue::{Edge, Origin, Queue};
use crate::code::state::State;

impl Flow<'_> {
    /// Enters a block in a state.
    pub(super) fn enter(&mut self, edge: Edge, state: &State, queue: &mut Queue, news: &mut News) {
        let is_open = self.is_open && !matches!(edge.origin, Origin::Presumed(_));
        if is_open && state.holds_callers() {
            let mut state = state.clone();
            state.forget_callers();
            return self.join(edge, &state, queue, news);
        }
        self.join(edge, state, queue, news);
    }

    /// Enters a block in exactly this state.
    pub(super) fn join(&mut self, edge: Edge, state: &State, queue: &mut Queue, news: &mut News) {
        let block = usize::try_from(edge.to).ok().and_then(|to| self.blocks.get_mut(to));
        let Some(place) = block else { return };
        let Some(block) = place else {
            let mut state = state.clone();
            if self.listing.starts_loop(edge.to) {
                state.widen();
            }
            *place = Some(Block::entered(edge.origin, state));
            return queue.push(self.listing.block_address(edge.to), edge.to);
        };
        let origin = block.origin;
        if block.state.contradicts(state) {
            // One of both ways is wrong: a call does not return, or an entry is none.
            match origin.max(edge.origin) {
                Origin::Jump => {}
                Origin::Call(call) => {
                    news.is_refuted |= self.listing.end_at(call);
                    return;
                }
                Origin::Presumed(entry) => {
                    news.is_refuted |= self.refuted_entries.insert(entry);
                    return;
                }
            }
        }
        block.origin = origin.min(edge.origin);
        if block.state.join(state) {
            queue.push(self.listing.block_address(edge.to), edge.to);
        }
    }
}
