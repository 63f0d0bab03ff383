//! Where the rows of a comparison come from.

use core::fmt;

use sframe_validator::Section;
use sframe_validator::unwind::{CodeAddress, Row};

use crate::cfi::{Cfi, Fde};
use crate::witness::{CodeRange, Places, SframeFunction};

/// The rows of a file.
#[derive(Clone, Copy, Debug)]
pub enum Source<'s> {
    /// Those of its SFrame sections.
    Sframe(&'s [Section<'s>]),
    /// Those of its call frame information, in the order of [`Cfi::load_all`]. Of several sections, the first one that describes
    /// a function's start counts.
    Cfi(&'s [Cfi<'s>]),
    /// What its machine code proves, which a [`Program`](crate::code::Program) knows.
    Code(&'s dyn CodeRows),
}

/// Machine code whose rows can be listed.
pub trait CodeRows: fmt::Debug {
    /// The functions, in the order of addresses.
    fn ranges(&self) -> &[CodeRange];

    /// What lists the rows of functions, one after the other.
    fn reader(&self) -> CodeReader<'_>;
}

/// Lists the rows that the code of a function proves completely, up to the end of each piece of code, of which the first one starts
/// where the function does. Where nothing is proven, there is no row.
pub type CodeReader<'r> = Box<dyn FnMut(CodeRange) -> Vec<(u64, Option<Row>)> + 'r>;

/// A function of a file, as differences identify it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// The number of its section among those compared; 0 for machine code.
    pub section: u32,
    /// Its index in the section's table of functions; in call frame information and machine code, in the order of addresses.
    pub index: u32,
    /// The start of the function.
    pub start: CodeAddress,
    /// The size in bytes of code.
    pub size: u64,
}

impl Function {
    /// Its end, exclusive, in the section of its start.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.start.address.saturating_add(self.size)
    }

    pub(super) fn of_sframe(function: SframeFunction) -> Function {
        let SframeFunction { section, index, start, size } = function;
        Function { section, index, start, size: size.into() }
    }

    /// The function as SFrame's reader identifies it.
    #[must_use]
    pub fn as_sframe(&self) -> Option<SframeFunction> {
        let Function { section, index, start, size } = *self;
        Some(SframeFunction { section, index, start, size: u32::try_from(size).ok()? })
    }
}

impl<'s> Source<'s> {
    /// The functions with bytes, by address, then by size; and the number of those whose start cannot be read.
    pub(super) fn functions(&self) -> (Vec<Function>, u64) {
        match self {
            Source::Sframe(sections) => {
                let places = Places::of(sections);
                let functions = places.functions.into_iter().map(Function::of_sframe);
                (functions.collect(), places.unplaced.count())
            }
            Source::Cfi(cfi) => (functions_of_cfi(cfi), 0),
            Source::Code(code) => {
                let function = |(index, range): (u32, &CodeRange)| Function {
                    section: 0,
                    index,
                    start: range.start,
                    size: range.bytes(),
                };
                ((0_u32..).zip(code.ranges()).map(function).collect(), 0)
            }
        }
    }

    /// A function's description, if the source is call frame information.
    #[must_use]
    pub fn fde(&self, function: &Function) -> Option<Fde<'s>> {
        match self {
            Source::Cfi(cfi) => fde(cfi, function),
            Source::Sframe(_) | Source::Code(_) => None,
        }
    }

    /// The rows that a function's code proves, if the source is the machine code. Where it proves nothing, there is none.
    #[must_use]
    pub fn proven_rows(&self, function: &Function) -> Option<Vec<Row>> {
        let Source::Code(code) = self else { return None };
        let pieces = code.reader()(CodeRange { start: function.start, end: function.end() });
        Some(pieces.into_iter().filter_map(|(_, row)| row).collect())
    }
}

fn functions_of_cfi(cfi: &[Cfi<'_>]) -> Vec<Function> {
    let mut functions = Vec::new();
    for (number, section) in (0_u32..).zip(cfi) {
        let earlier = cfi.iter().take(number as usize);
        for (index, fde) in (0_u32..).zip(section.sorted()) {
            let start = fde.start();
            let is_known = earlier.clone().any(|cfi| cfi.find(start).is_some());
            if fde.size() > 0 && !is_known {
                functions.push(Function { section: number, index, start, size: fde.size() });
            }
        }
    }
    functions.sort_by_key(|function| (function.start, function.size));
    functions
}

/// A function's description in call frame information.
pub(super) fn fde<'s>(cfi: &'s [Cfi<'s>], function: &Function) -> Option<Fde<'s>> {
    let section = cfi.get(usize::try_from(function.section).ok()?)?;
    section.nth_sorted(usize::try_from(function.index).ok()?)
}
