//! What a finding is reduced to: the source of an object, or the sources of a link with the linker's options.

use std::ops::Range;

use sframe_validator::Abi;

use crate::source::{Function, Part, Source};

/// Sources and options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// The sources, in the order of the link. One without a linker.
    pub sources: Vec<Input>,
    /// Options of the linker, beside those that are always passed.
    pub options: Vec<String>,
}

/// The source of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The source.
    pub source: Source,
    /// The number of the assembler that is used for it.
    pub assembler: usize,
}

impl From<Source> for Inputs {
    fn from(source: Source) -> Inputs {
        Inputs { sources: vec![Input { source, assembler: 0 }], options: Vec::new() }
    }
}

impl Inputs {
    /// The machine.
    #[must_use]
    pub fn abi(&self) -> Option<Abi> {
        self.sources.first().map(|input| input.source.abi)
    }

    /// The functions of all sources.
    pub fn functions(&self) -> impl DoubleEndedIterator<Item = &Function> {
        self.sources.iter().flat_map(|input| &input.source.functions)
    }

    /// The functions of all sources, to change them.
    pub fn functions_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Function> {
        self.sources.iter_mut().flat_map(|input| &mut input.source.functions)
    }

    /// The number of functions.
    #[must_use]
    pub fn count(&self) -> usize {
        self.sources.iter().map(|input| input.source.functions.len()).sum()
    }

    /// The number of `.cfi_` directives, without those that begin and end functions.
    #[must_use]
    pub fn directives(&self) -> usize {
        self.functions().map(Function::directives).sum()
    }

    /// The file names of the sources: `small.s`, or `small-1.s` and so on.
    #[must_use]
    pub fn names(&self, stem: &str) -> Vec<String> {
        match self.sources.len() {
            1 => vec![format!("{stem}.s")],
            count => (1..=count).map(|number| format!("{stem}-{number}.s")).collect(),
        }
    }

    /// All that is assembled and linked, as text that distinguishes it from other inputs.
    pub(crate) fn key(&self) -> String {
        let sources = self.sources.iter();
        let texts = sources.map(|input| format!("{}\n{}", input.assembler, input.source.text()));
        texts.chain([self.options.join(" ")]).collect::<Vec<_>>().join("\0")
    }

    /// Without a range of functions, and without sources that have none left. `None` if no function is left.
    pub(crate) fn without_functions(&self, range: &Range<usize>) -> Option<Inputs> {
        let mut inputs = self.clone();
        let mut number = 0;
        for input in &mut inputs.sources {
            input.source.functions.retain(|_| {
                number += 1;
                !range.contains(&(number - 1))
            });
        }
        inputs.sources.retain(|input| !input.source.functions.is_empty());
        (!inputs.sources.is_empty()).then_some(inputs)
    }

    /// These inputs with other parts in one function.
    pub(crate) fn with_parts(&self, number: usize, parts: Vec<Part>) -> Inputs {
        let mut inputs = self.clone();
        if let Some(function) = inputs.functions_mut().nth(number) {
            function.parts = parts;
        }
        inputs
    }

    /// These inputs with the functions of one source in the source before it, if the same assembler is used for both.
    pub(crate) fn with_joined(&self, number: usize) -> Option<Inputs> {
        let before = number.checked_sub(1)?;
        let mut inputs = self.clone();
        let joined = inputs.sources.get(number)?.clone();
        let into = inputs.sources.get_mut(before)?;
        if into.assembler != joined.assembler {
            return None;
        }
        into.source.functions.extend(joined.source.functions);
        inputs.sources.remove(number);
        Some(inputs)
    }

    /// Without one option.
    pub(crate) fn without_option(&self, number: usize) -> Option<Inputs> {
        let mut inputs = self.clone();
        (number < inputs.options.len()).then(|| inputs.options.remove(number))?;
        Some(inputs)
    }
}
