//! Where the rows of a comparison come from.

use core::fmt;

use sframe_validator::unwind::{CodeAddress, Frame, Row};
use sframe_validator::{Abi, Section};

use super::Set;
use super::list::{ListWitness, RowList, fde};
use crate::cfi::{Cfi, Fde, RowContext};
use crate::compare::Side;
use crate::witness::{
    Budgets, CodeRange, Current, Evidence, Left, Places, Says, SframeFunction, SframeWitness,
    Witness,
};

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

    fn of_sframe(function: SframeFunction) -> Function {
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
        let pieces = RowList::Code(&mut code.reader()).rows(function);
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

/// What is used again from function to function.
pub(super) enum Memory<'s> {
    Sframe { sections: &'s [Section<'s>], functions: Vec<SframeFunction>, budgets: Budgets },
    Cfi { cfi: &'s [Cfi<'s>], contexts: Vec<RowContext>, abi: Option<Abi> },
    Code { reader: CodeReader<'s>, abi: Option<Abi> },
}

impl<'s> Memory<'s> {
    pub(super) fn of(set: &Set<'s>) -> Memory<'s> {
        let abi = set.elf.abi();
        match set.source {
            Source::Sframe(sections) => Memory::Sframe {
                sections,
                functions: Vec::new(),
                budgets: Budgets::new(sections, set.elf.data().len() as u64),
            },
            Source::Cfi(cfi) => {
                Memory::Cfi { cfi, contexts: cfi.iter().map(RowContext::new).collect(), abi }
            }
            Source::Code(code) => Memory::Code { reader: code.reader(), abi },
        }
    }

    /// Some of the set's functions as a witness whose places are relative to `origin`.
    pub(super) fn witness<'w>(
        &'w mut self,
        functions: &'w [Function],
        origin: CodeAddress,
    ) -> AnyWitness<'w, 's> {
        match self {
            Memory::Sframe { sections, functions: own, budgets } => {
                own.clear();
                own.extend(functions.iter().filter_map(Function::as_sframe));
                let evidence: NoEvidence = |_, _, _| Evidence::NONE;
                AnyWitness::Sframe(SframeWitness::new(
                    sections, own, origin, None, budgets, evidence,
                ))
            }
            Memory::Cfi { cfi, contexts, abi } => {
                let list = RowList::Cfi(cfi, contexts);
                AnyWitness::List(ListWitness::new(functions, origin, list), *abi)
            }
            Memory::Code { reader, abi } => {
                let list = RowList::Code(reader);
                AnyWitness::List(ListWitness::new(functions, origin, list), *abi)
            }
        }
    }
}

/// No other source says how the blocks of version 1 repeat.
type NoEvidence = for<'a, 'c, 'r> fn(&'a Current<'c>, CodeAddress, &'r Row) -> Evidence;

/// Either kind of witness.
pub(super) enum AnyWitness<'w, 's> {
    Sframe(SframeWitness<'w, NoEvidence>),
    List(ListWitness<'w, 's>, Option<Abi>),
}

impl AnyWitness<'_, '_> {
    /// The machine of the function entered last.
    pub(super) fn abi(&self) -> Option<Abi> {
        match self {
            AnyWitness::Sframe(witness) => witness.current().map(|current| current.abi),
            AnyWitness::List(_, abi) => *abi,
        }
    }

    /// A frame of the function entered last, and what limits it.
    pub(super) fn side<'f>(&self, frame: &'f Frame) -> Option<Side<'f>> {
        match self {
            AnyWitness::Sframe(witness) => witness.current().map(|current| Side {
                frame,
                marks: current.marks,
                version: Some(current.version),
            }),
            AnyWitness::List(witness, _) => {
                Some(Side { frame, marks: witness.marks(), version: None })
            }
        }
    }
}

impl Witness for AnyWitness<'_, '_> {
    type Function = Function;
    type Row = Row;
    type Error = core::convert::Infallible;

    fn enter(
        &mut self,
        place: CodeAddress,
        left: &mut impl FnMut(Left<Function, Self::Error>),
    ) -> u64 {
        match self {
            AnyWitness::Sframe(witness) => witness.enter(place, &mut |it| left(of_sframe(&it))),
            AnyWitness::List(witness, _) => witness.enter(place, left),
        }
    }

    fn describes(&self) -> bool {
        match self {
            AnyWitness::Sframe(witness) => witness.describes(),
            AnyWitness::List(witness, _) => witness.describes(),
        }
    }

    fn read(&mut self, address: u64, wanted: bool) -> u64 {
        match self {
            AnyWitness::Sframe(witness) => witness.read(address, wanted),
            AnyWitness::List(witness, _) => witness.read(address, wanted),
        }
    }

    fn says(&self) -> Says<'_, Function, Row> {
        let AnyWitness::Sframe(witness) = self else {
            let AnyWitness::List(witness, _) = self else { return Says::Nothing };
            return witness.says();
        };
        match witness.says() {
            Says::Nothing => Says::Nothing,
            Says::NoRows(function) => Says::NoRows(Function::of_sframe(function)),
            Says::Unread(function) => Says::Unread(Function::of_sframe(function)),
            Says::Unreadable(function) => Says::Unreadable(Function::of_sframe(function)),
            Says::Row(function, row) => Says::Row(Function::of_sframe(function), row),
        }
    }

    fn note(&mut self, shared: bool) {
        match self {
            AnyWitness::Sframe(witness) => witness.note(shared),
            AnyWitness::List(witness, _) => witness.note(shared),
        }
    }

    fn finish(&mut self, left: &mut impl FnMut(Left<Function, Self::Error>)) {
        match self {
            AnyWitness::Sframe(witness) => witness.finish(&mut |it| left(of_sframe(&it))),
            AnyWitness::List(witness, _) => witness.finish(left),
        }
    }
}

fn of_sframe<E: Copy>(left: &Left<SframeFunction, E>) -> Left<Function, E> {
    Left { function: Function::of_sframe(left.function), shared: left.shared, error: left.error }
}
