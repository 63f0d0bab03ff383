//! A witness of any kind, so that a comparison is compiled once.

use sframe_validator::unwind::{CodeAddress, Frame, Row};
use sframe_validator::{Abi, Section};

use super::Set;
use super::list::{ListWitness, RowList};
use super::source::{CodeReader, Function, Source};
use crate::cfi::{Cfi, RowContext};
use crate::compare::Side;
use crate::witness::{
    Budgets, Current, Evidence, Left, Says, SframeFunction, SframeWitness, Shared, Witness,
};

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
                let witness = SframeWitness::new(sections, own, None, budgets, evidence);
                AnyWitness::Sframe(witness.relative_to(origin))
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

    fn read(&mut self, address: u64) -> u64 {
        match self {
            AnyWitness::Sframe(witness) => witness.read(address),
            AnyWitness::List(witness, _) => witness.read(address),
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

    fn note(&mut self, shared: Shared) {
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
