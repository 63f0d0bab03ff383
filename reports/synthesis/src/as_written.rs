//! The rows that a producer writes for single functions of a file, with its mistakes. The rows of a section are compared with
//! them, to find out whether a mistake explains them.

use sframe_oracle::cfi::{Cfi, Fde, RowContext};
use sframe_validator::Abi;
use sframe_validator::elf::Elf;

use crate::encode::Form;
use crate::gnu::{self, Release};
use crate::llvm;
use crate::model::{Function, Losses};
use crate::place::Place;
use crate::source::Source;

/// An assembler whose rows are modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assembler {
    /// GNU as.
    Gnu(Release),
    /// LLVM's integrated assembler, version 23.
    Llvm,
}

/// The functions of a file as producers write them.
#[derive(Debug)]
pub struct AsWritten<'e, 'c> {
    source: Source<'e, 'c>,
    place: Place,
}

impl<'e, 'c> AsWritten<'e, 'c> {
    /// For the functions of `cfi`, which is the file's. `None` if SFrame is not defined for the machine.
    #[must_use]
    pub fn new(elf: &'e Elf<'e>, cfi: &'c [Cfi<'c>]) -> Option<AsWritten<'e, 'c>> {
        Some(AsWritten { source: Source::new(elf, cfi)?, place: Place::of(elf) })
    }

    /// The entries that the assembler may write for a function: none if it leaves the function out, and several if CFI
    /// does not show which directives the source had.
    #[must_use]
    pub fn function(
        &self,
        fde: &Fde<'c>,
        assembler: Assembler,
        context: &mut RowContext,
    ) -> Vec<Function> {
        let source = &self.source;
        match assembler {
            Assembler::Gnu(release) if release.supports(source.abi) => {
                let mut found = Vec::new();
                let mut take = |function, _| found.push(function);
                let form = self.form(release);
                let mut functions = gnu::Functions::without_stubs(source, release, form);
                functions.visit((fde, context), &mut Losses::default(), &mut take);
                found
            }
            Assembler::Llvm if source.abi == Abi::Amd64 => llvm::describe(fde),
            Assembler::Gnu(_) | Assembler::Llvm => Vec::new(),
        }
    }

    /// The entries that GNU ld writes for its stubs, by place.
    #[must_use]
    pub fn stubs(&self, release: Release) -> Vec<Function> {
        let (source, mut losses) = (&self.source, Losses::default());
        let mut functions = gnu::Functions::new(source, release, self.form(release));
        for cfi in source.cfi {
            let mut context = RowContext::new(cfi);
            for fde in cfi.functions().filter(|fde| source.is_stub(fde.start())) {
                functions.visit((&fde, &mut context), &mut losses, &mut |_, _| ());
            }
        }
        let mut found = Vec::new();
        functions.finish(&mut |function, _| found.push(function));
        found.sort_by_key(|function: &Function| function.start);
        found
    }

    fn form(&self, release: Release) -> Form {
        gnu::form(release, self.source.abi, self.place)
    }
}
