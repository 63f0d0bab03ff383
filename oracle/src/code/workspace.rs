//! What is kept from one function to the next while functions are examined one after the other.

use super::budget::Budget;
use super::fixpoint::Analysis;
use super::function::Function;
use super::scratch::ScratchBuffers;

/// What is kept from one function to the next: memory, and the last analysis, for which the fragments of a function ask
/// if they are examined right after it. It changes no results.
#[derive(Default)]
pub struct Workspace<'e> {
    /// The function that was analysed last, and its number.
    last: Option<(usize, Analysis<'e>)>,
    /// How many blocks may be executed, if that is not for the file as a whole.
    budget: Option<Budget>,
    pub(super) scratch: ScratchBuffers,
}

impl<'e> Workspace<'e> {
    /// For functions with a number of bytes of code. Nothing else limits the blocks that are executed for them.
    pub(crate) fn for_code(bytes: u64) -> Workspace<'e> {
        Workspace { budget: Some(Budget::of(bytes)), ..Workspace::default() }
    }

    /// Takes back a function that is no longer needed.
    pub fn recycle(&mut self, function: Function<'e>) {
        let (mut analyses, number) = function.into_analyses();
        if let Some(number) = number
            && let Some(last) = analyses.pop()
        {
            self.keep((number, last));
        }
        analyses.into_iter().for_each(|analysis| self.free(analysis));
    }

    /// The budget, or else that of the file.
    pub(super) fn budget<'b>(&'b self, of_file: &'b Budget) -> &'b Budget {
        self.budget.as_ref().unwrap_or(of_file)
    }

    /// Keeps an analysis, with the function's number, instead of the one before.
    fn keep(&mut self, analysis: (usize, Analysis<'e>)) {
        if let Some((_, before)) = self.last.replace(analysis) {
            self.free(before);
        }
    }

    /// Takes the analysis of a function, if it is the last one.
    pub(super) fn take(&mut self, function: usize) -> Option<Analysis<'e>> {
        self.last.take_if(|(last, _)| *last == function).map(|(_, analysis)| analysis)
    }

    /// Keeps the memory of an analysis.
    pub(super) fn free(&mut self, analysis: Analysis<'e>) {
        self.scratch.keep(analysis.into_buffers());
    }
}
