//! The known defects, by producer.

mod assembler;
mod dropped;
mod linker;
mod runtime;
mod strip;
mod traits;
mod unseen;

use crate::defect::{Affected, Defect};

pub(crate) use runtime::START_WITHOUT_SFRAME;

/// All of them.
pub(crate) const ALL: [&[&Defect]; 8] = [
    linker::ALL,
    assembler::ALL,
    assembler::return_address::ALL,
    dropped::ALL,
    runtime::ALL,
    strip::ALL,
    unseen::ALL,
    traits::ALL,
];

const fn gnu_as(first: &'static str, last: &'static str) -> Affected {
    Affected { tool: "GNU as", first, last }
}

const fn gnu_ld(first: &'static str, last: &'static str) -> Affected {
    Affected { tool: "GNU ld", first, last }
}

const LLVM_MC: Affected = Affected { tool: "LLVM", first: "23", last: "23" };
const LLD: Affected = Affected { tool: "lld", first: "23", last: "23" };
const GOLD: Affected = Affected { tool: "gold", first: "2.40", last: "2.40" };

/// A defect about which nothing is known yet: the base of others.
const NONE: Defect = Defect {
    id: "",
    title: "",
    affected: &[],
    owner: sframe_record::Owner::Unknown,
    upstream: "",
    pages: &[],
    recognised: "",
    effect: "",
    weight: sframe_record::Weight::Harmless,
    pcs: "",
    hides_functions: false,
    workaround: "",
    input: "",
    without_input: "",
    is_of_rows: false,
    signs: &[],
};
