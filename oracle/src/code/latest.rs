//! The function that was followed last.

use super::flow::Flow;

/// The function that was followed last, and its number. It is asked for again by its parts, if they are examined right after it.
#[derive(Default)]
pub(crate) struct Latest<'e>(Option<(usize, Flow<'e>)>);

impl<'e> Latest<'e> {
    /// Keeps a function instead of the one before.
    pub(super) fn keep(&mut self, function: Option<(usize, Flow<'e>)>) {
        self.0 = function;
    }

    /// Takes a function, if it is the one that was followed last.
    pub(super) fn take(&mut self, function: usize) -> Option<Flow<'e>> {
        self.0.take_if(|(last, _)| *last == function).map(|(_, flow)| flow)
    }
}
