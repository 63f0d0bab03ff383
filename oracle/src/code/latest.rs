//! The function that was followed last.

use super::Function;
use super::flow::Flow;

/// The function that was followed last, and its number. It is asked for again by its parts, if they are examined right after it.
#[derive(Default)]
pub(crate) struct Latest<'e>(Option<(usize, Flow<'e>)>);

impl<'e> Latest<'e> {
    /// Keeps the function to which the code of `function` belongs.
    pub(crate) fn keep(&mut self, function: Function<'e>) {
        self.0 = function.into_last();
    }

    /// Takes a function, if it is the one that was followed last.
    pub(super) fn take(&mut self, function: usize) -> Option<Flow<'e>> {
        self.0.take_if(|(last, _)| *last == function).map(|(_, flow)| flow)
    }
}
