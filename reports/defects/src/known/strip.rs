//! Objects from which a program removed what `.sframe` needs.

use sframe_record::{Owner, Weight};

use super::NONE;
use crate::defect::{Affected, Defect};
use crate::signs::{ANY, Extent, Files, Signs};

pub(super) const ALL: &[&Defect] = &[&STRIPPED_OBJECT];

static STRIPPED_OBJECT: Defect = Defect {
    id: "strip-loses-relocations",
    weight: Weight::Useless,
    title: "a stripped object has lost the relocations of .sframe with its symbols",
    affected: &[Affected { tool: "strip", first: "2.40", last: "2.47.50" }],
    owner: Owner::Unknown,
    recognised: "a relocatable object without any symbol table or relocation; an object that has some, but none for .sframe, \
                 lost them in another way",
    effect: "nothing says where the functions of the object are: no linker can use its .sframe, and every GNU ld crashes",
    workaround: "do not strip objects that are to be linked, or use strip --strip-debug",
    input: "corpus/golden/2.44/x86_64/stripped.o",
    pages: &["docs/upstream/binutils/strip-loses-relocations.md"],
    signs: &[Signs {
        rules: &["relocation-missing"],
        files: Files::Relocatable,
        also: |case| case.is_stripped(),
        extent: Extent::Rule,
        ..ANY
    }],
    ..NONE
};
